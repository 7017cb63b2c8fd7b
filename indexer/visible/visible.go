// Package visible waits until searches show what was delivered. It compares the newest versions
// in the journal with those that searches find in the index.
package visible

import (
	"context"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// Journal is the part of the journal that a Waiter needs.
type Journal interface {
	// Lookup returns the entries of those of ids that are known.
	Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error)
}

// Index is the part of Elasticsearch that a Waiter needs.
type Index interface {
	// Searchable returns what searches find of ids in an index.
	Searchable(ctx context.Context, index string, ids []report.ID) (map[report.ID]elastic.Indexed, error)
}

// Waiter waits until searches show changes. Its methods may be called concurrently.
type Waiter struct {
	journal Journal
	index   Index
	alias   func(report.Kind) string
}

// New returns a Waiter for changes in journal. The documents of a kind are searched in index
// under the name that alias returns.
func New(journal Journal, index Index, alias func(report.Kind) string) *Waiter {
	return &Waiter{journal, index, alias}
}

// Pauses between two rounds. A pause is at least as long as the round before it, so that a wait
// uses journal and index at most half of the time.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// batch is the largest number of documents in one lookup.
const batch = 1000

// Wait waits until searches show all of stamps, or something newer, and returns how many they
// show. It returns earlier when all others need somebody to act, or when
// ctx ends. A deleted document counts as shown when searches no longer find it. Errors of journal
// and index do not end the wait.
func (w *Waiter) Wait(ctx context.Context, kind report.Kind, stamps []report.Stamp) int {
	left, shown := slices.Clone(stamps), 0
	pauses := backoff.NewExponentialBackOff(backoff.WithInitialInterval(firstPause), backoff.WithMaxInterval(longestPause), backoff.WithMaxElapsedTime(0))
	for {
		began := time.Now()
		var still []report.Stamp
		hopeless := 0
		for some := range slices.Chunk(left, batch) {
			waiting, dead := w.round(ctx, kind, some)
			shown += len(some) - len(waiting) - len(dead)
			hopeless += len(dead)
			still = append(append(still, waiting...), dead...) // somebody may retry a dead letter
		}
		left = still
		if len(left) == hopeless {
			return shown
		}
		pause := time.NewTimer(max(pauses.NextBackOff(), time.Since(began)))
		select {
		case <-ctx.Done():
			pause.Stop()
			return shown
		case <-pause.C:
		}
	}
}

// round returns the stamps that searches do not show yet: those that need somebody to act, which are
// dead letters and what the journal knows nothing of, and the others. It asks the index for all but
// documents that, by the journal, cannot be in it yet.
func (w *Waiter) round(ctx context.Context, kind report.Kind, stamps []report.Stamp) (waiting, dead []report.Stamp) {
	ids := make([]report.ID, len(stamps))
	for i, s := range stamps {
		ids[i] = s.ID
	}
	slices.Sort(ids)
	entries, err := w.journal.Lookup(ctx, kind, slices.Compact(ids))
	if err != nil {
		return stamps, nil
	}
	known := make(map[report.ID]report.Entry, len(entries))
	for _, e := range entries {
		known[e.ID] = e
	}
	ids = ids[:0]
	for _, s := range stamps {
		if e, ok := known[s.ID]; !ok || e.State != report.StatePending || e.Version > s.Version {
			ids = append(ids, s.ID)
		}
	}
	var indexed map[report.ID]elastic.Indexed
	if len(ids) > 0 {
		slices.Sort(ids)
		if indexed, err = w.index.Searchable(ctx, w.alias(kind), slices.Compact(ids)); err != nil {
			return stamps, nil
		}
	}
	for _, s := range stamps {
		e, ok := known[s.ID]
		switch have, asked := indexed[s.ID]; {
		case !ok && !have.Found: // deleted, and its tombstone dropped
		case !ok: // nothing that waits deletes it
			dead = append(dead, s)
		// A version between the two may have older content: the index was ahead of the journal,
		// which then gave the change a version above it.
		case asked && have.Found && (have.Version == s.Version || have.Version >= e.Version):
		case asked && !have.Found && e.Op == report.Delete && e.State == report.StateSettled:
		case e.Refused():
			dead = append(dead, s)
		default:
			waiting = append(waiting, s)
		}
	}
	return waiting, dead
}
