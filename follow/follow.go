package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"riskdex/report"
)

// Source is the riskdex that is followed.
type Source interface {
	// Feed returns what comes after a cursor, as that of the journal does. If that is nothing, and
	// wait is set, it may wait for a while. The error is report.ErrCursorTooOld or
	// report.ErrOtherFeed if nobody can go on from the cursor; any other is temporary.
	Feed(ctx context.Context, after report.Cursor, wait bool) (report.FeedPage, error)
	// Line returns the line of its journal. It returns an error if that one follows the line of
	// the caller itself.
	Line(ctx context.Context, own string) (string, error)
	// Version returns the newest version that it has of a document, 0 if it knows none.
	Version(ctx context.Context, key report.Key) (report.Version, error)
}

// Journal is what a Follower needs of its own journal.
type Journal interface {
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)
	Note(ctx context.Context, name, value string) error
	Stats(ctx context.Context) (report.Stats, error)
	Newest(ctx context.Context, kind report.Kind, limit int) ([]report.Stamp, error)
	Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error)
	Documents(ctx context.Context, kind report.Kind) (int, error)
	Document(ctx context.Context, kind report.Kind, name report.ID) (report.Document, error)
	Lineage() string
}

// Follower appends what a source tells to a journal. Its methods may be called concurrently.
type Follower struct {
	source  Source
	journal Journal
	from    string // the address of the source
	observe func(report.Answered)
	log     *slog.Logger

	looked time.Time // when deleteRest was last called; of Run alone
	kept   error     // what it returned

	mu     sync.Mutex
	status Status
}

// Status says how a Follower is.
type Status struct {
	Line   string // of the journal that is followed; empty until that is known
	Anew   Anew
	Behind time.Time // since when it has known of changes that it has not read; zero if it has read all
	Failed time.Time // since when the changes cannot be read or appended; zero if they can
	Err    error     // why not
}

const (
	askAgain  = time.Second // between two attempts
	lookAgain = time.Minute // between two looks for what is to be deleted
	// fewDocuments may all be deleted. Of more, no more than half are.
	fewDocuments = 10
)

// New returns a Follower of the source at an address. observe is called for each kind of each page.
func New(source Source, j Journal, from string, observe func(report.Answered), log *slog.Logger) *Follower {
	return &Follower{source: source, journal: j, from: from, observe: observe, log: log}
}

// From returns the address of the source.
func (f *Follower) From() string { return f.from }

// Status returns how it is.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Run follows until ctx is done. It may be called once.
func (f *Follower) Run(ctx context.Context) {
	for ctx.Err() == nil {
		// Another process of this journal may have gone on meanwhile.
		s, err := load(ctx, f.journal)
		for err == nil && ctx.Err() == nil {
			if err = f.step(ctx, &s); err == nil {
				f.tell(s, f.kept)
			}
		}
		if ctx.Err() != nil {
			return
		}
		f.tell(s, err)
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
		}
	}
}

// tell notes how a step went.
func (f *Follower) tell(s state, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.status.Err
	f.status.Line, f.status.Anew, f.status.Err = s.Line, s.Anew, err
	switch {
	case err == nil && before != nil:
		f.status.Failed = time.Time{}
		f.log.Info("the riskdex that is followed is followed again", "follows", f.from)
	case err != nil && before == nil:
		f.status.Failed = time.Now()
		fallthrough
	case err != nil && before.Error() != err.Error():
		f.log.Warn("the riskdex that is followed cannot be followed", "follows", f.from, "error", err)
	}
}

// behind notes whether the source has more than was read.
func (f *Follower) behind(is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !is:
		f.status.Behind = time.Time{}
	case f.status.Behind.IsZero():
		f.status.Behind = time.Now()
	}
}

// step reads a page and appends it, or begins anew.
func (f *Follower) step(ctx context.Context, s *state) error {
	if s.Line == "" {
		return f.begin(ctx, s, cmp.Or(s.Anew.Why, "this journal has followed nobody before"))
	}
	at, err := s.cursor()
	if err != nil {
		return err
	}
	// Documents that are kept are no reason to ask without a pause.
	page, err := f.source.Feed(ctx, at, f.kept != nil || f.Status().Failed.IsZero())
	switch {
	case errors.Is(err, report.ErrOtherFeed):
		if err := f.isNotSetBack(ctx, *s); err != nil {
			return err
		}
		return f.begin(ctx, s, err.Error())
	case errors.Is(err, report.ErrCursorTooOld):
		return f.begin(ctx, s, err.Error())
	case err != nil:
		return err
	}
	if at.Begins() { // no cursor has said which journal is meant
		if _, err := f.line(ctx, *s); err != nil {
			return err
		}
	}
	return f.take(ctx, s, page)
}

