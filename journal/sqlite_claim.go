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
			j.setAsideDamaged(ctx, d)
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
func (j *SQLite) take(e *engine, kind report.Kind, maxChanges, maxBytes int) (taking, error) {
	c := j.claims
	c.reading.Lock()
	defer c.reading.Unlock()
	c.begin()
	defer c.end()

	keys, err := e.candidates(kind, maxChanges, c.since[kind], func(k report.Key) bool { return c.free(k, j.opt.Now()) })
	if err != nil {
		return taking{}, err
	}
	var documents []document
	b := budget{left: int64(maxBytes)}
	for _, k := range keys {
		d, err := e.read(k, b.limit())
		if err != nil {
			return taking{}, err
		}
		if d.size > b.limit() {
			break
		}
		b.take(d.size)
		documents = append(documents, d)
	}

	c.commit.Lock()
	defer c.commit.Unlock()
	t, err := j.decide(e, documents, budget{left: int64(maxBytes)})
	c.count(kind, t.changes)
	return t, err
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
		j.claims.hold(d.Key, d.Version)
		if d.damaged {
			t.damaged = append(t.damaged, d)
			continue
		}
		b.take(d.size)
		t.changes = append(t.changes, d.Change)
	}
	return t, nil
}

// setAsideDamaged makes a dead letter of a claimed record that cannot be trusted.
// If that fails, the record stays claimed until the next start, and so is not
// given out either.
func (j *SQLite) setAsideDamaged(ctx context.Context, d document) {
	log := j.opt.Log.With("kind", d.Kind, "id", d.ID, "version", d.Version)
	if d.unreadable != nil {
		log.Error("the journal cannot read a document; restore a backup", "error", d.unreadable)
		return
	}
	var ended bool
	err := j.queue.do(context.WithoutCancel(ctx), &request{run: func(tx *transaction) (err error) {
		ended, err = tx.setAsideDamaged(d.Key, d.Version)
		return err
	}})
	switch {
	case err != nil:
		log.Error("a record of the journal is damaged and could not be set aside", "error", err)
	case !ended:
		log.Error("a record of the journal is damaged beyond being set aside; have it delivered again")
	default:
		log.Error("a record of the journal is damaged and was set aside as a dead letter")
	}
}
