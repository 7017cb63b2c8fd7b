package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// DeadLetters implements Journal.
func (j *Journal) DeadLetters(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.DeadLetter, error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	var list []report.DeadLetter
	err := j.read(func(e *engine) (err error) {
		list, err = e.letters(ctx, kind, after, max(limit, 0))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the dead letters of %s in the journal after %q: %w", kind, after, err)
	}
	return list, nil
}

// DeadLetter implements Journal.
func (j *Journal) DeadLetter(ctx context.Context, key report.Key) (report.DeadLetter, error) {
	var l report.DeadLetter
	err := commit.CheckKey(key)
	if err == nil {
		err = j.inSnapshot(ctx, func(tx *sql.Tx) (err error) {
			l, err = readLetter(ctx, tx, key)
			return err
		})
	}
	if err != nil {
		return report.DeadLetter{}, fmt.Errorf("read the dead letter of %s %q in the journal: %w", key.Kind, key.ID, err)
	}
	return l, nil
}

// letters asks the index which documents are dead and then reads each by itself, so
// that one whose pages SQLite cannot follow does not hide the others.
func (e *engine) letters(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.DeadLetter, error) {
	tx, err := e.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	ids, err := deadIDs(ctx, tx, kind, after, limit)
	if err != nil {
		return nil, err
	}
	stmt, err := tx.PrepareContext(ctx, letterColumns+letterOf)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	var list []report.DeadLetter
	for _, id := range ids {
		key := report.Key{Kind: kind, ID: id}
		l, err := scanLetter(stmt.QueryRowContext(ctx, string(kind), string(id)), key)
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

func deadIDs(ctx context.Context, q querier, kind report.Kind, after report.ID, limit int) ([]report.ID, error) {
	return idsOf(q.QueryContext(ctx, commit.SQL(`SELECT id FROM documents
		WHERE kind = ? AND state = {dead} AND id > ? ORDER BY id LIMIT ?`), string(kind), string(after), limit))
}

// idsOf reads the only column that a query has found.
func idsOf(rows *sql.Rows, err error) ([]report.ID, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []report.ID
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, report.ID(id))
	}
	return ids, rows.Err()
}

const (
	letterColumns = `SELECT id, version, op, code, accepted_at, ended_at, error_type, reason, length(body)`
	letterOf      = ` FROM documents WHERE kind = ?1 AND id = ?2`
)

// readLetter returns a dead letter with its body, or without it if its checksum does
// not fit.
func readLetter(ctx context.Context, tx *sql.Tx, key report.Key) (report.DeadLetter, error) {
	if err := tryMemory(ctx, tx, bodyLength, string(key.Kind), string(key.ID)); err != nil {
		return report.DeadLetter{}, err
	}
	var kind looseText
	var state, crc looseInt
	var body []byte
	row := tx.QueryRowContext(ctx, letterColumns+`, kind, state, crc, body`+letterOf, string(key.Kind), string(key.ID))
	l, err := scanLetter(row, key, &kind, &state, &crc, &body)
	if errors.Is(err, sql.ErrNoRows) || err == nil && l.Version != 0 && state != commit.StateDead {
		return l, report.ErrNotFound
	}
	if err != nil || l.Version == 0 {
		return l, err
	}
	l.Body = body
	whole := l.Change
	whole.Kind = report.Kind(kind)
	if whole.Key != key || commit.Checksum(whole) != uint32(crc) {
		l.Body, l.ErrorType, l.Reason = nil, report.ErrorTypeDamaged, commit.DamagedReason(key)
	}
	return l, nil
}

// scanLetter reads the columns of letterColumns, and what follows them. What SQLite
// cannot read becomes a damaged dead letter without a version.
func scanLetter(row *sql.Row, key report.Key, more ...any) (report.DeadLetter, error) {
	var id, op, code, errorType, reason looseText
	var version, accepted, ended, size looseInt
	err := row.Scan(append([]any{&id, &version, &op, &code, &accepted, &ended, &errorType, &reason, &size}, more...)...)
	if isCorrupt(err) {
		return report.DeadLetter{Change: report.Change{Key: key}, ErrorType: report.ErrorTypeDamaged, Reason: commit.DamagedReason(key)}, nil
	}
	if err != nil {
		return report.DeadLetter{}, err
	}
	return report.DeadLetter{
		Change: report.Change{
			Key: key, Op: report.Op(op), Code: string(code),
			Version: report.Version(version), AcceptedAt: time.UnixMicro(int64(accepted)).UTC(),
		},
		Bytes: int(size), DeadAt: time.UnixMicro(int64(ended)).UTC(),
		ErrorType: string(errorType), Reason: string(reason),
	}, nil
}
