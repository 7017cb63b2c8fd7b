package postgres

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// pastRow is a row to be added to the history.
type pastRow struct {
	commit.HistoryRow
	inTable bool   // the body of what it replaces is in documents, until queueRows
	body    []byte // of the version replaced, if that is kept and not in documents
	sum     []byte // of the new body, if the old one is in documents and probably the same
}

// reached is a version that reached the index after it was replaced.
type reached struct {
	key     report.Key
	version report.Version
	at      int64
}

// KeepPast implements commit.Store. Unless this transaction has written the replaced body
// itself, the server copies and compresses it.
func (s *store) KeepPast(r *commit.HistoryRow, body []byte, old *commit.Row) error {
	p := pastRow{HistoryRow: *r}
	s.past = append(s.past, &p)
	if old == nil {
		return nil
	}
	was := s.of[old]
	switch {
	case !was.fresh && !was.written:
		if p.inTable = r.Old.Form != commit.FormNone; r.Old.Form == commit.FormSame {
			sum := sha256.Sum256(body)
			p.sum = sum[:]
		}
	case r.Old.Form == commit.FormSame && !bytes.Equal(was.body, body):
		r.Old.Form, p.Old.Form, p.body = commit.FormRaw, commit.FormRaw, was.body
	case r.Old.Form == commit.FormRaw:
		p.body = was.body
	}
	return nil
}

// NoteReached implements commit.Store.
func (s *store) NoteReached(k report.Key, v report.Version, at int64) error {
	s.reached = append(s.reached, reached{k, v, at})
	return nil
}

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

var pastColumns = columns[pastRow]{
	{"version", "bigint", values(func(r *pastRow) int64 { return int64(r.Version) })},
	{"kind", "text", values(func(r *pastRow) string { return string(r.Key.Kind) })},
	{"id", "bytea", values(func(r *pastRow) []byte { return []byte(r.Key.ID) })},
	{"op", "text", values(func(r *pastRow) string { return string(r.Op) })},
	{"at", "bigint", values(func(r *pastRow) int64 { return r.At })},
	{"bytes", "bigint", values(func(r *pastRow) int64 { return r.Bytes })},
	{"sender", "bytea", values(func(r *pastRow) []byte { return []byte(r.Source.Sender) })},
	{"address", "bytea", values(func(r *pastRow) []byte { return []byte(r.Source.Address) })},
	{"call", "bytea", values(func(r *pastRow) []byte { return []byte(r.Source.Call) })},
	{"request", "bytea", values(func(r *pastRow) []byte { return []byte(r.Source.Request) })},
	{"old_version", "bigint", values(func(r *pastRow) int64 { return int64(r.Old.Version) })},
	{"old_op", "text", values(func(r *pastRow) string { return string(r.Old.Op) })},
	{"old_code", "bytea", values(func(r *pastRow) []byte { return []byte(r.Old.Code) })},
	{"old_at", "bigint", values(func(r *pastRow) int64 { return r.Old.At })},
	{"old_state", "smallint", values(func(r *pastRow) int16 { return int16(r.Old.State) })},
	{"old_ended", "bigint", values(func(r *pastRow) int64 { return r.Old.Ended })},
	{"old_crc", "bigint", values(func(r *pastRow) int64 { return r.Old.CRC })},
	{"old_bytes", "bigint", values(func(r *pastRow) int64 { return r.Old.Bytes })},
	{"old_form", "smallint", values(func(r *pastRow) int16 { return int16(r.Old.Form) })},
	{"body", "bytea", values(func(r *pastRow) []byte { return r.body })},
	{"in_table", "boolean", values(func(r *pastRow) bool { return r.inTable })},
	{"sum", "bytea", values(func(r *pastRow) []byte { return r.sum })},
}

// queuePast writes what is to be added to the history.
func (s *store) queuePast(b *pgx.Batch) {
	if len(s.past) > 0 {
		b.Queue(keepPastRows, pastColumns.arrays(s.past)...)
	}
	if len(s.reached) > 0 {
		var kind []string
		var id [][]byte
		var version, at []int64
		for _, r := range s.reached {
			kind, id, version, at = append(kind, string(r.key.Kind)), append(id, []byte(r.key.ID)), append(version, int64(r.version)), append(at, r.at)
		}
		b.Queue(commit.SQL(`UPDATE history h SET old_state = {done}, old_ended = n.at FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[]) AS n (kind, id, version, at)
			WHERE h.kind = n.kind AND h.id = n.id AND h.version > n.version AND h.old_version = n.version AND h.old_state = {pending}`), kind, id, version, at)
	}
	s.past, s.reached = nil, nil
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
