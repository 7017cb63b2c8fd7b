package tables

import (
	"database/sql"
	"encoding/json"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// StatsQuery returns the statement that ReadStats reads, with more columns at the end. It is one, for one
// moment. It is asked all the time, also while nothing else is going on.
func StatsQuery(e Engine, more ...string) string {
	var kinds []string
	for _, k := range report.AllKinds() {
		kinds = append(kinds, "('"+string(k)+"')")
	}
	// That it is not settled is said for SQLite, which would not use the index otherwise.
	const of = ` FROM documents WHERE documents.kind = k.column1 AND state <> {done} AND state = `
	return commit.SQL(strings.Join(append([]string{
		`SELECT k.column1`, TotalsFields(&commit.Totals{}).List("coalesce(t.@, 0)"),
		`(SELECT waiting_since` + of + `{pending} ORDER BY waiting_since LIMIT 1)`,
		`(SELECT waiting_since` + of + `{pending} ORDER BY waiting_since DESC LIMIT 1)`,
		`(SELECT count(*)` + of + `{dropped})`,
		`(SELECT count(DISTINCT id) FROM refusals WHERE refusals.kind = k.column1 AND id <> '')`,
		`(SELECT count(*) FROM refusals)`,
		`coalesce((SELECT at FROM history ORDER BY version LIMIT 1), 0)`,
		`coalesce((SELECT ` + e.object() + `(substr(name, length('` + commit.NotePrefix + `') + 1), value)` + commit.IsNote + `), '{}')`,
		commit.LossColumns,
	}, more...), ", ") + ` FROM (VALUES ` + strings.Join(kinds, ", ") + `) AS k LEFT JOIN (` + SumTotals + `) AS t ON t.kind = k.column1`)
}

// ReadStats reads the result of StatsQuery, with the values of further columns.
func ReadStats(rows *sql.Rows, err error, more ...any) (s report.Stats, _ error) {
	s.Kinds = map[report.Kind]report.KindStats{}
	var notes []byte
	err = ForRows(rows, err, func(scan func(...any) error) error {
		var k report.Kind
		var t commit.Totals
		var oldest, newest Int
		var kind report.KindStats
		var since int64
		var l commit.Loss
		targets := append([]any{&k}, TotalsFields(&t).Targets()...)
		targets = append(targets, &oldest, &newest, &kind.DroppedLetters, &kind.RefusedDocuments, &s.Refused, &since, &notes)
		if err := scan(append(append(targets, l.ScanTargets()...), more...)...); err != nil {
			return err
		}
		all := t.Stats()
		all.DroppedLetters, all.RefusedDocuments = kind.DroppedLetters, kind.RefusedDocuments
		if oldest != 0 {
			all.OldestWaiting, all.NewestWaiting = commit.FromMicro(int64(oldest)), commit.FromMicro(int64(newest))
		}
		if since > 0 {
			s.History.Since = commit.FromMicro(since)
		}
		s.Kinds[k], s.Loss = all, l.Report()
		return nil
	})
	if err == nil {
		err = json.Unmarshal(notes, &s.Notes)
	}
	return s, err
}