// line returns the line of the source, or an error if the journal cannot follow it from a state on.
func (f *Follower) line(ctx context.Context, s state) (string, error) {
	line, err := f.source.Line(ctx, f.journal.Lineage())
	switch {
	case err != nil:
		return "", err
	case line == "":
		return "", errors.New("it does not say which journal it has: is that the admin listener of a riskdex?")
	case line == f.journal.Lineage():
		return "", errors.New("it has the journal of this riskdex itself, or a copy of it: start this one with a journal of its own")
	case s.Line != "" && line != s.Line:
		return "", fmt.Errorf("it has another journal than the one that was followed (%s, not %s): nothing of it is taken over. "+
			"Start it with its journal, or this riskdex with a new one", line, s.Line)
	}
	return line, nil
}

// isNotSetBack returns an error unless the source has the newest change that it told, or a later one of
// that document: this journal may have the only copy of what it lacks.
func (f *Follower) isNotSetBack(ctx context.Context, s state) error {
	if _, err := f.line(ctx, s); err != nil || s.Newest.Version == 0 {
		return err
	}
	has, err := f.source.Version(ctx, s.Newest.Key)
	if err == nil && has < s.Newest.Version {
		err = fmt.Errorf("its journal was set back, and lacks the newest change that it had told, of %s %s: what this riskdex has is kept as it is. "+
			"Ask the publisher to deliver again what is lost there, then: riskdex journal acknowledge-loss; once it has that document again, it is followed again", s.Newest.Kind, s.Newest.ID)
	}
	return err
}

// begin has the feed read from its beginning.
func (f *Follower) begin(ctx context.Context, s *state, why string) error {
	line, err := f.line(ctx, *s)
	if err != nil {
		return err
	}
	next := state{Line: line, Newest: s.Newest, Anew: Anew{At: time.Now().UTC(), Why: why}}
	for _, kind := range report.Kinds() {
		newest, err := f.journal.Newest(ctx, kind, 1)
		if err != nil {
			return err
		}
		for _, n := range newest {
			next.Anew.Until = max(next.Anew.Until, n.Version)
		}
	}
	if err := f.advance(ctx, s, next, nil); err != nil {
		return err
	}
	f.looked, f.kept = time.Time{}, nil
	f.log.Warn("all changes of the riskdex that is followed are read from the beginning; then what it no longer has is deleted here", "follows", f.from, "reason", why)
	f.behind(true)
	return nil
}

// take takes over a page that was read in a state.
func (f *Follower) take(ctx context.Context, s *state, page report.FeedPage) error {
	next := *s
	next.Cursor = page.Next.String()
	if n := len(page.Changes); n > 0 && page.Changes[n-1].Version > s.Newest.Version {
		last := page.Changes[n-1]
		next.Newest = report.Stamp{Key: last.Key, Version: last.Version}
	}
	changes, err := f.changes(ctx, page.Changes, !s.Anew.Done)
	if err == nil {
		err = f.advance(ctx, s, next, changes)
	}
	if err != nil {
		return err
	}
	if s.text() != next.text() { // another process has gone on, and this page says nothing of where
		return nil
	}
	f.behind(page.More)
	if s.Anew.Done {
		f.kept = nil // another process may have deleted the rest
	}
	if page.More || s.Anew.Done || time.Since(f.looked) < lookAgain {
		return nil
	}
	f.looked = time.Now()
	done, kept, err := f.deleteRest(ctx, s.Anew)
	f.kept = kept
	if err != nil || !done {
		return err
	}
	next = *s
	next.Anew.Done = true
	return f.advance(ctx, s, next, nil)
}

// advance goes on from one state to the next, with the changes that lead to it. In all processes, each
// state has one successor, so that no page overtakes one that was read later. The receipt of the
// delivery sees to that, and makes the state durable together with the changes.
func (f *Follower) advance(ctx context.Context, s *state, next state, changes []report.Change) error {
	if next.text() == s.text() {
		return nil
	}
	_, err := f.journal.Append(ctx, report.Delivery{
		Changes: changes, Source: f.origin(),
		Receipt: &report.Receipt{Sender: feed, ID: s.id(), Digest: []byte{0}, Answer: []byte(next.text())},
	})
	if repeated, ok := errors.AsType[*report.RepeatedError](err); ok {
		if next, err = load(ctx, f.journal); err == nil && next.text() == s.text() { // the note was not written yet
			next, err = parseState(string(repeated.Answer))
		}
	}
	if err == nil {
		err = f.journal.Note(ctx, noteName, next.text())
	}
	if err != nil {
		return err
	}
	*s = next
	f.tellArrived(changes)
	return nil
}

// feed names the deliveries of a Follower.
const feed = "feed of changes"

