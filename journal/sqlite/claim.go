package sqlite

import (
	"context"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Claim implements Journal.
func (j *Journal) Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var t taking
		err := j.read(func(e *engine) (err error) {
			t, err = j.claim(e, kind, maxChanges, maxBytes)
			return err
		})
		for _, d := range t.damaged {
			if d.unreadable != nil {
				j.opt.Log.Error("the journal cannot read a document; restore a backup", "kind", d.Kind, "id", d.ID, "version", d.Version, "error", d.unreadable)
				continue
			}
			commit.SetAsideDamaged(ctx, j.queue, j.opt.Log, d.Key, d.Version)
		}
		if err != nil {
			return nil, fmt.Errorf("claim %s from the journal: %w", kind, err)
		}
		if len(t.changes) > 0 || !t.missed && len(t.damaged) == 0 {
			return t.changes, nil
		}
	}
}

// taking is the result of one attempt to claim.
type taking struct {
	changes []report.Change
	damaged []document // claimed as well, until they are set aside or delivered again
	missed  bool       // a candidate was not taken after all, because others changed it meanwhile
}

// claim reads what may be claimed while the writer goes on, then stops commits for
// a moment, reads again what was committed meanwhile, and decides.
func (j *Journal) claim(e *engine, kind report.Kind, maxChanges, maxBytes int) (t taking, err error) {
	c := j.claims
	if c.isIdle(kind) {
		return t, nil
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	var documents []document
	c.begin(kind)
	defer func() { c.end(err == nil && len(documents) == 0 && maxChanges > 0) }()

	err = e.inSnapshot(func() (err error) {
		documents, err = j.readFree(e, kind, maxChanges, maxBytes)
		return err
	})
	if err != nil {
		return t, err
	}

	c.commit.Lock()
	defer c.commit.Unlock()
	if err := c.flush.wait(); err != nil { // what is not durable must not be given out
		return t, err
	}
	t, err = j.decide(e, documents, commit.NewBudget(int64(maxBytes)))
	c.order.Gave(kind, t.changes)
	return t, err
}

// readFree reads what may be claimed. The caller holds claims.reading.
func (j *Journal) readFree(e *engine, kind report.Kind, maxChanges, maxBytes int) ([]document, error) {
	c, now := j.claims, j.opt.Now()
	keys, err := e.candidates(kind, maxChanges, c.order.Next(kind), func(k report.Key) bool { return c.free(k, now) })
	if err != nil {
		return nil, err
	}
	return e.readAll(keys, commit.NewBudget(int64(maxBytes)))
}

// decide claims those documents that may still be given out. The caller holds
// claims.commit, so that nothing changes any more.
func (j *Journal) decide(e *engine, documents []document, b commit.Budget) (taking, error) {
	var t taking
	for _, d := range documents {
		touched, changed := j.claims.touchedSinceBegin(d.Key), false
		if touched {
			again, err := e.read(d.Key, b.Limit())
			if err != nil && len(t.changes) == 0 {
				return t, err
			}
			if err != nil {
				return t, nil // what is claimed so far must reach the caller
			}
			changed = again.Resent != d.Resent
			d = again
		}
		// A damaged index may list a document twice, so that it is no longer free.
		if !d.damaged && j.claims.isHeld(d.Version) || touched && (!d.waits || changed || d.size > b.Limit()) || !j.claims.free(d.Key, j.opt.Now()) {
			t.missed = true
			continue
		}
		if d.damaged {
			j.claims.add(d.Key, commit.Claim{Version: d.Version})
			t.damaged = append(t.damaged, d)
			continue
		}
		j.claims.add(d.Key, commit.Claim{Version: d.Version, Doc: d.doc, State: d.state, Op: d.Op})
		b.Take(d.size)
		t.changes = append(t.changes, d.Change)
	}
	return t, nil
}
