package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

var deliveredRows = commit.DeliveredRows(`SELECT origin AS given, @ FROM documents AS d
	WHERE kind IN ('cities', 'advisories', 'special-reports') AND origin <> 0 AND origin BETWEEN $1 AND $2 AND version > $2`)

// Delivered implements Journal.
func (j *Journal) Delivered(ctx context.Context, name report.DeliveryName, after report.Version, limit int) (page report.DeliveredPage, err error) {
	err = j.read("look up the delivery "+name.String()+" in the journal", func() error {
		return j.inSnapshot(ctx, func(tx pgx.Tx) error {
			err := tx.QueryRow(ctx, `SELECT (SELECT last_value FROM versions), (SELECT coalesce(max(dropped_version), 0) FROM totals), (SELECT count(*) FROM `+deliveredRows+`)`,
				int64(name.First), int64(name.Last)).Scan(&page.Newest, &page.Dropped, &page.Total)
			if err != nil {
				return err
			}
			rows, err := tx.Query(ctx, `SELECT given, kind, id, version, op, state, error_type, reason FROM `+deliveredRows+` WHERE given > $3 ORDER BY given LIMIT $4`,
				int64(name.First), int64(name.Last), int64(after), limit)
			if err != nil {
				return err
			}
			page.Documents, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (d report.Delivered, err error) {
				var kind, op string
				var id, errorType, reason []byte
				var state int16
				err = r.Scan(&d.Given, &kind, &id, &d.Version, &op, &state, &errorType, &reason)
				d.Key, d.Op, d.State = report.Key{Kind: report.Kind(kind), ID: report.ID(id)}, report.Op(op), commit.StateName(int64(state))
				d.ErrorType, d.Reason = string(errorType), string(reason)
				return d, err
			})
			return err
		})
	})
	if err != nil {
		return report.DeliveredPage{}, err
	}
	return page, nil
}
