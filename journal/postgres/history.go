package postgres

import (
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// keepPastRows adds rows to the history before documents is changed. The limit makes the planner look up
// each document, since it cannot know how few there are.
var keepPastRows = func() string {
	kept := pastColumns.without("old_form", "in_table", "body", "sum")
	return fmt.Sprintf(`INSERT INTO history (%s, old_form, old_body) SELECT %s,
		CASE WHEN n.sum <> sha256(d.body) THEN %d ELSE n.old_form END,
		CASE WHEN NOT n.in_table THEN n.body WHEN n.sum IS NULL OR n.sum <> sha256(d.body) THEN d.body END FROM %s
		LEFT JOIN LATERAL (SELECT body FROM documents WHERE n.in_table AND kind = n.kind AND id = n.id LIMIT 1) d ON true`,
		kept.names(), kept.list("n.@"), commit.FormRaw, pastColumns.table())
}()

var pastColumns = columns[commit.Entry]{
	{"version", "bigint", values(func(r *commit.Entry) int64 { return int64(r.Version) })},
	{"kind", "text", values(func(r *commit.Entry) string { return string(r.Key.Kind) })},
	{"id", "bytea", values(func(r *commit.Entry) []byte { return []byte(r.Key.ID) })},
	{"op", "text", values(func(r *commit.Entry) string { return string(r.Op) })},
	{"at", "bigint", values(func(r *commit.Entry) int64 { return r.At })},
	{"bytes", "bigint", values(func(r *commit.Entry) int64 { return r.Bytes })},
	{"sender", "bytea", values(func(r *commit.Entry) []byte { return []byte(r.Source.Sender) })},
	{"address", "bytea", values(func(r *commit.Entry) []byte { return []byte(r.Source.Address) })},
	{"call", "bytea", values(func(r *commit.Entry) []byte { return []byte(r.Source.Call) })},
	{"request", "bytea", values(func(r *commit.Entry) []byte { return []byte(r.Source.Request) })},
	{"old_version", "bigint", values(func(r *commit.Entry) int64 { return int64(r.Old.Version) })},
	{"old_op", "text", values(func(r *commit.Entry) string { return string(r.Old.Op) })},
	{"old_code", "bytea", values(func(r *commit.Entry) []byte { return []byte(r.Old.Code) })},
	{"old_at", "bigint", values(func(r *commit.Entry) int64 { return r.Old.At })},
	{"old_state", "smallint", values(func(r *commit.Entry) int16 { return int16(r.Old.State) })},
	{"old_ended", "bigint", values(func(r *commit.Entry) int64 { return r.Old.Ended })},
	{"old_crc", "bigint", values(func(r *commit.Entry) int64 { return r.Old.CRC })},
	{"old_bytes", "bigint", values(func(r *commit.Entry) int64 { return r.Old.Bytes })},
	{"old_form", "smallint", values(func(r *commit.Entry) int16 { return int16(r.Old.Form) })},
	{"body", "bytea", values(func(r *commit.Entry) []byte {
		if r.Of != nil {
			return nil
		}
		return r.Body
	})},
	{"in_table", "boolean", values(func(r *commit.Entry) bool { return r.Of != nil && r.Old.Form != commit.FormNone })},
	{"sum", "bytea", values(func(r *commit.Entry) []byte {
		if r.Of == nil || r.Old.Form != commit.FormSame {
			return nil
		}
		sum := sha256.Sum256(r.Body)
		return sum[:]
	})},
}

// queuePast writes what is to be added to the history. Unless this transaction has written a replaced body
// itself, the server copies and compresses it.
func queuePast(b *pgx.Batch, w commit.Writes) {
	if len(w.Past) > 0 {
		b.Queue(keepPastRows, pastColumns.arrays(w.Past)...)
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

// PastBytes implements commit.Store. Only one process drops at a time, since two would drop too much.
func (s *store) PastBytes() (bytes int64, may bool, err error) {
	if err = s.tx.QueryRow(s.ctx, "SELECT pg_try_advisory_xact_lock($1, $2)", s.keys.class, int32(lockHistory)).Scan(&may); err == nil {
		err = s.tx.QueryRow(s.ctx, "SELECT coalesce(sum(history_bytes), 0)::bigint FROM totals").Scan(&bytes)
	}
	for _, t := range s.ledger.Totals { // changes of this transaction so far
		bytes += t.HistoryBytes
	}
	return bytes, may, err
}
