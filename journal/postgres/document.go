package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Document implements Journal.
func (j *Journal) Document(ctx context.Context, kind report.Kind, name report.ID) (d report.Document, err error) {
	err = j.read(fmt.Sprintf("look up %s %q in the journal", kind, name), func() error {
		return j.inSnapshot(ctx, func(tx pgx.Tx) error {
			d, err = commit.Named(lookup{ctx, tx}, kind, name)
			if err != nil || !d.By.Known() {
				return err
			}
			return readDocument(ctx, tx, &d)
		})
	})
	if err != nil {
		return report.Document{}, err
	}
	return d, nil
}

// readDocument reads the row of the document that d names.
func readDocument(ctx context.Context, tx pgx.Tx, d *report.Document) error {
	if err := tryMemory(ctx, tx, "SELECT coalesce(length(body), 0) FROM documents WHERE kind = $1 AND id = $2", string(d.Kind), []byte(d.ID)); err != nil {
		return err
	}
	var state int16
	var kept, waiting, ended int64
	var errorType, reason []byte
	c, intact, err := scanContent(tx.QueryRow(ctx, "SELECT "+contentColumns+", state, kept, waiting_since, ended_at, error_type, reason FROM documents WHERE kind = $1 AND id = $2",
		string(d.Kind), []byte(d.ID)), &state, &kept, &waiting, &ended, &errorType, &reason)
	if err != nil {
		return err
	}
	commit.Describe(d, commit.RecordOf(c, int64(state), intact, kept), int64(state), waiting, ended, string(errorType), string(reason))
	return nil
}

// lookup implements commit.Lookup in a transaction that reads, and locks nothing.
type lookup struct {
	ctx context.Context
	tx  pgx.Tx
}

func (l lookup) Find(k report.Key) (*commit.Row, error) {
	r := &commit.Row{Key: k}
	var op string
	var state int16
	var code []byte
	err := l.tx.QueryRow(l.ctx, "SELECT version, origin, op, state, code, kept, alone FROM documents WHERE kind = $1 AND id = $2", string(k.Kind), []byte(k.ID)).
		Scan(&r.Version, &r.Origin, &op, &state, &code, &r.Kept, &r.CodeOnly)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	r.Op, r.State, r.Code = report.Op(op), int64(state), string(code)
	return r, err
}

func (l lookup) WithCode(code string, op report.Op, most int) ([]report.ID, error) {
	if code == "" {
		return nil, nil
	}
	rows, err := l.tx.Query(l.ctx, "SELECT id FROM documents WHERE kind = $4 AND code = $1 AND code <> '' AND op = $2 AND kept <> -1 ORDER BY id LIMIT $3",
		[]byte(code), string(op), most, string(report.Cities))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (report.ID, error) {
		var id []byte
		err := r.Scan(&id)
		return report.ID(id), err
	})
}
