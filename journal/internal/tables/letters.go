package tables

import (
	"context"
	"database/sql"
	"errors"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

const letterColumns = `id, version, op, code, accepted_at, ended_at, error_type, reason, ` + Length

func scanLetter(kind report.Kind, scan func(...any) error) (l report.DeadLetter, err error) {
	l.Kind = kind
	err = scan((*Text)(&l.ID), (*Int)(&l.Version), (*Text)(&l.Op), (*Text)(&l.Code), (*Micro)(&l.AcceptedAt),
		(*Micro)(&l.DeadAt), (*Text)(&l.ErrorType), (*Text)(&l.Reason), &l.Bytes)
	return l, err
}

// damagedLetter is a dead letter that cannot be read.
func damagedLetter(k report.Key) report.DeadLetter {
	return report.DeadLetter{Change: report.Change{Key: k}, ErrorType: report.ErrorTypeDamaged, Reason: commit.DamagedReason(k)}
}

// DeadLetters implements Journal.
func (r *Reader) DeadLetters(ctx context.Context, kind report.Kind, after report.ID, limit int) (all []report.DeadLetter, err error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	const what = "list the dead letters of %s in the journal after %q"
	const dead = ` FROM documents WHERE kind = $1 AND state = {dead} AND id > $2 ORDER BY id LIMIT $3`
	args := []any{string(kind), r.engine.text(string(after)), max(limit, 0)}
	err = r.read(ctx, func(v view) error {
		all, err = list(v, func(scan func(...any) error) (report.DeadLetter, error) { return scanLetter(kind, scan) }, `SELECT `+letterColumns+dead, args...)
		return err
	}, what, kind, after)
	if !r.hooks.IsCorrupt(err) {
		return all, err
	}
	err = r.snapshot(ctx, func(v view) error {
		keys, err := list(v, func(scan func(...any) error) (report.Key, error) {
			k := report.Key{Kind: kind}
			return k, scan((*Text)(&k.ID))
		}, `SELECT id`+dead, args...) // of an index
		if err == nil {
			all, err = oneByOne(v, letterColumns, keys, func(k report.Key, scan func(...any) error) (report.DeadLetter, error) {
				l, err := scanLetter(kind, scan)
				l.Key = k
				return l, err
			}, damagedLetter)
		}
		return err
	}, what, kind, after)
	return all, err
}

// DeadLetter implements Journal.
func (r *Reader) DeadLetter(ctx context.Context, k report.Key) (l report.DeadLetter, err error) {
	err = r.snapshot(ctx, func(v view) error {
		if err := commit.CheckKey(k); err != nil {
			return err
		}
		if err := v.tryMemory(`SELECT `+Length+ofDocument, v.document(k)...); err != nil {
			return err
		}
		var state Int
		var intact bool
		l.Change, intact, err = ScanContent(v.row(`SELECT `+ContentColumns+`, state, ended_at, error_type, reason, `+Length+ofDocument, v.document(k)...).Scan,
			&state, (*Micro)(&l.DeadAt), (*Text)(&l.ErrorType), (*Text)(&l.Reason), &l.Bytes)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && state != commit.StateDead:
			return report.ErrNotFound
		case r.hooks.IsCorrupt(err):
			l = damagedLetter(k)
			return nil
		case err == nil && (!intact || l.Key != k):
			l.Body, l.ErrorType, l.Reason = nil, report.ErrorTypeDamaged, commit.DamagedReason(k)
		}
		l.Key = k
		return err
	}, "read the dead letter of %s %q in the journal", k.Kind, k.ID)
	if err != nil {
		return report.DeadLetter{}, err
	}
	return l, nil
}
