package indexer

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"riskdex/report"
)

// The address of Elasticsearch may lead to several clusters by turns, such as behind a balancer with
// the nodes of two. Each then has a part of what is settled. A place that answers again after another
// one did shows it. One that answers no more was moved away from, which is no trouble.

// turns has the places that have answered.
type turns struct {
	mu    sync.Mutex
	place string               // that answers now
	since time.Time            // when it first did
	last  map[string]time.Time // when each did last
}

// note notes that a place answered a request that was sent before. It reports whether another place
// did until now, and returns all places that answer by turns if this one does.
func (t *turns) note(place string, sent, now time.Time) (moved bool, byTurns []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.place != place && sent.Before(t.since) {
		return false, nil // the answer is late, and does not come after that of the other place
	}
	before, again := t.last[place]
	if t.last == nil {
		t.last = map[string]time.Time{}
	}
	t.last[place] = now
	if t.place == place {
		return false, nil
	}
	moved = t.place != ""
	t.place, t.since = place, now
	maps.DeleteFunc(t.last, func(_ string, at time.Time) bool { return now.Sub(at) >= report.TurnsLast })
	if again && now.Sub(before) < report.TurnsLast {
		byTurns = slices.Sorted(maps.Keys(t.last))
	}
	return moved, byTurns
}

// looks is how often a check asks where the address leads. A balancer that chooses by chance is then
// found out by the checks of all kinds together.
const looks = 3

// findPlace returns the place to which the address leads; empty if that cannot be told. If places
// answer by turns, it returns them, too. It fails if none answers.
func (x *Indexer) findPlace(ctx context.Context) (place string, byTurns []string, err error) {
	for range looks {
		sent := time.Now()
		found, failed := x.indices.Place(ctx)
		if failed != nil || found == "" {
			err = failed
			continue
		}
		place = found
		moved, all := x.turns.note(found, sent, time.Now())
		if moved {
			x.client.Reconnect() // open connections may lead to the other place
		}
		if all != nil {
			byTurns = all
		}
	}
	if place != "" {
		err = nil
	}
	return place, byTurns, err
}
