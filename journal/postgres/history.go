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
	inTable bool   // what it replaces is in documents, until queueRows
	body    []byte // of the version replaced, if that is kept and not in documents
	sum     []byte // of the new body, if the old one is in documents and has as many bytes
}

// reached is a version that reached the index after it was replaced.
type reached struct {
	key     report.Key
	version report.Version
	at      int64
}

// KeepPast implements commit.Store. Unless this transaction has written the replaced body
// itself, the server copies and compresses it.
func (s *store) KeepPast(c report.Change, by report.Source, old *commit.Row) (int64, error) {
	r := pastRow{HistoryRow: commit.HistoryRow{Key: c.Key, Version: c.Version, Op: c.Op, At: c.AcceptedAt.UnixMicro(), Bytes: int64(len(c.Body)), Source: by}}
	if p := s.of[old]; p != nil {
		r.Old = commit.Replaced{
			Version: p.Version, Op: p.Op, Code: p.Code, At: p.AcceptedAt, Ended: p.EndedAt,
			State: p.State, CRC: int64(p.CRC), Bytes: p.Bytes,
		}
		if p.WaitedAt < 0 {
			r.Old.Ended = p.WaitedAt
		}
		r.inTable = !p.fresh && !p.written
		alike := p.Bytes == int64(len(c.Body))
		switch {
		case p.Bytes == 0:
		case !r.inTable && alike && bytes.Equal(p.body, c.Body):
			r.Old.Form = commit.FormSame
		case !r.inTable:
			r.Old.Form, r.body = commit.FormRaw, p.body
		default:
			r.Old.Form = commit.FormRaw
			if alike {
				sum := sha256.Sum256(c.Body)
				r.sum = sum[:]
			}
		}
	}
	s.past = append(s.past, &r)
	size := int64(commit.HistoryRowBytes)
	if r.Old.Form == commit.FormRaw {
		size += r.Old.Bytes
	}
	if r.sum == nil { // keepAlikeRows counts the others
		t := s.ledger.Totals[c.Kind]
		t.History++
		t.HistoryBytes += size
		s.ledger.Totals[c.Kind] = t
	}
	return size, nil
}

// NoteReached implements commit.Store.
func (s *store) NoteReached(k report.Key, v report.Version, at int64) error {
	s.reached = append(s.reached, reached{k, v, at})
	return nil
}

// These statements add rows to the history before documents is changed. keepAlikeRows is for
// changes with as many bytes as what they replace: it leaves out a body that is equal, and so
// has to count the rows itself. The limit makes the planner look up each document, since it
// cannot know how few there are.
var (
	keepPastRows = keepRows("n.old_form", "CASE WHEN n.in_table THEN d.body ELSE n.body END")

	keepAlikeRows = fmt.Sprintf(`WITH kept AS (%s RETURNING kind, coalesce(length(old_body), 0) AS bytes)
		INSERT INTO totals AS t (slot, kind, history, history_bytes) SELECT $%d, kind, count(*), sum(bytes) + count(*) * %d FROM kept GROUP BY kind
		ON CONFLICT (slot, kind) DO UPDATE SET history = t.history + excluded.history, history_bytes = t.history_bytes + excluded.history_bytes`,
		keepRows("CASE WHEN n.sum = sha256(d.body) THEN 1 ELSE n.old_form END", "CASE WHEN n.sum <> sha256(d.body) THEN d.body END"),
		len(pastColumns)+1, commit.HistoryRowBytes)
)

// keepRows returns the statement with expressions for the form of what was replaced and its body.
func keepRows(form, body string) string {
	kept := pastColumns.without("old_form", "in_table", "body", "sum")
	return `INSERT INTO history (` + kept.names() + `, old_form, old_body) SELECT ` + kept.list("n.@") + `, ` + form + `, ` + body + ` FROM ` + pastColumns.table() + `
		LEFT JOIN LATERAL (SELECT body FROM documents WHERE n.in_table AND kind = n.kind AND id = n.id LIMIT 1) d ON true`
}

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
	var other, alike []*pastRow
	for _, r := range s.past {
		if r.sum == nil {
			other = append(other, r)
		} else {
			alike = append(alike, r)
		}
	}
	if len(other) > 0 {
		b.Queue(keepPastRows, pastColumns.arrays(other)...)
	}
	if len(alike) > 0 {
		b.Queue(keepAlikeRows, append(pastColumns.arrays(alike), int16(s.me%slots))...)
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

// DropPast implements commit.Store. Only one process does so at a time, since two would drop too
// much.
func (s *store) DropPast(before, most, over int64, limit int) (n int, err error) {
	var alone bool
	if err := s.tx.QueryRow(s.ctx, "SELECT pg_try_advisory_xact_lock($1, $2)", s.keys.class, int32(lockHistory)).Scan(&alone); err != nil || !alone {
		return 0, err
	}
	var excess int64
	if err := s.tx.QueryRow(s.ctx, "SELECT coalesce(sum(history_bytes), 0)::bigint - $1 FROM totals", most).Scan(&excess); err != nil {
		return 0, err
	}
	for _, t := range s.ledger.Totals { // changes of this transaction so far
		excess += t.HistoryBytes
	}
	excess = max(excess, over)
	rows, err := s.tx.Query(s.ctx, `WITH looked AS MATERIALIZED (
			SELECT version, at, coalesce(length(old_body), 0) + $4 AS size FROM history ORDER BY version LIMIT $3
		), summed AS (
			SELECT version, at, size, sum(size) OVER (ORDER BY version) AS until FROM looked
		), gone AS (
			DELETE FROM history h USING summed l WHERE h.version = l.version AND (l.at < $1 OR l.until - l.size < $2) RETURNING h.kind, l.size
		) SELECT kind, count(*), sum(size)::bigint FROM gone GROUP BY kind`, before, excess, limit, commit.HistoryRowBytes)
	if err != nil {
		return 0, err
	}
	var kind string
	var count, size int64
	_, err = pgx.ForEachRow(rows, []any{&kind, &count, &size}, func() error {
		t := s.ledger.Totals[report.Kind(kind)]
		t.History -= count
		t.HistoryBytes -= size
		t.HistoryDropped += count
		s.ledger.Totals[report.Kind(kind)] = t
		n += int(count)
		return nil
	})
	return n, err
}
