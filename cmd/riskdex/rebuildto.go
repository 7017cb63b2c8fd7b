package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
	"riskdex/elastic"
	"riskdex/indexer"
	"riskdex/indexer/follow"
	"riskdex/indexer/probe"
	"riskdex/indexer/verify"
	"riskdex/internal/address"
	"riskdex/internal/logsink"
	"riskdex/internal/reread"
	"riskdex/internal/sanitize"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// otherCluster says where rebuild --to fills indices, and how it signs in there.
type otherCluster struct {
	To            string `name:"to" xor:"mode,to" placeholder:"URL" help:"Fill another cluster, and keep it up to date until interrupted; says when apps can be pointed at it. Give it the prefix, mappings and gazetteer that serve is to use there."`
	SignIn        signIn `embed:"" prefix:"to-" envprefix:"RISKDEX_TO_" set:"secrets=RISKDEX_TO_"`
	indexSettings `prefix:"to-"`
	AdminListen   string `name:"to-admin-listen" env:"RISKDEX_TO_ADMIN_LISTEN" placeholder:"ADDRESS" help:"Address for metrics, health and the status page of that cluster, if it is to be kept for long."`
	adminAccess   `prefix:"to-"`
	logSettings   `prefix:"to-"`
	Once          bool `name:"once" help:"With --to: end once everything is there."`
	JSON          bool `name:"json" help:"Print each rebuild as one JSON object once it has ended, or is started with --detach; with --to, print how far it is, one per line."`
}

// toVariables begins the names of the variables about the other cluster.
const toVariables = "RISKDEX_TO_"

func (s otherCluster) connect() (*elastic.Client, error) {
	if u, err := address.Parse(s.To, ""); err == nil && u.User != nil {
		return nil, errors.New("--to has a user in it, and everybody on this machine can read it: use --to-user with --to-password-file, or RISKDEX_TO_PASSWORD")
	}
	return s.SignIn.client(s.To, "--to-", toVariables)
}

// fill fills the other cluster and keeps it up to date. The error is errNegative if it is
// interrupted before everything is there, or if the cluster refuses documents. With a listener it
// is a service, which does not wait for whoever reads what it says.
func (s otherCluster) fill(ctx context.Context, served *adminClient, io streams) error {
	if s.AdminListen == "" { // trouble is shown as part of the progress
		return s.fillWith(ctx, served, io, slog.New(slog.DiscardHandler), nil, nil)
	}
	out := logsink.New(io.out, func(int) []byte { return nil }, time.Now)
	defer out.Close(lastLines)
	return s.unheld(io, func(log *slog.Logger, lines *logsink.Sink, files *reread.Group) error {
		return s.fillWith(ctx, served, streams{out, lines}, log, lines, files)
	})
}

