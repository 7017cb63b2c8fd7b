package tables

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

const refusalColumns = `seq, at, kind, method, path, position, id, reason, detail, cut, ` + Length

func scanRefusal(scan func(...any) error, more ...any) (r report.Refusal, err error) {
	err = scan(append([]any{
		&r.Seq, (*Micro)(&r.At), (*Text)(&r.Kind), (*Text)(&r.Method), (*Text)(&r.Path), &r.Position, (*Text)(&r.ID),
		(*Text)(&r.Reason), (*Text)(&r.Detail), (*Flag)(&r.Cut), &r.Bytes,
	}, more...)...)
	return r, err
}

// Refusals implements Journal.
func (r *Reader) Refusals(ctx context.Context, before int64, limit int) (all []report.Refusal, err error) {
	if before == 0 {
		before = math.MaxInt64
	}
	err = r.read(ctx, func(v view) error {
		all, err = list(v, func(scan func(...any) error) (report.Refusal, error) { return scanRefusal(scan) },
			`SELECT `+refusalColumns+` FROM refusals WHERE seq < $1 ORDER BY seq DESC LIMIT $2`, before, max(limit, 0))
		return err
	}, "read the refusals kept in the journal")
	return all, err
}

// Refusal implements Journal. One whose checksum does not fit is returned without its body, as far as it
// can be trusted: what was sent is not known any more.
func (r *Reader) Refusal(ctx context.Context, seq int64) (found report.Refusal, err error) {
	err = r.snapshot(ctx, func(v view) error {
		if err := v.tryMemory(`SELECT `+Length+` FROM refusals WHERE seq = $1`, seq); err != nil {
			return err
		}
		var crc Int
		var body Bytes
		found, err = scanRefusal(v.row(`SELECT `+refusalColumns+`, crc, body FROM refusals WHERE seq = $1`, seq).Scan, &crc, &body)
		if errors.Is(err, sql.ErrNoRows) {
			return report.ErrNotFound
		}
		found.Body = body
		if err == nil && uint32(crc) != commit.RefusalChecksum(found) {
			found.Body, found.Bytes, found.Cut = nil, 0, true
			found.Detail += commit.LostBody
		}
		return err
	}, "read the refusal %d in the journal", seq)
	if err != nil {
		return report.Refusal{}, err
	}
	return found, nil
}
