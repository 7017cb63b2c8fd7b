package journal

import (
	"database/sql"
	"errors"

	"riskdex/report"
)

func (s *sqliteStore) refuse(r report.Refusal, turn report.Version, size int64) error {
	return s.exec(s.st.refuse, int64(turn), r.At.UnixMicro(), size, string(r.Kind), r.Method,
		r.Path, r.Position, r.ID, r.Reason, r.Detail, r.Cut, int64(refusalChecksum(r)), r.Body)
}

func (s *sqliteStore) refusal(seq int64) (turn report.Version, size int64, err error) {
	err = s.st.refusal.QueryRowContext(s.ctx, seq).Scan(&turn, &size)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return turn, size, err
}

func (s *sqliteStore) refusalsOf(kind report.Kind, before report.Version, ids [3]string) ([]refusalID, error) {
	rows, err := s.st.refusalsOf.QueryContext(s.ctx, string(kind), int64(before), ids[0], ids[1], ids[2])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []refusalID
	for rows.Next() {
		var r refusalID
		if err := rows.Scan(&r.seq, &r.id); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

func (s *sqliteStore) dropRefusal(seq int64) error { return s.exec(s.st.dropRefusal, seq) }

func (s *sqliteStore) forgetPlaces() (int64, error) {
	r, err := s.st.forgetPlaces.ExecContext(s.ctx, int64(beforeAll))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (s *sqliteStore) oldestRefusals(f func(seq, size int64) bool) error {
	rows, err := s.st.oldestRefusals.QueryContext(s.ctx)
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
			return nil
		}
	}
	return rows.Err()
}

func (s *sqliteStore) dropRefusalsUntil(seq int64) (n int, bytes int64, err error) {
	rows, err := s.st.dropRefusals.QueryContext(s.ctx, seq)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var size int64
		if err := rows.Scan(&size); err != nil {
			return 0, 0, err
		}
		n, bytes = n+1, bytes+size
	}
	return n, bytes, rows.Err()
}
