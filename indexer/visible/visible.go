// Package visible waits until a search shows what was delivered.
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
	// Searchable returns the state of ids as searches see it.
	Searchable(ctx context.Context, index string, ids []report.ID) (map[report.ID]elastic.Indexed, error)
}

// Waiter waits until searches show changes. Its methods may be called concurrently.
type Waiter struct {
	journal Journal
	index   Index
	alias   func(report.Kind) string
}

// New returns a waiter for changes of journal, which come into the index behind alias.
func New(journal Journal, index Index, alias func(report.Kind) string) *Waiter {
	return &Waiter{journal, index, alias}
}

// The pauses between two rounds. A round that takes long is followed by a pause as long, so
// that whoever waits leaves journal and index to others at least half of the time.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// batch is how many documents are looked up at once.
const batch = 1000

// Wait returns how many of stamps searches show, or show something newer of. It returns when
// all are shown, when none of the others will be without somebody who acts (dead letters), or
// when ctx ends. While journal or index cannot be asked, it goes on waiting. Deleted documents
// count as shown when searches no longer find them.
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
			still = append(append(still, waiting...), dead...) // a retry of a dead letter counts
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

// round returns those of stamps that searches do not show yet, and those that need somebody to
// act. The index is asked only for what the journal knows to be there.
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
		if e, ok := known[s.ID]; ok && (e.State != report.StatePending || e.Version > s.Version) {
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
		case !ok: // its tombstone is gone already
		case asked && have.Found && (have.Version == s.Version || have.Version >= e.Version): // what is between may be of before, where the journal has passed the index
		case asked && !have.Found && e.Op == report.Delete && e.State == report.StateSettled:
		case e.Refused():
			dead = append(dead, s)
		default:
			waiting = append(waiting, s)
		}
	}
	return waiting, dead
}