// fillWith is fill with a log, whose lines go to a sink if it is a service.
func (s otherCluster) fillWith(ctx context.Context, served *adminClient, io streams, log *slog.Logger, lines *logsink.Sink, files *reread.Group) error {
	set, err := s.mappings()
	if err != nil {
		return err
	}
	client, err := s.connect()
	if err != nil {
		return err
	}
	var status admin.Status
	if err := served.ask(ctx, http.MethodGet, "/api/status", query(), nil, &status); err != nil {
		return err
	}
	if status.Line == "" {
		return errors.New("the riskdex that answers is older than this program, and does not say which journal it has: upgrade it first")
	}
	if status.Follows != "" {
		return fmt.Errorf("the riskdex that answers keeps a second cluster itself, and has no changes to give: give the one that it follows as --admin: %s", status.Follows)
	}
	target := &indices.Indices{Client: client, Prefix: s.IndexPrefix, Set: set, Lineage: status.Line, SingleProcess: true, Log: log}
	f := &filling{
		otherCluster: s, served: served, io: io, progress: newProgress(io.err), client: client, indices: target, documents: servedDocuments{of: map[report.Kind]int{}}, log: log, renewed: map[report.Kind]bool{},
		set: set, read: map[report.Kind]string{}, reread: map[report.Kind]bool{},
	}
	if f.place, err = target.Place(ctx); err != nil {
		return fmt.Errorf("%s: %w", redacted(s.To), err)
	}
	f.note(status)
	if f.keptByServe {
		return fmt.Errorf("%s is the cluster that riskdex serve keeps up to date itself", redacted(s.To))
	}
	for _, kind := range report.Kinds() {
		if err := target.CheckLineage(ctx, kind); err != nil {
			return fmt.Errorf("%s: %w", redacted(s.To), err)
		}
	}
	if f.journal, err = follow.Open(ctx, feedOf{served, status.Line, &f.documents, log}, target); err != nil {
		return fmt.Errorf("%s: %w", redacted(s.To), err)
	}
	registry := prometheus.NewRegistry()
	f.indexer, err = indexer.New(indexer.DefaultConfig(), f.journal, asServed{set}, target, client, registry, log)
	if err != nil {
		return err
	}
	if s.AdminListen != "" {
		if f.endpoint, err = f.listen(ctx, registry, lines, files); err != nil {
			return err
		}
	}
	return f.run(ctx)
}

// asServed has records read as the served riskdex reads them, which is what both clusters have in common.
type asServed struct{ *mappings.Set }

// See implements indexer.Documents. It finds nothing.
func (asServed) See(report.Kind, []report.Change, bool) (told string, first bool) { return "", false }

// feedOf is the feed of changes of a running riskdex.
type feedOf struct {
	*adminClient
	line   string // of the journal that is followed
	served *servedDocuments
	log    *slog.Logger
}

// Documents implements follow.Source.
func (f feedOf) Documents(kind report.Kind) int { return f.served.count(kind) }

// servedDocuments is how many documents searches of the served cluster find.
type servedDocuments struct {
	mu sync.Mutex
	of map[report.Kind]int
}

func (d *servedDocuments) count(kind report.Kind) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of[kind]
}

func (d *servedDocuments) note(status admin.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range status.Kinds {
		if k.Documents != nil {
			d.of[k.Kind] = *k.Documents
		}
	}
}

func (f feedOf) Feed(ctx context.Context, after report.Cursor, wait bool) (page report.FeedPage, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, feedTimeout, errServedHangs)
	defer cancel()
	q := query("kind", string(after.Kinds[0]), "after", after.String(), "limit", "1000")
	if wait && !after.Begins() {
		q.Set("wait", "20")
	}
	var answer admin.ChangesPage
	err = f.ask(ctx, http.MethodGet, "/api/changes", q, nil, &answer)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if p, ok := errors.AsType[*admin.Problem](err); ok && p.Status == http.StatusGone {
		if err := f.sameLine(ctx); err != nil {
			return page, err
		}
		if p.Reason == admin.ReasonCursorTooOld {
			return page, report.ErrCursorTooOld
		}
		f.log.WarnContext(ctx, "every document is sent again, and none is removed: the journal that is followed was copied, restored or failed over, and may lack what this cluster has", "kind", after.Kinds[0])
		return page, report.ErrOtherFeed
	}
	if err == nil && after.Begins() {
		err = f.sameLine(ctx) // no cursor has said which journal is meant
	}
	if err != nil {
		return page, err
	}
	if page.Next, err = report.ParseCursor(answer.Next); err != nil {
		return page, err
	}
	page.More = answer.More
	for _, item := range answer.Items {
		var c change
		if err := json.Unmarshal(item, &c); err != nil {
			return page, fmt.Errorf("read a change: %w", err)
		}
		r := report.Record{Lost: c.Lost, Change: report.Change{
			Key: report.Key{Kind: c.Kind, ID: c.ID}, Op: report.Index, Code: c.Code, Version: c.Version, AcceptedAt: c.AcceptedAt, Body: c.Record,
		}}
		if c.Deleted {
			r.Op = report.Delete
		}
		page.Changes = append(page.Changes, r)
	}
	return page, nil
}

