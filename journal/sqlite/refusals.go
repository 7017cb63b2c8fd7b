package sqlite

import (
	"database/sql"
	"errors"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

func (s *store) Refuse(r report.Refusal, place report.Version, size int64) error {
	return s.exec(s.st.refuse, int64(place), r.At.UnixMicro(), size, string(r.Kind), r.Method,
		r.Path, r.Position, r.ID, commit.Fold(r.ID), r.Reason, r.Detail, r.Cut, int64(commit.RefusalChecksum(r)), r.Body)
}

func (s *store) Refusal(seq int64) (place report.Version, size int64, err error) {
	err = s.st.refusal.QueryRowContext(s.ctx, seq).Scan(&place, &size)
	if errors.Is(err, sql.ErrNoRows) {
		err = report.ErrNotFound
	}
	return place, size, err
}

func (s *store) RefusalsOf(kind report.Kind, before report.Version, ids [3]string) ([]commit.RefusalID, error) {
	var list []commit.RefusalID
	rows, err := s.st.refusalsOf.QueryContext(s.ctx, string(kind), int64(before), ids[0], ids[1], ids[2])
	err = tables.ForRows(rows, err, func(scan func(...any) error) error {
		var r commit.RefusalID
		err := scan(&r.Seq, &r.ID)
		list = append(list, r)
		return err
	})
	return list, err
}

func (s *store) DropRefusal(seq int64) error { return s.exec(s.st.dropRefusal, seq) }

func (s *store) ForgetPlaces(until report.Version) (int64, error) {
	r, err := s.st.forgetPlaces.ExecContext(s.ctx, int64(commit.BeforeAll), int64(until))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (s *store) OldestRefusals(f func(seq, size int64) bool) error {
	rows, err := s.st.oldestRefusals.QueryContext(s.ctx)
	err = tables.ForRows(rows, err, func(scan func(...any) error) error {
		var seq, size int64
		if err := scan(&seq, &size); err != nil {
			return err
		}
		if !f(seq, size) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
}

func (s *store) DropRefusalsUntil(seq int64) (n int, bytes int64, err error) {
	rows, err := s.st.dropRefusals.QueryContext(s.ctx, seq)
	err = tables.ForRows(rows, err, func(scan func(...any) error) error {
		var size int64
		err := scan(&size)
		n, bytes = n+1, bytes+size
		return err
	})
	return n, bytes, err
}
