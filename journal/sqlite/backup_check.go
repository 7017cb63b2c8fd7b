package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

const recordQuery = `SELECT ` + tables.ContentColumns + ` FROM documents WHERE doc = ?1`

// check reads every page and every record of the copy.
func (b *backup) check(ctx context.Context) error {
	db, err := sql.Open("sqlite", dsn(b.partial)+"&mode=ro&immutable=1")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var answer string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&answer); err != nil {
		return restoreHint(err)
	}
	if answer != "ok" {
		b.report.Problem = answer
	}
	var total int64
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM documents`).Scan(&total); err != nil {
		return restoreHint(err)
	}
	one, err := db.PrepareContext(ctx, recordQuery)
	if err != nil {
		return err
	}
	defer one.Close()
	for after := int64(0); ; {
		docs, err := recordsAfter(ctx, db, after)
		if err != nil {
			return restoreHint(err)
		}
		if len(docs) == 0 {
			return nil
		}
		for _, doc := range docs {
			if err := b.checkRecord(ctx, one, doc); err != nil {
				return err
			}
		}
		after = docs[len(docs)-1]
		b.progress(report.BackupProgress{Checking: true, Done: b.report.Records, Total: total})
	}
}

// recordsAfter lists some records without reading them, so that a damaged record does not hide
// the next ones.
func recordsAfter(ctx context.Context, db *sql.DB, after int64) (docs []int64, err error) {
	rows, err := db.QueryContext(ctx, `SELECT doc FROM documents NOT INDEXED WHERE doc > ?1 ORDER BY doc LIMIT 1000`, after)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var doc int64
		if err := rows.Scan(&doc); err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, rows.Err()
}

func (b *backup) checkRecord(ctx context.Context, one *sql.Stmt, doc int64) error {
	c, intact, err := tables.ScanContent(one.QueryRowContext(ctx, doc).Scan)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b.report.Records++
	switch {
	case isCorrupt(err):
		c.ID = report.ID(fmt.Sprintf("(record %d cannot be read)", doc))
	case errors.Is(err, sql.ErrNoRows):
		c.ID = report.ID(fmt.Sprintf("(record %d cannot be found)", doc))
	case err != nil:
		return err
	case intact:
		b.newest = max(b.newest, c.AcceptedAt.UnixMicro())
		return nil
	}
	if b.report.Damaged++; len(b.report.Named) < commit.MaxNamed {
		b.report.Named = append(b.report.Named, c.Key)
	}
	return nil
}
