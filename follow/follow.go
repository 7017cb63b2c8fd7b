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
	// Entries and Lookup return what it has of documents, as those of the journal do.
	Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error)
	Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error)
}

// Journal is what a Follower needs of its own journal.
type Journal interface {
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)
	Note(ctx context.Context, name, value string) error
	Stats(ctx context.Context) (report.Stats, error)
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
	begun  bool      // it has followed; of Run alone

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
	if s.Line == "" && f.begun {
		return errors.New("another process of this journal takes deliveries itself since: start all of them with the same --follow, or without")
	}
	if s.Line == "" {
		return f.begin(ctx, s, cmp.Or(s.Anew.Why, "this journal has followed nobody before"))
	}
	f.begun = true
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

func (f *Follower) line(ctx context.Context, s state) (string, error) {
	return s.mayFollow(ctx, f.source, f.journal.Lineage())
}

// isNotSetBack returns an error unless the source has the newest change that it told, or a later one of
// that document: this journal may have the only copy of what it lacks.
func (f *Follower) isNotSetBack(ctx context.Context, s state) error {
	if _, err := f.line(ctx, s); err != nil || s.Newest.Version == 0 {
		return err
	}
	has, err := f.source.Lookup(ctx, s.Newest.Kind, []report.ID{s.Newest.ID})
	if err == nil && (len(has) == 0 || has[0].Version < s.Newest.Version) {
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
	if err := f.advance(ctx, s, next, report.Delivery{}); err != nil {
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
	told, err := f.delivery(ctx, page.Changes)
	if err == nil {
		err = f.advance(ctx, s, next, told)
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
	if f.kept, err = f.deleteRest(ctx, page.Next); err != nil || f.kept != nil {
		return err
	}
	next = *s
	next.Anew.Done = true
	return f.advance(ctx, s, next, report.Delivery{})
}

// advance is that of a state, and tells of the changes.
func (f *Follower) advance(ctx context.Context, s *state, next state, d report.Delivery) error {
	d.Source = f.origin()
	err := s.advance(ctx, f.journal, next, d)
	if err == nil {
		f.tellArrived(d.Changes)
	}
	return err
}

// feed names the deliveries of a Follower.
const feed = "feed of changes"

func (f *Follower) origin() report.Source { return report.Source{Call: feed, Sender: f.from} }

// delivery returns what makes the journal have what the source told. Of a record that the source has lost,
// the journal keeps what it has. If that is another, the newest is refused: searches lack it.
func (f *Follower) delivery(ctx context.Context, told []report.Record) (d report.Delivery, err error) {
	for i, r := range told {
		d.Above = r.Version
		if r.Lost == report.NotLost {
			d.Changes = append(d.Changes, report.Change{Key: r.Key, OwnID: r.ID, Op: r.Op, Code: r.Code, Identity: r.Identity, Body: r.Body})
			continue
		}
		own, err := f.journal.Document(ctx, r.Kind, r.ID)
		if err != nil {
			return d, err
		}
		if own.Key == r.Key && own.Lost == report.NotLost && own.Identity.Place == r.Identity.Place {
			continue
		}
		d.Refusals = append(d.Refusals, report.Refusal{
			At: time.Now(), Kind: r.Kind, Method: "GET", Path: feedPath, Position: i, ID: string(r.ID), Reason: report.ReasonLost,
			Detail: fmt.Sprintf("The riskdex that is followed has no record of it any more, which is %s there; what this one has of it stays. Ask the publisher to deliver it again.", r.Lost),
		})
	}
	return d, nil
}

const feedPath = "/api/changes"

// tellArrived tells of a page as the receiver does of a delivery.
func (f *Follower) tellArrived(changes []report.Change) {
	count := map[report.Kind]int{}
	for _, c := range changes {
		count[c.Kind]++
	}
	for _, kind := range report.Kinds() {
		if n := count[kind]; n > 0 {
			f.observe(report.Answered{At: time.Now(), Kind: kind, Method: "GET", Path: feedPath, Status: 200, Accepted: n})
		}
	}
}

const entriesAtOnce = 1000

// deleteRest deletes the documents that the journal has and the source does not, whose feed was read up to
// a cursor. kept says of which kinds too many would go: then none is deleted, of any kind, since a source
// that lacks most of one is not to be trusted about another.
func (f *Follower) deleteRest(ctx context.Context, at report.Cursor) (kept, err error) {
	rest := map[report.Kind][]report.Stamp{}
	for _, kind := range report.Kinds() {
		if rest[kind], err = f.rest(ctx, kind); err != nil {
			return nil, err
		}
		live, err := f.journal.Documents(ctx, kind)
		if err != nil {
			return nil, err
		}
		if n := len(rest[kind]); live > fewDocuments && 2*n > live {
			kept = errors.Join(kept, fmt.Errorf("it lacks %d of the %d %s that are here, such as %s, and more than half are not deleted by themselves: "+
				"if it should have them, ask the publisher to deliver them there; if not, start this riskdex with a new journal", n, live, kind, rest[kind][0].ID))
		}
	}
	if kept != nil {
		return kept, nil
	}
	// It was not set back while it was asked: its feed goes on.
	if _, err := f.source.Feed(ctx, at, false); err != nil {
		return nil, err
	}
	for _, kind := range report.Kinds() {
		for some := range slices.Chunk(rest[kind], entriesAtOnce) {
			d := report.Delivery{Source: f.origin()}
			for _, r := range some {
				d.Changes = append(d.Changes, report.Change{
					Key: r.Key, OwnID: r.ID, Op: report.Delete,
					If: func(newest report.Version, _ time.Time) bool { return newest == r.Version }, // else it was told since
				})
			}
			if _, err := f.journal.Append(ctx, d); err != nil {
				return nil, err
			}
			f.log.Warn("documents were deleted that the riskdex that is followed no longer has", "kind", kind, "documents", len(some), "first", some[0].ID)
		}
	}
	return nil, nil
}

// rest returns the live documents of a kind that the source does not have.
func (f *Follower) rest(ctx context.Context, kind report.Kind) (rest []report.Stamp, err error) {
	var theirs map[report.ID]report.Op
	last, more := report.ID(""), true // of theirs
	for after := report.ID(""); ; {
		page, err := f.journal.Entries(ctx, kind, after, entriesAtOnce)
		if err != nil || len(page) == 0 {
			return rest, err
		}
		for _, e := range page {
			for after = e.ID; more && last < e.ID; {
				found, err := f.source.Entries(ctx, kind, last, entriesAtOnce)
				if err != nil {
					return nil, err
				}
				theirs, more = map[report.ID]report.Op{}, len(found) > 0
				for _, t := range found {
					if t.ID <= last {
						return nil, fmt.Errorf("it lists %s %s after %s", kind, t.ID, last)
					}
					theirs[t.ID], last = t.Op, t.ID
				}
			}
			if e.Op == report.Index && theirs[e.ID] != report.Index {
				rest = append(rest, e.Stamp)
			}
		}
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
