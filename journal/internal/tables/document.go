package tables

import (
	"context"
	"database/sql"
	"errors"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Document implements Journal.
func (r *Reader) Document(ctx context.Context, kind report.Kind, name report.ID) (d report.Document, err error) {
	err = r.snapshot(ctx, func(v view) error {
		d, err = commit.Named(v, kind, name)
		if err != nil || !d.By.Known() {
			return err
		}
		k := d.Key
		if err := v.tryMemory(`SELECT `+Length+ofDocument, v.document(k)...); err != nil {
			return err
		}
		var waiting, ended Int
		var errorType, reason Text
		found, state, err := scanRecord(v.row(`SELECT `+recordColumns+`, waiting_since, ended_at, error_type, reason`+ofDocument, v.document(k)...).Scan, k,
			&waiting, &ended, &errorType, &reason)
		switch {
		case r.hooks.IsCorrupt(err):
			d.State, d.Lost = report.StateDead, report.LostDamaged
			return nil
		case err == nil:
			commit.Describe(&d, found, state, int64(waiting), int64(ended), string(errorType), string(reason))
		}
		return err
	}, "look up %s %q in the journal", kind, name)
	if err != nil {
		return report.Document{}, err
	}
	return d, nil
}

// Find implements commit.Lookup. It locks nothing.
func (v view) Find(k report.Key) (*commit.Row, error) {
	r := commit.Row{Key: k}
	f := RowFields(&r)[KeyFields:]
	err := v.row(`SELECT `+f.List("@")+ofDocument, v.document(k)...).Scan(f.Targets()...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &r, err
}

// WithCode implements commit.Lookup.
func (v view) WithCode(code string, op report.Op, most int) ([]report.ID, error) {
	return list(v, scanID, `SELECT id FROM documents WHERE kind = $1 AND code = $2 AND op = $3 AND {has code} ORDER BY id LIMIT $4`,
		string(report.Cities), v.engine.text(code), string(op), most)
}