// feedTimeout is longer than the served riskdex waits for changes, for its reads and for a page
// to be sent. Without it nobody would notice one that hangs, or a connection that is dead.
const feedTimeout = time.Minute

var errServedHangs = fmt.Errorf("the served riskdex has not answered for %s", feedTimeout)

// sameLine returns an error if the riskdex that answers has another journal by now, whose
// documents are not for this cluster.
func (f feedOf) sameLine(ctx context.Context) error {
	var status admin.Status
	if err := f.ask(ctx, http.MethodGet, "/api/status", query(), nil, &status); err != nil {
		return err
	}
	if status.Line != f.line {
		return fmt.Errorf("the riskdex that answers has another journal than the one that this cluster follows (%s, not %s): nothing of it is sent", status.Line, f.line)
	}
	return nil
}

// filling is one run of rebuild --to.
type filling struct {
	otherCluster
	served      *adminClient
	io          streams
	progress    *progress
	client      *elastic.Client
	indices     *indices.Indices
	place       string
	journal     *follow.Journal
	indexer     *indexer.Indexer
	endpoint    *endpoint       // for administration; nil without
	clusters    *clusters       // nil without an endpoint
	history     *admin.History  // likewise
	searcher    *probe.Searcher // likewise
	fields      *verify.Fields  // likewise
	log         *slog.Logger
	documents   servedDocuments
	set         *mappings.Set
	read        map[report.Kind]string // how the served riskdex reads records
	reread      map[report.Kind]bool   // it reads them in another way since the index was begun
	renewed     map[report.Kind]bool   // its rebuild was ordered, since deletes were forgotten
	keptByServe bool                   // serve keeps the cluster itself
	ready       bool                   // everything was there
}

// filled is how far a kind is, for programs.
type filled struct {
	Kind      report.Kind `json:"kind"`
	Documents int         `json:"documents"`         // that searches of the served cluster find
	Sent      int         `json:"sent"`              // documents and deletes, since the start of the command
	Waiting   int         `json:"waiting"`           // read and not settled
	Whole     bool        `json:"whole"`             // everything is there but what is refused, and what is delivered now
	Refused   int         `json:"refused"`           // documents that the cluster does not take
	Trouble   string      `json:"trouble,omitempty"` // what it waits for
}

const (
	showEvery = time.Second
	askServed = 5 * time.Second // between two looks at what serve does
)

func (f *filling) run(ctx context.Context) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if f.endpoint != nil {
		f.endpoint.serve(stop)
		defer func() { _ = f.endpoint.shutdown(stopAdmin) }()
		var background sync.WaitGroup
		background.Go(func() { f.history.Run(working) })
		background.Go(func() { f.searcher.Run(working) })
		background.Go(func() { f.fields.Run(working) })
		defer func() { stop(nil); background.Wait() }()
	}
	indexed, followed := make(chan error, 1), make(chan error, 1)
	following, stopFollowing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopFollowing()
	go func() { indexed <- f.indexer.Run(working) }()
	go func() { followed <- f.journal.Run(following) }()
	err := f.watch(working, followed)
	stop(nil)
	err = cmp.Or(err, <-indexed)
	stopFollowing() // after the last settlements: the checkpoint is about them
	if errors.Is(err, errFollowed) {
		return <-followed
	}
	f.progress.clear()
	if ended := <-followed; ended != nil {
		err = ended
	}
	if err != nil {
		return err
	}
	return f.verdict()
}

// errFollowed says that the journal has ended by itself.
var errFollowed = errors.New("the journal has ended")