func (f *Follower) origin() report.Source { return report.Source{Call: feed, Sender: f.from} }

// changes returns what makes the journal have what the source told. Each is for the document with this
// very id, and states its code, or that it has none. Of a record that the source has lost, the journal
// keeps what it has; to keep it while the feed is read anew, it is accepted again.
func (f *Follower) changes(ctx context.Context, told []report.Record, anew bool) (list []report.Change, err error) {
	for _, r := range told {
		if r.Lost == report.LostDamaged {
			f.log.Warn("a record is damaged in the journal that is followed: what this one has of it stays", "kind", r.Kind, "id", r.ID)
		}
		if r.Lost != report.NotLost {
			if !anew {
				continue
			}
			own, err := f.journal.Document(ctx, r.Kind, r.ID)
			if err != nil {
				return nil, err
			}
			if own.Key != r.Key || own.Op == report.Delete || len(own.Body) == 0 {
				continue
			}
			r.Body = own.Body
		}
		list = append(list, report.Change{Key: r.Key, OwnID: r.ID, Op: r.Op, Code: r.Code, NoCode: r.Code == "", Body: r.Body})
	}
	return list, nil
}

// tellArrived tells of a page as the receiver does of a delivery.
func (f *Follower) tellArrived(changes []report.Change) {
	count := map[report.Kind]int{}
	for _, c := range changes {
		count[c.Kind]++
	}
	for _, kind := range report.Kinds() {
		if n := count[kind]; n > 0 {
			f.observe(report.Answered{At: time.Now(), Kind: kind, Method: "GET", Path: "/api/changes", Status: 200, Accepted: n})
		}
	}
}

const entriesAtOnce = 1000

// deleteRest deletes the documents that the journal has from before, and that the source neither told
// nor knows. done reports whether none is left, and kept says of which kinds too many would go: then none
// is deleted, of any kind, since a source that lacks most of one is not to be trusted about another.
func (f *Follower) deleteRest(ctx context.Context, a Anew) (done bool, kept, err error) {
	rest := map[report.Kind][]report.ID{}
	for _, kind := range report.Kinds() {
		if rest[kind], err = f.rest(ctx, kind, a.Until); err != nil {
			return false, nil, err
		}
		live, err := f.journal.Documents(ctx, kind)
		if err != nil {
			return false, nil, err
		}
		if n := len(rest[kind]); live > fewDocuments && 2*n > live {
			kept = errors.Join(kept, fmt.Errorf("it lacks %d of the %d %s that are here, such as %s, and more than half are not deleted by themselves: "+
				"if it should have them, ask the publisher to deliver them there; if not, start this riskdex with a new journal", n, live, kind, rest[kind][0]))
		}
	}
	if kept != nil {
		return false, kept, nil
	}
	done = true
	for _, kind := range report.Kinds() {
		for some := range slices.Chunk(rest[kind], entriesAtOnce) {
			d := report.Delivery{Source: f.origin()}
			for _, id := range some {
				// What was delivered again while the page was read may not have been told yet.
				key := report.Key{Kind: kind, ID: id}
				has, err := f.source.Version(ctx, key)
				if err != nil {
					return false, nil, err
				}
				if has > 0 {
					done = false
					continue
				}
				d.Changes = append(d.Changes, report.Change{
					Key: key, OwnID: id, Op: report.Delete,
					If: func(newest report.Version, _ time.Time) bool { return newest <= a.Until },
				})
			}
			if len(d.Changes) == 0 {
				continue
			}
			if _, err := f.journal.Append(ctx, d); err != nil {
				return false, nil, err
			}
			f.log.Warn("documents were deleted that the riskdex that is followed no longer has", "kind", kind, "documents", len(d.Changes), "first", d.Changes[0].ID)
		}
	}
	return done, nil, nil
}

// rest returns the live documents of a kind that have no version above one.
func (f *Follower) rest(ctx context.Context, kind report.Kind, until report.Version) (ids []report.ID, err error) {
	for after := report.ID(""); ; {
		page, err := f.journal.Entries(ctx, kind, after, entriesAtOnce)
		if err != nil || len(page) == 0 {
			return ids, err
		}
		for _, e := range page {
			if e.Op == report.Index && e.Version <= until {
				ids = append(ids, e.ID)
			}
		}
		after = page[len(page)-1].ID
	}
}

// Lagging returns stats in which every kind waits since the source has had more than was read.
func (f *Follower) Lagging(stats report.Stats) report.Stats {
	since := f.Status().Behind
	if since.IsZero() {
		return stats
	}
	for kind, k := range stats.Kinds {
		if k.OldestWaiting.IsZero() || k.OldestWaiting.After(since) {
			k.OldestWaiting = since
			stats.Kinds[kind] = k
		}
	}
	return stats
}
