package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Refusals implements Journal.
func (j *Journal) Refusals(ctx context.Context, before int64, limit int) (list []report.Refusal, err error) {
	if before == 0 {
		before = math.MaxInt64
	}
	err = j.read(func(e *engine) error {
		list, err = e.refusals(ctx, before, max(limit, 0))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the refusals kept in the journal: %w", err)
	}
	return list, nil
}

// Refusal implements Journal.
func (j *Journal) Refusal(ctx context.Context, seq int64) (r report.Refusal, err error) {
	err = j.inSnapshot(ctx, func(tx *sql.Tx) error {
		r, err = readRefusal(ctx, tx, seq)
		return err
	})
	if err != nil {
		return report.Refusal{}, fmt.Errorf("read the refusal %d in the journal: %w", seq, err)
	}
	return r, nil
}

const refusalColumns = `SELECT seq, at, kind, method, path, position, id, reason, detail, cut, coalesce(length(body), 0)`

func (e *engine) refusals(ctx context.Context, before int64, limit int) ([]report.Refusal, error) {
	rows, err := e.readers.QueryContext(ctx, refusalColumns+` FROM refusals WHERE seq < ? ORDER BY seq DESC LIMIT ?`, before, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []report.Refusal
	for rows.Next() {
		r, err := scanRefusal(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// readRefusal returns a refusal with its body. One whose checksum does not fit is
// returned without, as far as it can be trusted: what was sent is not known any more.
func readRefusal(ctx context.Context, tx *sql.Tx, seq int64) (report.Refusal, error) {
	if err := tryMemory(ctx, tx, `SELECT coalesce(length(body), 0) FROM refusals WHERE seq = ?`, seq); err != nil {
		return report.Refusal{}, err
	}
	var crc int64
	var body []byte
	row := tx.QueryRowContext(ctx, refusalColumns+`, crc, body FROM refusals WHERE seq = ?`, seq)
	r, err := scanRefusal(row.Scan, &crc, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, report.ErrNotFound
	case err != nil:
		return r, err
	}
	r.Body = body
	if uint32(crc) != commit.RefusalChecksum(r) {
		r.Body, r.Bytes, r.Cut = nil, 0, true
		r.Detail += commit.LostBody
	}
	return r, nil
}

// scanRefusal reads the columns of refusalColumns, and what follows them.
func scanRefusal(scan func(...any) error, more ...any) (r report.Refusal, err error) {
	var at int64
	err = scan(append([]any{&r.Seq, &at, &r.Kind, &r.Method, &r.Path, &r.Position, &r.ID, &r.Reason, &r.Detail, &r.Cut, &r.Bytes}, more...)...)
	r.At = time.UnixMicro(at).UTC()
	return r, err
}