// watch shows the progress until there is nothing more to do.
func (f *filling) watch(ctx context.Context, followed chan error) error {
	tick, ask := time.NewTicker(showEvery), time.NewTicker(askServed)
	defer tick.Stop()
	defer ask.Stop()
	for {
		select {
		case <-ctx.Done():
			if broken := context.Cause(ctx); !errors.Is(broken, context.Canceled) {
				return broken
			}
			return nil
		case err := <-followed:
			followed <- err
			return errFollowed
		case <-f.journal.Progress():
			if f.ready {
				continue
			}
		case <-ask.C:
			var status admin.Status
			asking, cancel := context.WithTimeout(ctx, askServed)
			if f.served.ask(asking, http.MethodGet, "/api/status", query(), nil, &status) == nil {
				f.note(status)
				if f.clusters != nil {
					f.compare(asking, status)
				}
			}
			cancel()
			if f.keptByServe {
				f.progress.clear()
				fmt.Fprintln(f.io.err, "riskdex serve keeps this cluster itself now")
				return nil
			}
			continue
		case <-tick.C:
			f.show()
		}
		f.renew(ctx)
		if !f.ready && f.whole() && f.inPlace(ctx) && f.refresh(ctx) == nil {
			f.ready = true
			f.tellReady()
		}
		if f.Once && (f.ready || len(f.failed()) > 0) {
			return nil
		}
	}
}

// note takes from the status of serve what concerns this run.
func (f *filling) note(status admin.Status) {
	f.documents.note(status)
	for _, k := range status.Kinds {
		f.keptByServe = f.keptByServe || f.place != "" && k.Place == f.place
		if k.Reading == f.read[k.Kind] {
			continue
		}
		f.read[k.Kind] = k.Reading
		if err := f.set.Use(k.Kind, k.Reading); err != nil {
			f.log.Error("records are not read as the served riskdex reads them: is it of another version?", "kind", k.Kind, "error", err)
			continue
		}
		f.reread[k.Kind] = f.indexer != nil
	}
}

func (f *filling) whole() bool {
	for _, kind := range report.Kinds() {
		if !f.journal.State(kind).Whole {
			return false
		}
	}
	return true
}

// renew orders the rebuild of indices whose records are read in another way since, and of those that have
// documents whose delete nobody tells any more: a new index gets what the feed tells from its beginning, and
// nothing else.
func (f *filling) renew(ctx context.Context) {
	for _, kind := range report.Kinds() {
		if f.reread[kind] && f.indexer.Rebuild(kind) == nil {
			f.reread[kind] = false
		}
		if !f.journal.State(kind).Stale {
			delete(f.renewed, kind)
			continue
		}
		if f.renewed[kind] || f.indexer.Rebuild(kind) != nil {
			continue // one is under way, or it is tried again
		}
		f.renewed[kind] = true
		f.log.WarnContext(ctx, "the index is made anew: deletes that came after it was last kept up to date are forgotten", "kind", kind)
		if f.endpoint == nil {
			f.progress.clear()
			fmt.Fprintf(f.io.err, "%s: deletes that came after this cluster was last kept up to date are forgotten (--keep-deleted of serve): its index is made anew, and searched until then\n", kind)
		}
	}
}

// inPlace reports whether searches find indices that were made from this mapping, and have no
// documents whose delete nobody tells.
func (f *filling) inPlace(ctx context.Context) bool {
	if slices.ContainsFunc(f.indexer.Rebuilds(), func(r report.Rebuild) bool { return r.Active }) {
		return false
	}
	for _, kind := range report.Kinds() {
		if f.journal.State(kind).Stale || f.reread[kind] {
			return false
		}
		if changed, err := f.indices.MappingChanged(ctx, kind); changed || err != nil {
			return false
		}
	}
	return true
}

// failed returns the rebuilds that failed.
func (f *filling) failed() []report.Rebuild {
	return slices.DeleteFunc(f.indexer.Rebuilds(), func(r report.Rebuild) bool { return r.Phase != report.PhaseFailed })
}

// refresh makes what is there visible to searches.
func (f *filling) refresh(ctx context.Context) error {
	for _, kind := range report.Kinds() {
		if err := f.client.Refresh(ctx, f.indices.Alias(kind)); err != nil {
			return err
		}
	}
	return nil
}

