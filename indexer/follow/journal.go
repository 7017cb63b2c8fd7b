package follow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"riskdex/report"
)

// Source is the feed that is followed.
type Source interface {
	// Feed returns what comes after a cursor, as that of the journal does. If that is nothing,
	// and wait is set, it may wait for a while. The error is report.ErrCursorTooOld or report.ErrOtherFeed if
	// nobody can go on from the cursor; any other is temporary.
	Feed(ctx context.Context, after report.Cursor, wait bool) (report.FeedPage, error)
	// Documents returns about how many documents of a kind the feed has, if that is known, or 0.
	Documents(kind report.Kind) int
}

// Checkpoints keeps a cursor in the index behind the alias of each kind.
type Checkpoints interface {
	// Checkpoint returns the cursor that is about this index, and no copy of it; empty if
	// there is none.
	Checkpoint(ctx context.Context, kind report.Kind) (cursor string, err error)
	SetCheckpoint(ctx context.Context, kind report.Kind, cursor string) error
}

// Bounds of the memory of a kind.
const (
	maxWaiting      = 2000     // documents in the window that wait, or are being sent
	maxWaitingBytes = 16 << 20 // of their records, unless a page is larger
	maxRefused      = 1000     // documents that the cluster refuses
)

// ErrTooManyRefused ends Run: it is the cluster, or the mapping, that is wrong.
var ErrTooManyRefused = fmt.Errorf("more than %d documents of a kind are refused", maxRefused)

// Times of a follower.
const (
	askAgain        = time.Second     // after a failure to read the feed
	checkpointEvery = 5 * time.Second // at most that often
)

// Journal is the journal of an Indexer that follows a feed, without a probe. Its methods may be called from any
// goroutine.
type Journal struct {
	source      Source
	checkpoints Checkpoints

	mu       sync.Mutex
	windows  map[report.Kind]*window
	notes    map[string]string
	changed  chan struct{}
	broken   chan error // has the error that ends Run
	progress chan struct{}
}

// CheckGiven implements indexer.Journal. What it gives out comes from the feed, which says itself when
// it was set back.
func (*Journal) CheckGiven(context.Context, []report.Stamp) error { return nil }

// Open returns a journal that goes on from the checkpoints of the indices, and where there is
// none from the beginning of the feed.
func Open(ctx context.Context, source Source, checkpoints Checkpoints) (*Journal, error) {
	j := &Journal{
		source: source, checkpoints: checkpoints, windows: map[report.Kind]*window{}, notes: map[string]string{},
		changed: make(chan struct{}, 1), broken: make(chan error, 1), progress: make(chan struct{}, 1),
	}
	for _, kind := range report.Kinds() {
		text, err := checkpoints.Checkpoint(ctx, kind)
		if err != nil {
			return nil, err
		}
		at := report.Cursor{Kinds: []report.Kind{kind}}
		if text != "" {
			if at, err = report.ParseCursor(text); err != nil {
				return nil, fmt.Errorf("the checkpoint of %s: %w", kind, err)
			}
		}
		j.windows[kind] = newWindow(at, time.Now())
	}
	return j, nil
}

// Run reads the feed and sets checkpoints until ctx ends, and sets the last ones then. It may
// be called once.
func (j *Journal) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for kind, w := range j.windows {
		running.Go(func() { j.read(ctx, w) })
		running.Go(func() { j.keepCheckpoints(ctx, kind, w) })
	}
	var err error
	select {
	case err = <-j.broken:
		cancel(err)
	case <-ctx.Done():
	}
	running.Wait()
	return err
}

// read reads the feed into a window whenever that has space.
func (j *Journal) read(ctx context.Context, w *window) {
	for ctx.Err() == nil {
		at, well, space := j.position(w)
		if !space {
			select {
			case <-w.space:
			case <-ctx.Done():
			}
			continue
		}
		asking, stop := context.WithCancel(ctx)
		j.interruptible(w, at, stop)
		page, err := j.source.Feed(asking, at, well)
		interrupted := asking.Err() != nil
		stop()
		switch {
		case interrupted: // by the end of ctx, or as the window has begun elsewhere
		case !at.Begins() && (errors.Is(err, report.ErrCursorTooOld) || errors.Is(err, report.ErrOtherFeed)):
			j.begin(w, at, err)
		case err != nil:
			j.fail(w, err)
			select {
			case <-time.After(askAgain):
			case <-ctx.Done():
			}
		default:
			j.add(w, at, page)
		}
	}
}

