package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"riskdex/report"
)

// transaction is one group commit in the making. Its methods run on the writer's
// connection, each seeing what the earlier ones did.
type transaction struct {
	ctx     context.Context // never ends: half a transaction helps nobody
	st      *statements
	now     time.Time
	ledger  ledger                  // a copy, valid once committed
	touched map[report.Key]struct{} // documents whose row changed
	settled []settled
	wake    bool // changes may become claimable
}

func newTransaction(e *engine, now time.Time, l ledger) *transaction {
	return &transaction{
		ctx: context.Background(), st: &e.st, now: now, ledger: l.clone(),
		touched: map[report.Key]struct{}{},
	}
}

// row is what the journal has of a document, without its body.
type row struct {
	doc                  int64
	id                   report.ID
	version              report.Version
	op                   report.Op
	state                int64
	code                 string
	acceptedAt, waitedAt int64 // microseconds; waitedAt is since when it waits
}

// find returns the row of a document, or nil.
func (tx *transaction) find(k report.Key) (*row, error) {
	var r row
	var id, op, code looseText
	var version, state, accepted, waiting looseInt
	err := tx.st.find.QueryRowContext(tx.ctx, string(k.Kind), string(k.ID)).
		Scan(&r.doc, &id, &version, &op, &state, &code, &accepted, &waiting)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up %s %q: %w", k.Kind, k.ID, err)
	}
	r.id, r.op, r.code = report.ID(id), report.Op(op), string(code)
	r.version, r.state = report.Version(version), int64(state)
	r.acceptedAt, r.waitedAt = int64(accepted), int64(waiting)
	return &r, nil
}

// nextVersion is ahead of every version ever given out, and of the clock, so that
// a fresh journal is ahead of an index that outlived an older one.
func (tx *transaction) nextVersion() report.Version {
	tx.ledger.last = max(report.Version(tx.now.UnixMicro()), tx.ledger.last+1)
	return tx.ledger.last
}

// finish writes what changed of the ledger, so that it is committed together with
// the documents it speaks of.
func (tx *transaction) finish(before ledger) error {
	if tx.ledger.last != before.last {
		if _, err := tx.st.version.ExecContext(tx.ctx, int64(tx.ledger.last)); err != nil {
			return fmt.Errorf("keep the last version: %w", err)
		}
	}
	for k, t := range tx.ledger.totals {
		if t == before.totals[k] {
			continue
		}
		if _, err := tx.st.totals.ExecContext(tx.ctx, string(k), t.indexes, t.deletes, t.indexed, t.deleted,
			t.superseded, t.died, t.pending, t.resending, t.deadLetters); err != nil {
			return fmt.Errorf("keep the totals of %s: %w", k, err)
		}
	}
	return nil
}

// setSync chooses whether a commit waits for the disk.
func (e *engine) setSync(ctx context.Context, full bool) error {
	level := "NORMAL"
	if full {
		level = "FULL"
	}
	if level == e.synchronous {
		return nil
	}
	if _, err := e.write.ExecContext(ctx, "PRAGMA synchronous = "+level); err != nil {
		return fmt.Errorf("set synchronous = %s: %w", level, err)
	}
	e.synchronous = level
	return nil
}

// looseInt and looseText take any value of a column. A damaged record may hold
// one of another type; its checksum tells, and reading the others goes on.
type looseInt int64

func (n *looseInt) Scan(v any) error {
	i, _ := v.(int64)
	*n = looseInt(i)
	return nil
}

type looseText string

func (s *looseText) Scan(v any) error {
	t, _ := v.(string)
	*s = looseText(t)
	return nil
}
