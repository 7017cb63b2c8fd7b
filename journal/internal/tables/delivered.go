package tables

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// The statements that look up a delivery. Their arguments are the versions $1 to $2 of the delivery and
// -$2 to -$1, which stand for its refusals (commit.Row.Origin). deliveredNewest and deliveredReplaced
// return rows after the version $5, up to $6 of them.
var (
	newest = strings.NewReplacer("@kinds", contentKinds(), "@columns", "kind, id, version, op, state, ended_at, error_type, reason").Replace(
		`(SELECT version AS given, 0 AS retried, @columns FROM documents WHERE kind IN @kinds AND version BETWEEN $1 AND $2
			UNION ALL SELECT origin, 0, @columns FROM documents WHERE kind IN @kinds AND origin <> 0 AND origin BETWEEN $1 AND $2 AND version > $2
			UNION ALL SELECT -origin, 1, @columns FROM documents WHERE kind IN @kinds AND origin <> 0 AND origin BETWEEN $3 AND $4) AS delivered`)
	replaced = `h.version BETWEEN $1 AND $2 AND h.version NOT IN (SELECT given FROM ` + newest + `)`

	deliveredCount  = `SELECT count(*) FILTER (WHERE retried = 0), count(*) FILTER (WHERE retried = 1), (SELECT count(*) FROM history AS h WHERE ` + replaced + `) FROM ` + newest
	deliveredNewest = `SELECT given, retried, kind, id, version, op, state, ended_at, error_type, reason FROM ` + newest + ` WHERE given > $5 ORDER BY given LIMIT $6`
	// The next row has the fate of this version, if it replaced this version.
	deliveredReplaced = `SELECT h.version, h.kind, h.id, h.op, coalesce(n.version, 0), coalesce(n.at, 0), coalesce(n.old_state, 0), coalesce(n.old_ended, 0)
		FROM history AS h LEFT JOIN history AS n ON n.old_at = h.at AND n.old_op = h.op AND n.old_version >= h.version
			AND n.version = (SELECT min(version) FROM history WHERE kind = h.kind AND id = h.id AND version > h.version)
		WHERE ` + replaced + ` AND h.version > $5 ORDER BY h.version LIMIT $6`
)

// contentKinds returns the kinds of content as a list in SQL.
func contentKinds() string {
	var names []string
	for _, k := range report.Kinds() {
		names = append(names, "'"+string(k)+"'")
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// Delivered implements Journal.
func (r *Reader) Delivered(ctx context.Context, name report.DeliveryName, after report.Version, limit int) (page report.DeliveredPage, err error) {
	args := []any{int64(name.First), int64(name.Last), -int64(name.Last), -int64(name.First), int64(after), limit}
	err = r.snapshot(ctx, func(v view) error {
		err := v.row(`SELECT `+r.engine.lastVersion()+`, (SELECT coalesce(max(dropped_version), 0) FROM totals)`).Scan((*Int)(&page.Newest), (*Int)(&page.Dropped))
		if err == nil {
			err = v.row(deliveredCount, args[:4]...).Scan(&page.Total, &page.Retried, &page.Replaced)
		}
		if err != nil {
			return err
		}
		page.Documents, err = list(v, scanNewest, deliveredNewest, args...)
		if err != nil {
			return err
		}
		earlier, err := list(v, scanReplaced, deliveredReplaced, args...)
		page.Documents = append(page.Documents, earlier...)
		slices.SortFunc(page.Documents, func(a, b report.Delivered) int { return cmp.Compare(a.Given, b.Given) })
		page.Documents = page.Documents[:min(len(page.Documents), limit)]
		return err
	}, "look up the delivery %s in the journal", name)
	if err != nil {
		return report.DeliveredPage{}, err
	}
	return page, nil
}

func scanNewest(scan func(...any) error) (d report.Delivered, err error) {
	var state Int
	err = scan((*Int)(&d.Given), (*Flag)(&d.Retried), (*Text)(&d.Kind), (*Text)(&d.ID), (*Int)(&d.Version), (*Text)(&d.Op), &state,
		(*Micro)(&d.EndedAt), (*Text)(&d.ErrorType), (*Text)(&d.Reason))
	d.State = commit.StateName(int64(state))
	return d, err
}

func scanReplaced(scan func(...any) error) (report.Delivered, error) {
	d := report.Delivered{Replaced: true}
	var at, state, ended Int
	err := scan((*Int)(&d.Given), (*Text)(&d.Kind), (*Text)(&d.ID), (*Text)(&d.Op), (*Int)(&d.ReplacedBy), &at, &state, &ended)
	if d.Version = d.Given; d.ReplacedBy != 0 {
		d.State, d.ReplacedAt = commit.StateName(int64(state)), commit.FromMicro(int64(at))
	}
	d.SearchableAt = fromMicro(reachedAt(int64(state), int64(ended)))
	return d, err
}
