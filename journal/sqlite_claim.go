package journal

import (
	"context"
	"fmt"
	"math"

	"riskdex/report"
)

// Claim implements Journal.
func (j *SQLite) Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var t taking
		err := j.read(func(e *engine) (err error) {
			t, err = j.take(e, kind, maxChanges, maxBytes)
			return err
		})
		for _, d := range t.damaged {
			if d.unreadable != nil {
				j.opt.Log.Error("the journal cannot read a document; restore a backup", "kind", d.Kind, "id", d.ID, "version", d.Version, "error", d.unreadable)
				continue
			}
			j.setAsideDamaged(ctx, d.Key, d.Version)
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
	damaged []document // claimed, too
	missed  bool       // a candidate was not taken after all, because others changed it meanwhile
}

// budget is how many bytes may still be taken. The first document fits always.
type budget struct {
	left  int64
	taken int
}

func (b *budget) limit() int64 {
	if b.taken == 0 {
		return math.MaxInt64
	}
	return b.left
}

func (b *budget) take(n int64) {
	b.left -= n
	b.taken++
}

// take reads what may be claimed while the writer goes on, then stops commits for
// a moment, reads again what was committed meanwhile, and decides.
func (j *SQLite) take(e *engine, kind report.Kind, maxChanges, maxBytes int) (t taking, err error) {
	c := j.claims
	if c.isQuiet(kind) {
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
	if err := c.flush.wait(); err != nil { // what is not durable is nobody's business yet
		return t, err
	}
	t, err = j.decide(e, documents, budget{left: int64(maxBytes)})
	c.count(kind, t.changes)
	return t, err
}

// readFree reads what may be claimed. The caller holds claims.reading.
func (j *SQLite) readFree(e *engine, kind report.Kind, maxChanges, maxBytes int) ([]document, error) {
	c, now := j.claims, j.opt.Now()
	keys, err := e.candidates(kind, maxChanges, c.since[kind], func(k report.Key) bool { return c.free(k, now) })
	if err != nil {
		return nil, err
	}
	return e.readAll(keys, budget{left: int64(maxBytes)})
}

// decide claims those documents that may still be given out. The caller holds
// claims.commit, so that nothing changes any more.
func (j *SQLite) decide(e *engine, documents []document, b budget) (taking, error) {
	var t taking
	for _, d := range documents {
		touched := j.claims.touchedSinceBegin(d.Key)
		if touched {
			again, err := e.read(d.Key, b.limit())
			if err != nil && len(t.changes) == 0 {
				return t, err
			}
			if err != nil {
				return t, nil // what is claimed so far must reach the caller
			}
			d = again
		}
		if touched && (!d.waits || d.size > b.limit() || !j.claims.free(d.Key, j.opt.Now())) {
			t.missed = true
			continue
		}
		j.claims.hold(d.Key, claim{version: d.Version, doc: d.doc, state: d.state})
		if d.damaged {
			t.damaged = append(t.damaged, d)
			continue
		}
		b.take(d.size)
		t.changes = append(t.changes, d.Change)
	}
	return t, nil
}
