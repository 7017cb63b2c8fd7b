package indexer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"riskdex/report"
)

// The address of Elasticsearch may lead to several clusters by turns, such as behind a balancer with
// the nodes of two. Each then has a part of what is settled. A place that answers again after another
// one did shows it. One that stopped answering was moved away from, which is not a trouble.
//
// Or processes with one journal have different addresses. The journal notes the place of each kind. A
// process that finds its note replaced, and is where it was, knows that another is elsewhere.

// turns has the places that have answered.
type turns struct {
	mu    sync.Mutex
	place string                 // that answers now
	since time.Time              // when it first did
	last  map[string]time.Time   // when each did last
	noted map[report.Kind]string // the place that this process has noted in the journal
}

// replaced returns the place at which this process is and the other one, if another process has replaced
// in the journal what this one has noted of a kind.
func (t *turns) replaced(kind report.Kind, place, inJournal string) (both []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.noted[kind] != place || inJournal == "" || inJournal == place {
		return nil
	}
	return slices.Sorted(slices.Values([]string{place, inJournal}))
}

// leave notes that the journal has the place of a kind.
func (t *turns) leave(kind report.Kind, place string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.noted == nil {
		t.noted = map[report.Kind]string{}
	}
	t.noted[kind] = place
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

// noteTurns notes in the journal, and logs, that places answer by turns.
func (x *Indexer) noteTurns(ctx context.Context, places []string) error {
	if ok, _ := x.warned.Allow(report.TurnsNote, time.Now()); ok {
		x.log.Error("the address of Elasticsearch, or those of several processes, lead to several clusters by turns", "clusters", places)
	}
	err := x.journal.Note(ctx, report.TurnsNote, report.Turns{At: time.Now(), Places: places}.Note())
	if err != nil {
		return fmt.Errorf("note that several clusters answer: %w", err)
	}
	return nil
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
