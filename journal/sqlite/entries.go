package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// lookupChunk is how many ids are looked up by one statement.
const lookupChunk = 500

// Entries implements Journal.
func (j *Journal) Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	var list []report.Entry
	err := j.read(func(e *engine) (err error) {
		list, err = entries(ctx, e.readers, kind, `SELECT id, version, op, state FROM documents
			WHERE kind = ? AND id > ? ORDER BY id LIMIT ?`, string(kind), string(after), max(limit, 0))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the %s in the journal after %q: %w", kind, after, err)
	}
	return list, nil
}

// Lookup implements Journal.
func (j *Journal) Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	var list []report.Entry
	err := j.read(func(e *engine) error {
		for chunk := range slices.Chunk(ids, lookupChunk) {
			args := []any{string(kind)}
			for _, id := range chunk {
				args = append(args, string(id))
			}
			found, err := entries(ctx, e.readers, kind, `SELECT id, version, op, state FROM documents
				WHERE kind = ? AND id IN (?`+strings.Repeat(", ?", len(chunk)-1)+`)`, args...)
			if err != nil {
				return err
			}
			list = append(list, found...)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up %d %s in the journal: %w", len(ids), kind, err)
	}
	return list, nil
}

// querier is a connection, or all that are for reading.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func entries(ctx context.Context, q querier, kind report.Kind, query string, args ...any) ([]report.Entry, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []report.Entry
	for rows.Next() {
		e, err := scanEntry(rows, kind)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, rows.Err()
}

func scanEntry(rows *sql.Rows, kind report.Kind) (report.Entry, error) {
	var id, op looseText
	var version, state looseInt
	err := rows.Scan(&id, &version, &op, &state)
	return report.Entry{
		Stamp: report.Stamp{Key: report.Key{Kind: kind, ID: report.ID(id)}, Version: report.Version(version)},
		Op:    report.Op(op), State: commit.StateName(int64(state)),
	}, err
}
