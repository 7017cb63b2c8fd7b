package journal

import (
	"context"
	"fmt"

	"riskdex/report"
)

// countQuery counts the documents of a kind that are not deleted, from an index alone: rows
// of all sizes need not be read. The placeholder is of the engine.
func countQuery(placeholder string) string {
	return `SELECT (SELECT count(*) FROM documents WHERE kind = ` + placeholder + `) -
		coalesce((SELECT sum(tombstones) FROM totals WHERE kind = ` + placeholder + `), 0)`
}

// Documents implements Journal.
func (j *SQLite) Documents(ctx context.Context, kind report.Kind) (n int, err error) {
	if err := report.CheckKind(kind); err != nil {
		return 0, err
	}
	err = j.read(func(e *engine) error {
		return e.readers.QueryRowContext(ctx, countQuery("?1"), string(kind)).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("count the %s in the journal: %w", kind, err)
	}
	return n, nil
}

// Documents implements Journal.
func (j *Postgres) Documents(ctx context.Context, kind report.Kind) (n int, err error) {
	if err := report.CheckKind(kind); err != nil {
		return 0, err
	}
	err = j.read("count the "+string(kind)+" in the journal", func() error {
		return j.pool.QueryRow(ctx, countQuery("$1"), string(kind)).Scan(&n)
	})
	return n, err
}
