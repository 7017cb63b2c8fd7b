package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

const documentQuery = `SELECT d.kind, d.id, d.version, d.op, d.code, d.accepted_at, d.crc, d.body, d.state, d.kept,
	d.waiting_since, d.ended_at, d.error_type, d.reason
	FROM documents AS d WHERE d.kind = ?1 AND d.id = ?2`

// Document implements Journal.
func (j *Journal) Document(ctx context.Context, kind report.Kind, name report.ID) (d report.Document, err error) {
	err = j.inSnapshot(ctx, func(tx *sql.Tx) error {
		d, err = commit.Named(lookup{ctx, tx}, kind, name)
		if err != nil || !d.By.Known() {
			return err
		}
		if err := tryMemory(ctx, tx, bodyLength, string(d.Kind), string(d.ID)); err != nil {
			return err
		}
		return readDocument(tx.QueryRowContext(ctx, documentQuery, string(d.Kind), string(d.ID)), &d)
	})
	if err != nil {
		return report.Document{}, fmt.Errorf("look up %s %q in the journal: %w", kind, name, err)
	}
	return d, nil
}

// readDocument reads the row of the document that d names.
func readDocument(row *sql.Row, d *report.Document) error {
	var waiting, ended looseInt
	var errorType, reason looseText
	r, err := scanRecord(func(into ...any) error {
		return row.Scan(append(into, &waiting, &ended, &errorType, &reason)...)
	}, d.Kind)
	if isCorrupt(err) {
		d.State, d.Lost = report.StateDead, report.LostDamaged
		return nil
	}
	if err != nil {
		return err
	}
	r.ID = d.ID
	commit.Describe(d, r.Record, r.state, int64(waiting), int64(ended), string(errorType), string(reason))
	return nil
}

// lookup implements commit.Lookup in a transaction that reads.
type lookup struct {
	ctx context.Context
	tx  *sql.Tx
}

func (l lookup) Find(k report.Key) (*commit.Row, error) {
	r, err := scanRow(l.tx.QueryRowContext(l.ctx, findQuery, string(k.Kind), string(k.ID)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Key = k
	return r, nil
}

func (l lookup) WithCode(code string, op report.Op, most int) ([]report.ID, error) {
	return idsOf(l.tx.QueryContext(l.ctx, byCodeQuery, string(report.Cities), code, string(op), most))
}
