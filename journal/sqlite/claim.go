package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// tryClaim implements commit.Hooks.Claim.
func (j *Journal) tryClaim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) (t commit.Taking, err error) {
	if err := ctx.Err(); err != nil {
		return t, err
	}
	err = j.read(func(e *engine) (err error) {
		t, err = j.claim(e, kind, maxChanges, maxBytes)
		return err
	})
	return t, err
}

// claim reads what may be claimed while the writer goes on, then stops commits for
// a moment, reads again what was committed meanwhile, and decides.
func (j *Journal) claim(e *engine, kind report.Kind, maxChanges, maxBytes int) (t commit.Taking, err error) {
	c := j.claims
	if c.idle.IsIdle(kind) {
		return t, nil
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	var documents []document
	c.begin(kind)
	defer func() { c.end(kind, err == nil && len(documents) == 0 && maxChanges > 0) }()

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
	c.order.Gave(kind, t.Changes)
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
func (j *Journal) decide(e *engine, documents []document, b commit.Budget) (commit.Taking, error) {
	var t commit.Taking
	for _, d := range documents {
		touched, changed := j.claims.touchedSinceBegin(d.Key), false
		if touched {
			again, err := e.read(d.Key, b.Limit())
			if err != nil && len(t.Changes) == 0 {
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
			t.Missed = true
			continue
		}
		if d.damaged {
			j.claims.add(d.Key, commit.Claim{Version: d.Version})
			t.Damaged = append(t.Damaged, commit.Damaged{Stamp: report.Stamp{Key: d.Key, Version: d.Version}, Unreadable: d.unreadable})
			continue
		}
		j.claims.add(d.Key, commit.Claim{Version: d.Version, Doc: d.doc, State: d.state, Op: d.Op})
		b.Take(d.size)
		t.Changes = append(t.Changes, d.Change)
	}
	return t, nil
}

// inSnapshot has f read one state of the database. Otherwise every statement would ask for
// the newest state, which takes several system calls, and would drop its cached pages
// whenever the writer has committed.
func (e *engine) inSnapshot(f func() error) error {
	if _, err := e.claim.exec(`BEGIN`); err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	err := f()
	if _, end := e.claim.exec(`ROLLBACK`); err == nil && end != nil {
		err = fmt.Errorf("end to read: %w", end)
	}
	return err
}

// candidates returns the keys of up to limit documents that wait and are free, the one waiting longest
// first: those in the first of two states that has any. It reads the index only.
func (e *engine) candidates(kind report.Kind, limit int, states [2]int, free func(report.Key) bool) (keys []report.Key, err error) {
	for _, state := range states {
		err = e.claim.forRows(func(scan func(...any) error) error {
			k := report.Key{Kind: kind}
			if len(keys) >= limit {
				return commit.ErrEnough
			}
			err := scan(&k.ID)
			if free(k) {
				keys = append(keys, k)
			}
			return err
		}, waitingQuery, string(kind), state)
		if err != nil {
			return nil, fmt.Errorf("look for what waits: %w", err)
		}
		if len(keys) > 0 {
			break
		}
	}
	return keys, nil
}

const waitingQuery = `SELECT id FROM documents INDEXED BY documents_unsettled
	WHERE kind = ?1 AND state = ?2 AND state <> {done} AND version > ` + commit.HeldUntil + ` ORDER BY waiting_since, version`

// document is the newest change of a document as it was read. When its size is
// beyond the budget of the reading, its body was not read.
type document struct {
	report.Change
	doc     int64
	state   int64
	waits   bool  // as its state says
	size    int64 // of its body
	damaged bool  // its checksum does not fit, or it is not what the index says

	unreadable error // as in commit.Damaged
}

// documentColumns are what a document is read from. The parameter is the budget.
var documentColumns = strings.Replace(tables.ContentColumns, "body", "CASE WHEN length(body) <= ? THEN body END", 1) + `, doc, state, trace, length(body)`

var (
	documentQuery  = `SELECT ` + documentColumns + ` FROM documents WHERE kind = ? AND id = ?`
	documentsQuery = manyQuery(documentColumns)
)

// read returns a document that the index lists as waiting, and verifies it,
// unless its body is larger than budget.
func (e *engine) read(k report.Key, budget int64) (document, error) {
	d, err := scanDocument(e.claim.row(documentQuery, budget, string(k.Kind), string(k.ID)), k, budget)
	if errors.Is(err, sql.ErrNoRows) {
		return document{Change: report.Change{Key: k}, damaged: true}, nil
	}
	if isCorrupt(err) {
		return document{Change: report.Change{Key: k}, damaged: true, unreadable: err}, nil
	}
	if err != nil {
		return document{}, fmt.Errorf("read %s %q: %w", k.Kind, k.ID, err)
	}
	return d, nil
}

// readAll reads documents that the index lists as waiting, in the order of keys, up
// to the first that is beyond the budget.
func (e *engine) readAll(keys []report.Key, b commit.Budget) ([]document, error) {
	documents := make([]document, 0, len(keys))
	add := func(d document) bool {
		if d.size > b.Limit() {
			return false
		}
		b.Take(d.size)
		documents = append(documents, d)
		return true
	}
	for len(keys) > 0 {
		d, err := e.read(keys[0], b.Limit())
		if err != nil {
			return nil, err
		}
		if !add(d) {
			break
		}
		keys = keys[1:]
		n, enough := e.readMany(together(keys), b.Limit(), add)
		if enough {
			break
		}
		keys = keys[n:]
	}
	return documents, nil
}

// readMany calls add with documents, in the order of keys, until it returns false, and
// returns how many it took. It goes no further than to the first that cannot be read,
// and leaves that to read.
func (e *engine) readMany(keys []report.Key, budget int64, add func(document) bool) (n int, enough bool) {
	if len(keys) < fewAhead {
		return 0, false
	}
	rows, err := e.claim.rows(documentsQuery, manyArgs(keys, budget)...)
	if err != nil {
		return 0, false
	}
	defer rows.Close()
	for n < len(keys) && rows.Next() {
		var position int
		d, err := scanDocument(rows.Scan, keys[n], budget, &position)
		if err != nil || position != n {
			return n, false
		}
		if !add(d) {
			return n, true
		}
		n++
	}
	return n, false
}

// scanDocument reads documentColumns, and what comes before them.
func scanDocument(scan func(...any) error, k report.Key, budget int64, before ...any) (document, error) {
	var d document
	var intact bool
	var trace tables.Text
	var err error
	d.Change, intact, err = tables.ScanContent(func(into ...any) error { return scan(append(before, into...)...) },
		(*tables.Int)(&d.doc), (*tables.Int)(&d.state), &trace, (*tables.Int)(&d.size))
	if err != nil {
		return document{}, err
	}
	d.Trace = string(trace)
	d.waits, d.Resent = commit.Waits(d.state), d.state == commit.StateResend
	d.damaged = d.Key != k || !d.waits || d.size <= budget && !intact
	d.Key = k
	return d, nil
}
