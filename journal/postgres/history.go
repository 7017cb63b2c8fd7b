package postgres

import (
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// These add rows to the history before documents is changed. keepAlikeRows is for bodies that seem to be the
// same as what replaces them: it keeps one that is not, and counts it. The limit makes the planner look up each
// document, since it cannot know how few there are.
var (
	keepPastRows  = pastInto(`SELECT `+pastNames.List("n.@")+`, n.old_form AS old_form, CASE WHEN n.in_table THEN d.body ELSE n.body END AS old_body`) + pastFrom
	keepAlikeRows = fmt.Sprintf(`WITH r AS (SELECT %[1]s, CASE WHEN n.sum = sha256(d.body) THEN n.old_form ELSE %[2]d END AS old_form,
			CASE WHEN n.sum <> sha256(d.body) THEN d.body END AS old_body%[3]s), kept AS (%[4]s)
		INSERT INTO totals AS t (slot, kind, history_bytes) SELECT $%[5]d, kind, sum(old_bytes) FROM r WHERE old_form = %[2]d GROUP BY kind
		ON CONFLICT (slot, kind) DO UPDATE SET history_bytes = t.history_bytes + excluded.history_bytes`,
		pastNames.List("n.@"), commit.FormRaw, pastFrom, pastInto("SELECT "+pastNames.List("@")+", old_form, old_body FROM r"), len(pastNames)+5)

	pastNames = tables.PastFields(&commit.HistoryRow{})[:18] // all but old_form
	pastFrom  = ` FROM ` + unnest(pastFields(&commit.Entry{})) + `
		LEFT JOIN LATERAL (SELECT body FROM documents WHERE n.in_table AND kind = n.kind AND id = n.id LIMIT 1) d ON true`
)

func pastInto(rows string) string {
	return `INSERT INTO history (` + pastNames.List("@") + `, old_form, old_body) ` + rows
}

// pastFields are the columns of the history, and where its body comes from.
func pastFields(e *commit.Entry) tables.Fields {
	var body, sum []byte
	inTable := e.Of != nil && e.Old.Form != commit.FormNone
	if e.Of == nil {
		body = e.Body
	}
	if seemsSame(e) {
		is := sha256.Sum256(e.Body)
		sum = is[:]
	}
	return append(tables.PastFields(&e.HistoryRow), tables.Field{Name: "body", At: (*tables.Bytes)(&body)},
		tables.Field{Name: "in_table", At: (*tables.Flag)(&inTable)}, tables.Field{Name: "sum", At: (*tables.Bytes)(&sum)})
}

// seemsSame reports whether the body in the table seems to be that which replaces it.
func seemsSame(e *commit.Entry) bool { return e.Of != nil && e.Old.Form == commit.FormSame }

// queuePast writes what is to be added to the history. Unless this transaction has written a replaced body
// itself, the server copies and compresses it.
func queuePast(b *pgx.Batch, w commit.Writes, slot int16) {
	var past, alike []*commit.Entry
	for _, e := range w.Past {
		if seemsSame(e) {
			alike = append(alike, e)
		} else {
			past = append(past, e)
		}
	}
	if len(past) > 0 {
		b.Queue(keepPastRows, arrays(past, pastFields)...)
	}
	if len(alike) > 0 {
		b.Queue(keepAlikeRows, append(arrays(alike, pastFields), slot)...)
	}
	if len(w.Reached) > 0 {
		keys, versions, at := make([]report.Key, len(w.Reached)), make([]int64, len(w.Reached)), make([]int64, len(w.Reached))
		for i, r := range w.Reached {
			keys[i], versions[i], at[i] = r.Key, int64(r.Version), r.At
		}
		b.Queue(commit.SQL(`UPDATE history h SET old_state = {done}, old_ended = n.at FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[]) AS n (kind, id, version, at)
			WHERE h.kind = n.kind AND h.id = n.id AND h.version > n.version AND h.old_version = n.version AND h.old_state = {pending}`), append(lookupArgs(keys), versions, at)...)
	}
}

// MayDropPast implements commit.Store.
func (s *store) MayDropPast() (may bool, err error) {
	err = s.tx.QueryRow(s.ctx, "SELECT pg_try_advisory_xact_lock($1, $2)", s.keys.class, int32(lockHistory)).Scan(&may)
	return may, err
}
