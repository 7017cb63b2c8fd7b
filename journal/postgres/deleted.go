package postgres

import (
	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Tombstones implements commit.Store.
func (s *store) Tombstones(kind report.Kind) (n int64, err error) {
	err = s.tx.QueryRow(s.ctx, "SELECT coalesce(sum(tombstones), 0)::bigint FROM totals WHERE kind = $1", string(kind)).Scan(&n)
	return n + s.ledger.Totals[kind].Tombstones, err
}

// DropDeleted implements commit.Store. What another process has locked is left for the next
// round.
func (s *store) DropDeleted(kind report.Kind, after commit.Cursor, before int64, limit int) (dropped []report.Version, next commit.Cursor, err error) {
	rows, err := s.tx.Query(s.ctx, commit.SQL(`WITH looked AS MATERIALIZED (
			SELECT id, accepted_at, ended_at, claimed FROM documents
			WHERE kind = $1 AND (accepted_at, id) > ($2, $3) AND accepted_at < $4 AND op = 'delete' AND state = {done}
			ORDER BY accepted_at, id LIMIT $5
		), old AS MATERIALIZED (
			SELECT d.id FROM documents d JOIN looked l USING (id)
			WHERE d.kind = $1 AND d.op = 'delete' AND d.state = {done} AND d.claimed = 0 AND d.ended_at < $4
			ORDER BY d.id FOR UPDATE OF d SKIP LOCKED
		), gone AS (
			DELETE FROM documents d USING old WHERE d.kind = $1 AND d.id = old.id RETURNING d.version
		)
		SELECT accepted_at, id, (SELECT count(*) FROM looked), (SELECT array_agg(version) FROM gone) FROM looked ORDER BY accepted_at DESC, id DESC LIMIT 1`),
		string(kind), after.AcceptedAt, []byte(after.ID), before, limit)
	if err != nil {
		return nil, commit.Cursor{}, err
	}
	var looked int
	var id []byte
	_, err = pgx.ForEachRow(rows, []any{&next.AcceptedAt, &id, &looked, &dropped}, func() error { return nil })
	s.grown[kind] -= documentBytes * int64(len(dropped))
	if next.ID = report.ID(id); looked < limit {
		next = commit.Cursor{}
	}
	return dropped, next, err
}
