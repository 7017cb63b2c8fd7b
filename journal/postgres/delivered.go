package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

var deliveredQueries = commit.NewDeliveredQueries("documents AS d WHERE d.kind IN "+commit.ContentKinds()+" AND d.origin <> 0", "d.origin")

// Delivered implements Journal.
func (j *Journal) Delivered(ctx context.Context, name report.DeliveryName, after report.Version, limit int) (page report.DeliveredPage, err error) {
	err = j.read("look up the delivery "+name.String()+" in the journal", func() error {
		return j.inSnapshot(ctx, func(tx pgx.Tx) error {
			args := commit.DeliveredArgs(name, after, limit)
			err := tx.QueryRow(ctx, "SELECT (SELECT last_value FROM versions), (SELECT coalesce(max(dropped_version), 0) FROM totals)").Scan(&page.Newest, &page.Dropped)
			if err == nil {
				err = tx.QueryRow(ctx, deliveredQueries.Count, args[:4]...).Scan(&page.Total, &page.Retried, &page.Replaced)
			}
			if err != nil {
				return err
			}
			newest, err := delivered(ctx, tx, deliveredQueries.Newest, args, scanNewest)
			if err != nil {
				return err
			}
			replaced, err := delivered(ctx, tx, deliveredQueries.Replaced, args, scanReplaced)
			page.Documents = commit.JoinDelivered(newest, replaced, limit)
			return err
		})
	})
	if err != nil {
		return report.DeliveredPage{}, err
	}
	return page, nil
}

func delivered(ctx context.Context, tx pgx.Tx, query string, args []any, scan func(pgx.CollectableRow) (report.Delivered, error)) ([]report.Delivered, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

func scanNewest(r pgx.CollectableRow) (d report.Delivered, err error) {
	var kind, op string
	var id, errorType, reason []byte
	var state int16
	var retried int
	var ended int64
	err = r.Scan(&d.Given, &retried, &kind, &id, &d.Version, &op, &state, &ended, &errorType, &reason)
	d.EndedAt = commit.FromMicro(ended)
	d.Key, d.Op, d.State, d.Retried = report.Key{Kind: report.Kind(kind), ID: report.ID(id)}, report.Op(op), commit.StateName(int64(state)), retried != 0
	d.ErrorType, d.Reason = string(errorType), string(reason)
	return d, err
}

func scanReplaced(r pgx.CollectableRow) (report.Delivered, error) {
	var kind, op string
	var id []byte
	var given, by report.Version
	var at, state, ended int64
	err := r.Scan(&given, &kind, &id, &op, &by, &at, &state, &ended)
	return commit.ReplacedDocument(report.Key{Kind: report.Kind(kind), ID: report.ID(id)}, given, report.Op(op), by, at, state, ended), err
}
