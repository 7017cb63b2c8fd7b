package indexer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"riskdex/report"
)

// A journal may be set back to an older state: by a copy, a rewind, a failover. Then it would send
// what it has from before above what it does not know any more. What tells is outside of it: the
// indices have versions that it gave out. So they are compared with it (report.ErrLossOpen) before the
// first change of a kind is claimed, after a start or after the journal could not be used, and with each
// check: two copies of a journal may be used at once, or one after the other.

// compared has when the index of each kind was compared with the journal.
type compared struct {
	one   sync.Mutex // held while indices are compared: lanes start together, and need it once
	mu    sync.Mutex
	at    map[report.Kind]time.Time // zero if it is to be compared before anything is claimed
	tried map[report.Kind]bool      // whose first check has ended, also without an answer of the cluster
	once  chan struct{}             // closed once every kind is
}

func (c *compared) when(kind report.Kind) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at[kind]
}

func (c *compared) set(kind report.Kind, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = map[report.Kind]time.Time{}
	}
	c.at[kind] = at
}

// Compared returns a channel that is closed once the journal was compared with each index since the
// start, or that was tried in vain: a cluster that is away for long, or for good, has nothing to say.
// Before that, the journal may lack what it had told.
func (x *Indexer) Compared() <-chan struct{} { return x.compared.once }

// triedToCompare notes that the first check of a kind has ended.
func (x *Indexer) triedToCompare(kind report.Kind) {
	c := &x.compared
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tried[kind] {
		return
	}
	c.tried[kind] = true
	if len(c.tried) == len(x.cfg.kinds()) {
		close(c.once)
	}
}

// compareIndices compares the index of a kind with the journal, unless it just was, and those that were
// not compared yet, and returns why that of kind could not be. What one of them shows holds for every
// kind. If the journal lacks nothing, it may go on where one that it is a copy of has ended.
func (x *Indexer) compareIndices(ctx context.Context, kind report.Kind) (failed error, ofJournal bool) {
	x.compared.one.Lock()
	defer x.compared.one.Unlock()
	for _, k := range x.cfg.kinds() {
		at := x.compared.when(k)
		if !at.IsZero() && (k != kind || time.Since(at) < x.cfg.CheckEvery/2) { // in trouble, it is checked all the time
			continue
		}
		err, journal := x.compareIndex(ctx, k, !at.IsZero())
		if err == nil {
			x.compared.set(k, time.Now())
		} else if k == kind {
			failed, ofJournal = err, journal
		}
	}
	if failed != nil {
		return failed, ofJournal
	}
	err := x.mayReplace(ctx, kind)
	switch {
	case errors.Is(err, report.ErrLossOpen):
		return nil, false
	case err != nil:
		return err, true
	}
	return x.indices.Adopt(ctx, kind), false
}

// compareIndex compares an index with the journal. While both are used, too, something else may write
// there: a copy of the journal that was made by hand.
func (x *Indexer) compareIndex(ctx context.Context, kind report.Kind, again bool) (err error, ofJournal bool) {
	stats, err := x.journal.Stats(ctx)
	if err != nil {
		return fmt.Errorf("find which copy of the journal this is: %w", err), true
	}
	x.indices.SetCopies(report.CopiesIn(stats.Notes))
	given, err := x.indices.Given(ctx, kind, again)
	if err != nil || len(given) == 0 {
		return err, false
	}
	return x.journal.CheckGiven(ctx, given), true
}

// mayReplace returns why the index of a kind must not be replaced by what the journal has, or an
// index be removed: it may be the only one that has what the journal lacks.
func (x *Indexer) mayReplace(ctx context.Context, kind report.Kind) error {
	stats, err := x.journal.Stats(ctx)
	if err != nil {
		return fmt.Errorf("see whether the journal lacks changes of %s: %w", kind, err)
	}
	if stats.Loss.Lost() {
		return lossOpen{stats.Loss}
	}
	return nil
}

// checkAhead compares with the journal those documents of an index that are ahead of it.
func (x *Indexer) checkAhead(ctx context.Context, kind report.Kind, index string, ids []report.ID) {
	if len(ids) == 0 {
		return
	}
	given, err := x.client.GivenOf(ctx, kind, index, ids)
	if err == nil {
		err = x.journal.CheckGiven(ctx, given)
	}
	if err != nil {
		x.log.Warn("cannot see whether an index that is ahead has what the journal lacks; it is compared at its next check", "index", index, "error", err)
		x.compared.set(kind, time.Time{})
	}
}

// lossOpen is report.ErrLossOpen with the time of the loss.
type lossOpen struct{ report.Loss }

func (e lossOpen) Error() string {
	return fmt.Sprintf("changes that were acknowledged %s may be missing: %v", e.Span(), report.ErrLossOpen)
}

func (lossOpen) Unwrap() error { return report.ErrLossOpen }
