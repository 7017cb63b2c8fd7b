package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

var deliveredQueries = commit.NewDeliveredQueries("documents AS d WHERE d.kind IN "+commit.ContentKinds()+" AND d.origin <> 0", "d.origin")

// Delivered implements Journal.
func (j *Journal) Delivered(ctx context.Context, name report.DeliveryName, after report.Version, limit int) (page report.DeliveredPage, err error) {
	err = j.inSnapshot(ctx, func(tx *sql.Tx) error {
		args := commit.DeliveredArgs(name, after, limit)
		err := tx.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE name = 'last_version'), (SELECT max(dropped_version) FROM totals)`).Scan(&page.Newest, &page.Dropped)
		if err == nil {
			err = tx.QueryRowContext(ctx, deliveredQueries.Count, args[:4]...).Scan(&page.Total, &page.Retried, &page.Replaced)
		}
		if err != nil {
			return nonsense(err)
		}
		var newest, replaced []report.Delivered
		rows, err := tx.QueryContext(ctx, deliveredQueries.Newest, args...)
		err = forRows(rows, err, func(scan func(...any) error) error {
			var given, retried, version, state, ended looseInt
			var kind, id, op, errorType, reason looseText
			err := scan(&given, &retried, &kind, &id, &version, &op, &state, &ended, &errorType, &reason)
			newest = append(newest, report.Delivered{
				Key: report.Key{Kind: report.Kind(kind), ID: report.ID(id)}, Given: report.Version(given), Version: report.Version(version),
				Op: report.Op(op), State: commit.StateName(int64(state)), EndedAt: commit.FromMicro(int64(ended)), ErrorType: string(errorType), Reason: string(reason), Retried: retried != 0,
			})
			return err
		})
		if err != nil {
			return err
		}
		rows, err = tx.QueryContext(ctx, deliveredQueries.Replaced, args...)
		err = forRows(rows, err, func(scan func(...any) error) error {
			var given, by, at, state, ended looseInt
			var kind, id, op looseText
			err := scan(&given, &kind, &id, &op, &by, &at, &state, &ended)
			replaced = append(replaced, commit.ReplacedDocument(report.Key{Kind: report.Kind(kind), ID: report.ID(id)},
				report.Version(given), report.Op(op), report.Version(by), int64(at), int64(state), int64(ended)))
			return err
		})
		page.Documents = commit.JoinDelivered(newest, replaced, limit)
		return err
	})
	if err != nil {
		return report.DeliveredPage{}, fmt.Errorf("look up the delivery %s in the journal: %w", name, err)
	}
	return page, nil
}
