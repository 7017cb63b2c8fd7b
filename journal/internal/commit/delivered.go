package commit

import (
	"cmp"
	"slices"
	"strings"

	"riskdex/report"
)

// DeliveredQueries are the statements that look up a delivery. Their arguments are the versions
// $1 to $2 of the delivery and -$2 to -$1, which stand for its refusals (see retryOrigin). Newest
// and Replaced return rows after the version $5, up to $6 of them.
type DeliveredQueries struct {
	Count    string // documents whose newest content it brought, then those from its refusals, then those in the history
	Newest   string // given, retried, kind, id, version, op, state, ended_at, error_type, reason
	Replaced string // given, kind, id, op, and of what replaced it: version, at, old_state, old_ended
}

// ContentKinds returns the kinds of content as a list in SQL.
func ContentKinds() string {
	var names []string
	for _, k := range report.Kinds() {
		names = append(names, "'"+string(k)+"'")
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// NewDeliveredQueries returns the statements of an engine. renumbered selects, from documents AS
// d, those that have an origin; origin is the expression for it.
func NewDeliveredQueries(renumbered, origin string) DeliveredQueries {
	newest := strings.NewReplacer("@renumbered", renumbered, "@origin", origin, "@kinds", ContentKinds(), "@columns", "d.kind, d.id, d.version, d.op, d.state, d.ended_at, d.error_type, d.reason").Replace(
		`(SELECT d.version AS given, 0 AS retried, @columns FROM documents AS d WHERE d.kind IN @kinds AND d.version BETWEEN $1 AND $2
			UNION ALL SELECT @origin, 0, @columns FROM @renumbered AND @origin BETWEEN $1 AND $2 AND d.version > $2
			UNION ALL SELECT -@origin, 1, @columns FROM @renumbered AND @origin BETWEEN $3 AND $4) AS delivered`)
	replaced := `h.version BETWEEN $1 AND $2 AND h.version NOT IN (SELECT given FROM ` + newest + `)`
	return DeliveredQueries{
		Count:  `SELECT count(*) FILTER (WHERE retried = 0), count(*) FILTER (WHERE retried = 1), (SELECT count(*) FROM history AS h WHERE ` + replaced + `) FROM ` + newest,
		Newest: `SELECT given, retried, kind, id, version, op, state, ended_at, error_type, reason FROM ` + newest + ` WHERE given > $5 ORDER BY given LIMIT $6`,
		// The next row has the fate of this version, if it replaced this version.
		Replaced: `SELECT h.version, h.kind, h.id, h.op, coalesce(n.version, 0), coalesce(n.at, 0), coalesce(n.old_state, 0), coalesce(n.old_ended, 0)
			FROM history AS h LEFT JOIN history AS n ON n.old_at = h.at AND n.old_op = h.op AND n.old_version >= h.version
				AND n.version = (SELECT min(version) FROM history WHERE kind = h.kind AND id = h.id AND version > h.version)
			WHERE ` + replaced + ` AND h.version > $5 ORDER BY h.version LIMIT $6`,
	}
}

// DeliveredArgs returns the arguments of the statements. Count takes all but the last two.
func DeliveredArgs(name report.DeliveryName, after report.Version, limit int) []any {
	return []any{int64(name.First), int64(name.Last), -int64(name.Last), -int64(name.First), int64(after), limit}
}

// ReplacedDocument returns the document in a row of [DeliveredQueries.Replaced].
func ReplacedDocument(key report.Key, given report.Version, op report.Op, by report.Version, at, state, ended int64) report.Delivered {
	d := report.Delivered{Key: key, Given: given, Version: given, Op: op, Replaced: true, ReplacedBy: by}
	if by != 0 {
		d.State, d.ReplacedAt = StateName(state), FromMicro(at)
	}
	d.SearchableAt = fromMicro(reachedAt(state, ended))
	return d
}

// JoinDelivered merges both lists in the order of versions, and returns the first documents, up
// to limit.
func JoinDelivered(newest, replaced []report.Delivered, limit int) []report.Delivered {
	all := slices.Concat(newest, replaced)
	slices.SortFunc(all, func(a, b report.Delivered) int { return cmp.Compare(a.Given, b.Given) })
	return all[:min(len(all), limit)]
}