// position returns where to go on reading, whether the last read was answered, and whether there
// is space for a page.
func (j *Journal) position(w *window) (at report.Cursor, well, space bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return w.read, w.fault == nil, w.pending() < maxWaiting && w.bytes < maxWaitingBytes
}

// interruptible has a read after a cursor, which may wait for long, end once the window begins
// elsewhere.
func (j *Journal) interruptible(w *window, at report.Cursor, stop context.CancelFunc) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w.interrupt = stop
	if w.read.String() != at.String() {
		stop()
	}
}

func (j *Journal) fail(w *window, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w.fault = err
}

// begin has a window read from the beginning of the feed, as nobody can go on from a cursor, unless it
// has begun elsewhere since.
func (j *Journal) begin(w *window, at report.Cursor, cause error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if w.read.String() != at.String() {
		return
	}
	w.begin(report.Cursor{Kinds: at.Kinds}, time.Now())
	w.anew, w.fault = cause, nil
	j.wake()
}

// add adds a page that was read after a cursor, unless the window has begun elsewhere since.
func (j *Journal) add(w *window, after report.Cursor, page report.FeedPage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if w.read.String() != after.String() {
		return
	}
	w.fault = nil
	w.add(page, time.Now())
	j.wake()
}

// wake says that there may be something to claim, and that the state may have changed.
func (j *Journal) wake() {
	for _, c := range []chan struct{}{j.changed, j.progress} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// keepCheckpoints keeps the checkpoint of a kind.
func (j *Journal) keepCheckpoints(ctx context.Context, kind report.Kind, w *window) {
	for last := false; !last; {
		select {
		case <-time.After(checkpointEvery):
		case <-ctx.Done():
			last = true
		}
		j.keepCheckpoint(context.WithoutCancel(ctx), kind, w)
	}
}

// keepCheckpoint keeps the checkpoint, also if it has not changed: the index may be another one.
// If it cannot be kept, the next start sends more than it has to.
func (j *Journal) keepCheckpoint(ctx context.Context, kind report.Kind, w *window) {
	w.keeping.Lock()
	defer w.keeping.Unlock()
	j.mu.Lock()
	at := w.before.String()
	if w.stale() {
		at = "" // the next start is to find out, too
	}
	j.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, checkpointEvery)
	defer cancel()
	if at != "" {
		_ = j.checkpoints.SetCheckpoint(ctx, kind, at)
	}
}

// Changed implements indexer.Journal.
func (j *Journal) Changed() <-chan struct{} { return j.changed }

// Claim implements indexer.Journal.
func (j *Journal) Claim(_ context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w, now := j.windows[kind], time.Now()
	list := w.claim(maxChanges, maxBytes, now)
	if next := w.next(now); len(list) == 0 && next > 0 {
		time.AfterFunc(next, j.wake)
	}
	return list, nil
}

// Settle implements indexer.Journal.
func (j *Journal) Settle(_ context.Context, settlements []report.Settlement) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	for _, s := range settlements {
		w := j.windows[s.Kind]
		w.settle(s, now)
		if len(w.refused) > maxRefused {
			select {
			case j.broken <- ErrTooManyRefused:
			default:
			}
		}
	}
	for _, w := range j.windows {
		w.freed()
	}
	j.wake()
	return nil
}

// Resend implements indexer.Journal: it begins the feed anew, at once for all documents.
func (j *Journal) Resend(_ context.Context, kind report.Kind, _ report.ResendCursor) (int, report.ResendCursor, error) {
	w := j.windows[kind]
	w.keeping.Lock()
	defer w.keeping.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	told := w.done + len(w.documents)
	if w.stale() {
		w.anew = nil
	}
	w.again(report.Cursor{Kinds: []report.Kind{kind}})
	return told, "", nil
}