func (f *filling) states() (list []filled) {
	trouble := map[report.Kind]string{}
	for _, w := range f.indexer.Waiting() {
		trouble[w.Kind] = w.Reason + ": " + w.Detail
	}
	for _, r := range f.failed() {
		trouble[r.Kind] = "the rebuild failed: " + r.Reason
	}
	for _, kind := range report.Kinds() {
		s := f.journal.State(kind)
		one := filled{
			Kind: kind, Documents: f.documents.count(kind), Sent: s.Settled, Waiting: s.Waiting, Whole: s.Whole, Refused: len(s.Refused), Trouble: trouble[kind],
		}
		if s.Fault != nil {
			one.Trouble = s.Fault.Error()
		}
		list = append(list, one)
	}
	return list
}

func (f *filling) show() {
	if f.endpoint != nil && !f.progress.live && !f.JSON {
		return // its status is for those who want to know
	}
	list := f.states()
	if f.JSON {
		f.print(map[string]any{"ready": f.ready, "kinds": list})
		return
	}
	var lines []string
	for _, s := range list {
		line := fmt.Sprintf("%s: %s sent", s.Kind, humanize.Comma(int64(s.Sent)))
		switch {
		case s.Whole && s.Waiting == 0:
			line = string(s.Kind) + ": up to date"
		case s.Whole:
			line = fmt.Sprintf("%s: %s to go", s.Kind, humanize.Comma(int64(s.Waiting)))
		default:
			line += percent(int64(s.Sent), int64(s.Documents))
		}
		if s.Refused > 0 {
			line += fmt.Sprintf(", %d refused", s.Refused)
		}
		if s.Trouble != "" {
			line += ", waits (" + sanitize.OneLine(s.Trouble) + ")"
		}
		lines = append(lines, line)
	}
	f.progress.show(strings.Join(lines, "; "))
}

func (f *filling) print(v any) {
	text, _ := json.Marshal(v)
	_, _ = io.WriteString(f.io.out, string(text)+"\n")
}

func (f *filling) tellReady() {
	if f.JSON {
		f.print(map[string]any{"ready": true, "kinds": f.states()})
		return
	}
	f.progress.clear()
	fmt.Fprintf(f.io.out, "%s has everything: apps can be pointed at it\n", redacted(f.To))
	if !f.Once {
		fmt.Fprintln(f.io.err, "it is kept up to date until this command is interrupted; then start serve with it as --elasticsearch-url, which sends what it lacks by then")
	}
}

// verdict prints what is wrong in the end.
func (f *filling) verdict() error {
	bad := !f.ready && !f.keptByServe
	if bad {
		fmt.Fprintln(f.io.err, "not everything is there yet; the same command goes on from here")
	}
	for _, r := range f.failed() {
		fmt.Fprintf(f.io.err, "%s: the index for the new mapping is not in place: %s; the old one is up to date\n", r.Kind, sanitize.OneLine(r.Reason))
		bad = true
	}
	for _, kind := range report.Kinds() {
		s := f.journal.State(kind)
		for _, r := range s.Refused {
			fmt.Fprintf(f.io.err, "%s %s is refused: %s: %s\n", kind, sanitize.ShellWord(string(r.ID)), r.ErrorType, sanitize.OneLine(r.Reason))
		}
		switch {
		case s.Stale:
			fmt.Fprintf(f.io.err, "%s: may have documents that were deleted, until its index was made anew\n", kind)
		case s.Anew != nil:
			fmt.Fprintf(f.io.err, "%s: sent from the beginning, since %s; what that journal lost is still there: once it was delivered again, riskdex rebuild %[1]s, when serve keeps this cluster, leaves out the rest\n", kind, sanitize.OneLine(s.Anew.Error()))
		}
		bad = bad || len(s.Refused) > 0
	}
	if bad {
		return errNegative
	}
	return nil
}
