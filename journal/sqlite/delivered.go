package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

var deliveredRows = commit.DeliveredRows(`SELECT o.origin AS given, @ FROM origins AS o JOIN documents AS d ON d.doc = o.doc AND d.version = o.version
	WHERE o.origin BETWEEN $1 AND $2 AND d.version > $2`)

// Delivered implements Journal.
func (j *Journal) Delivered(ctx context.Context, name report.DeliveryName, after report.Version, limit int) (page report.DeliveredPage, err error) {
	err = j.inSnapshot(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE name = 'last_version'), (SELECT max(dropped_version) FROM totals), (SELECT count(*) FROM `+deliveredRows+`)`,
			int64(name.First), int64(name.Last)).Scan(&page.Newest, &page.Dropped, &page.Total); err != nil {
			return nonsense(err)
		}
		rows, err := tx.QueryContext(ctx, `SELECT given, kind, id, version, op, state, error_type, reason FROM `+deliveredRows+` WHERE given > $3 ORDER BY given LIMIT $4`, // #nosec G202 -- a constant
			int64(name.First), int64(name.Last), int64(after), limit)
		return forRows(rows, err, func(scan func(...any) error) error {
			var given, version, state looseInt
			var kind, id, op, errorType, reason looseText
			if err := scan(&given, &kind, &id, &version, &op, &state, &errorType, &reason); err != nil {
				return err
			}
			page.Documents = append(page.Documents, report.Delivered{
				Key: report.Key{Kind: report.Kind(kind), ID: report.ID(id)}, Given: report.Version(given), Version: report.Version(version),
				Op: report.Op(op), State: commit.StateName(int64(state)), ErrorType: string(errorType), Reason: string(reason),
			})
			return nil
		})
	})
	if err != nil {
		return report.DeliveredPage{}, fmt.Errorf("look up the delivery %s in the journal: %w", name, err)
	}
	return page, nil
}