// ResendDeleted implements indexer.Journal: it goes back in the feed to the first change that
// may have been accepted since a time. No version is below the clock of its time.
func (j *Journal) ResendDeleted(_ context.Context, kind report.Kind, since time.Time) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if w, to := j.windows[kind], report.Version(since.UnixMicro()); w.read.Version > to {
		w.back(to)
	}
	return 0, nil
}

// RaiseVersions implements indexer.Journal. The version of a document is not for this journal to
// choose, so the cluster counts as refusing what it has a higher version of.
func (j *Journal) RaiseVersions(_ context.Context, list []report.Ahead) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range list {
		// Where the feed was begun anew meanwhile, a newer version may have been claimed beside.
		w := j.windows[a.Kind]
		if d := w.documents[a.ID]; d != nil && d.claimed && d.change.Version == a.Version {
			w.ahead[a.ID] = a
		}
	}
	return 0, nil
}

// RetryDead has documents told again that the cluster refuses, and with them all that came after
// the first of them.
func (j *Journal) RetryDead(_ context.Context, letters []report.Stamp) (n int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for kind, w := range j.windows {
		again := 0
		for _, l := range letters {
			if l.Kind == kind && w.refused[l.ID].Version == l.Version && l.Version != 0 {
				again++
			}
		}
		if again > 0 {
			w.back(w.before.Version)
		}
		n += again
	}
	return n, nil
}

// DeadLetters returns up to limit documents of a kind that the cluster refuses, sorted by id,
// that come after the given one. They have no bodies: the feed has them.
func (j *Journal) DeadLetters(_ context.Context, kind report.Kind, after report.ID, limit int) (list []report.DeadLetter, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w := j.windows[kind]
	if w == nil {
		return nil, nil
	}
	for _, id := range slices.Sorted(maps.Keys(w.refused)) {
		if id > after && len(list) < limit {
			list = append(list, w.letter(id))
		}
	}
	return list, nil
}

// LockKind implements indexer.Journal.
func (j *Journal) LockKind(context.Context, report.Kind) error { return nil }

// UnlockKind implements indexer.Journal.
func (j *Journal) UnlockKind(report.Kind) {}

// Documents implements indexer.Journal.
func (j *Journal) Documents(_ context.Context, kind report.Kind) (int, error) {
	return j.source.Documents(kind), nil
}

// Stats implements indexer.Journal. Its sums count from the start.
func (j *Journal) Stats(context.Context) (report.Stats, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	stats := report.Stats{Kinds: map[report.Kind]report.KindStats{}, Notes: maps.Clone(j.notes), Free: -1}
	for kind, w := range j.windows {
		stats.Kinds[kind] = w.stats(j.source.Documents(kind))
	}
	return stats, nil
}

// Fault returns why the feed of a kind cannot be read now, or nil.
func (j *Journal) Fault() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, kind := range report.Kinds() {
		if w := j.windows[kind]; w.fault != nil {
			return fmt.Errorf("read the changes of %s: %w", kind, w.fault)
		}
	}
	return nil
}

// Note implements indexer.Journal. Notes last as long as the journal does.
func (j *Journal) Note(_ context.Context, name, value string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes[name] = value
	return nil
}

// Progress receives a value when State may have changed. It buffers one.
func (j *Journal) Progress() <-chan struct{} { return j.progress }

// State says how far a kind is.
type State struct {
	Kind    report.Kind
	Settled int   // documents settled since the start, or since the feed was begun anew
	Waiting int   // documents in memory that are not settled
	Whole   bool  // everything is settled, except for what is refused, that the feed had at some moment since it was begun
	Fault   error // why the feed cannot be read now
	Anew    error // why the feed was begun anew; the index may have documents that it does not tell
	Stale   bool  // the index has documents whose delete nobody tells, until a rebuild begins: no checkpoint is kept
	Refused []report.Settlement
}

// State returns how far a kind is.
func (j *Journal) State(kind report.Kind) State {
	j.mu.Lock()
	defer j.mu.Unlock()
	w := j.windows[kind]
	s := State{Kind: kind, Settled: w.done, Waiting: w.pending(), Whole: w.whole, Fault: w.fault, Anew: w.anew, Stale: w.stale()}
	for _, id := range slices.Sorted(maps.Keys(w.refused)) {
		s.Refused = append(s.Refused, w.refused[id].Settlement)
	}
	return s
}
