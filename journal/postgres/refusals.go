package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

func (s *store) Refuse(r report.Refusal, place report.Version, size int64) error {
	_, err := s.tx.Exec(s.ctx, `INSERT INTO refusals
		(version, at, bytes, kind, method, path, position, id, folded, reason, detail, cut, crc, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		int64(place), r.At.UnixMicro(), size, string(r.Kind), []byte(r.Method), []byte(r.Path), int64(r.Position), []byte(r.ID), []byte(commit.Fold(r.ID)),
		[]byte(r.Reason), []byte(r.Detail), r.Cut, int64(commit.RefusalChecksum(r)), r.Body)
	return err
}

// Refusal locks it, so that it is retried once.
func (s *store) Refusal(seq int64) (place report.Version, size int64, err error) {
	err = s.tx.QueryRow(s.ctx, "SELECT version, bytes FROM refusals WHERE seq = $1 FOR UPDATE", seq).Scan(&place, &size)
	if errors.Is(err, pgx.ErrNoRows) {
		err = report.ErrNotFound
	}
	return place, size, err
}

func (s *store) RefusalsOf(kind report.Kind, before report.Version, ids [3]string) ([]commit.RefusalID, error) {
	rows, err := s.tx.Query(s.ctx, `SELECT seq, id FROM refusals
		WHERE kind = $1 AND version < $2 AND sha256(folded) IN (sha256($3), sha256($4), sha256($5))`,
		string(kind), int64(before), []byte(ids[0]), []byte(ids[1]), []byte(ids[2]))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (found commit.RefusalID, err error) {
		var id []byte
		err = r.Scan(&found.Seq, &id)
		found.ID = string(id)
		return found, err
	})
}

func (s *store) DropRefusal(seq int64) error {
	_, err := s.tx.Exec(s.ctx, "DELETE FROM refusals WHERE seq = $1", seq)
	return err
}

// ForgetPlaces waits for those of which a retry is under way. Their number shows whether
// there was one since it was read, which was before the rows were.
func (s *store) ForgetPlaces(until report.Version) (n int64, err error) {
	r, err := s.tx.Exec(s.ctx, "UPDATE refusals SET version = $1 WHERE version <> $1 AND version <= $2", int64(commit.BeforeAll), int64(until))
	if err != nil {
		return 0, err
	}
	var kept int
	if err := s.tx.QueryRow(s.ctx, "SELECT count(*) FROM refusals").Scan(&kept); err != nil {
		return 0, err
	}
	if kept != s.ledger.Refusals {
		return 0, errRetriedMeanwhile
	}
	return r.RowsAffected(), nil
}

func (s *store) OldestRefusals(f func(seq, size int64) bool) error {
	rows, err := s.tx.Query(s.ctx, "SELECT seq, bytes FROM refusals ORDER BY seq")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var seq, size int64
		if err := rows.Scan(&seq, &size); err != nil {
			return err
		}
		if !f(seq, size) {
			break
		}
	}
	rows.Close()
	return rows.Err()
}

func (s *store) DropRefusalsUntil(seq int64) (n int, bytes int64, err error) {
	err = s.tx.QueryRow(s.ctx, `WITH gone AS (DELETE FROM refusals WHERE seq <= $1 RETURNING bytes)
		SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone`, seq).Scan(&n, &bytes)
	return n, bytes, err
}

func (s *store) Receipt(sender, id string, since int64) (digest, answer []byte, err error) {
	err = s.tx.QueryRow(s.ctx, "SELECT digest, answer FROM receipts WHERE sender = $1 AND id = $2 AND at >= $3",
		[]byte(sender), []byte(id), since).Scan(&digest, &answer)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, nil
	}
	return digest, answer, err
}

// KeepReceipt fails where another process has kept one of the same id meanwhile. The
// transaction is run again then, and finds it.
func (s *store) KeepReceipt(r report.Receipt, at int64) error {
	batch := &pgx.Batch{}
	batch.Queue("DELETE FROM receipts WHERE sender = $1 AND id = $2 AND at < $3", []byte(r.Sender), []byte(r.ID), at-report.ReceiptsFor.Microseconds())
	batch.Queue("INSERT INTO receipts (sender, id, at, digest, answer) VALUES ($1, $2, $3, $4, $5)",
		[]byte(r.Sender), []byte(r.ID), at, r.Digest, append([]byte{}, r.Answer...))
	return s.tx.SendBatch(s.ctx, batch).Close()
}

func (s *store) DropReceipts(before int64) error {
	_, err := s.tx.Exec(s.ctx, `DELETE FROM receipts WHERE (sender, id) IN
		(SELECT sender, id FROM receipts WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`, before, commit.ReceiptsDropped)
	return err
}
