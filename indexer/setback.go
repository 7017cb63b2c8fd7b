package indexer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"riskdex/report"
)

// A journal may be set back to an older state: by a copy, a rewind, a failover. Then it would send
// what it has from before above what it does not know any more. What tells is outside of it: the
// indices have versions that it gave out. So before the first change of a kind is claimed, after a
// start or after the journal could not be used, they are compared with it (report.ErrLossOpen).
//
// A journal and a copy of it may fill the same indices. Neither lacks anything at first, so every
// check compares the newest of an index: what the other one has sent, this one never gave out.

// newestGiven is how many documents of an index are compared at first: a journal that was set back
// lacks the newest, but another process may have accepted others since. newestAgain is how many each
// check compares: of two journals, the one that sends less finds what the other has sent.
const (
	newestGiven = 1000
	newestAgain = 100
	againWithin = 3 * time.Second
)

// compared has the kinds whose index was compared with the journal.
type compared struct {
	one   sync.Mutex // held while indices are compared: lanes start together, and need it once
	mu    sync.Mutex
	kinds map[report.Kind]bool
	tried map[report.Kind]bool // whose first check has ended, also without an answer of the cluster
	once  chan struct{}        // closed once every kind is
}

func (c *compared) has(kind report.Kind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kinds[kind]
}

func (c *compared) set(kind report.Kind, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil {
		c.kinds = map[report.Kind]bool{}
	}
	c.kinds[kind] = is
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

// compareIndices compares the indices that were not compared yet, or that of kind again, and returns why
// that of kind could not be. What one of them shows holds for every kind. Only the first time matters
// whether the cluster answers: nothing has been sent then.
func (x *Indexer) compareIndices(ctx context.Context, kind report.Kind) (failed error, ofJournal bool) {
	if x.compared.has(kind) {
		return x.compareAgain(ctx, kind)
	}
	x.compared.one.Lock()
	defer x.compared.one.Unlock()
	for _, k := range x.cfg.kinds() {
		if x.compared.has(k) {
			continue
		}
		err, journal := x.compareIndex(ctx, k, newestGiven)
		if err == nil {
			x.compared.set(k, true)
		} else if k == kind {
			failed, ofJournal = err, journal
		}
	}
	return failed, ofJournal
}

// compareAgain compares an index within a bounded time: nothing of its kind is sent meanwhile. What
// takes longer is left to the next check, as is what the cluster does not answer.
func (x *Indexer) compareAgain(parent context.Context, kind report.Kind) (failed error, ofJournal bool) {
	ctx, cancel := context.WithTimeout(parent, againWithin)
	defer cancel()
	err, ofJournal := x.compareIndex(ctx, kind, newestAgain)
	if err == nil || !ofJournal || ctx.Err() != nil && parent.Err() == nil {
		return nil, false
	}
	return err, true
}

func (x *Indexer) compareIndex(ctx context.Context, kind report.Kind, limit int) (err error, ofJournal bool) {
	given, err := x.indices.Given(ctx, kind, limit, limit == newestGiven)
	if err != nil || len(given) == 0 {
		return err, false
	}
	return x.journal.CheckGiven(ctx, given), true
}

// mayReplace returns why the index of a kind must not be replaced by what the journal has, or an
// index be removed: it may be the only one that has what the journal lacks, or several clusters answer.
// Once one of these has stayed, a rebuild is all the same to what is sent to it.
func (x *Indexer) mayReplace(ctx context.Context, kind report.Kind) error {
	stats, err := x.journal.Stats(ctx)
	if err != nil {
		return fmt.Errorf("see whether the journal lacks changes of %s: %w", kind, err)
	}
	if stats.Loss.Lost() {
		return lossOpen{stats.Loss}
	}
	if report.TurnsIn(stats.Notes).Last(time.Now()) {
		return report.ErrSeveralClusters
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
		x.compared.set(kind, false)
	}
}

// lossOpen is report.ErrLossOpen with the time of the loss.
type lossOpen struct{ report.Loss }

func (e lossOpen) Error() string {
	return fmt.Sprintf("changes that were acknowledged %s may be missing: %v", e.Span(), report.ErrLossOpen)
}

func (lossOpen) Unwrap() error { return report.ErrLossOpen }
