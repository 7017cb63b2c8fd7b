package postgres

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// One lock of the whole journal, the lock of names, protects which city has which code. A transaction
// takes it before it locks rows, since the owner of the lock may wait for these rows. So one that finds
// out that it looks up codes, or changes them, begins again and takes it first.

// errNames makes a transaction run again with the lock of names. Without the lock, two processes
// could make two cities of one.
var errNames = errors.New("the lock of the names of cities is needed")

func (s *store) queueNames(b *pgx.Batch) {
	b.Queue("SELECT pg_advisory_xact_lock($1, $2)", s.keys.class, int32(lockNames))
}

// changesName reports whether a row changes which city has which code or id.
func changesName(r *commit.Row) bool {
	return r.Kind == report.Cities && (r.Fresh || r.Was.Code != r.Code || r.Was.Naming != r.Naming || r.Was.Op != r.Op && r.Code != "")
}

// checkNames returns errNames if rows that are to be written need the lock of names.
func (s *store) checkNames(rows []*commit.Row) error {
	if !s.names && slices.ContainsFunc(rows, changesName) {
		return errNames
	}
	return nil
}

// Codes implements commit.Store.
func (s *store) Codes(codes []string, f func(id report.ID, code string, op report.Op)) error {
	if !s.names {
		return errNames
	}
	list := make([][]byte, len(codes))
	for i, code := range codes {
		list[i] = []byte(code)
	}
	rows, err := s.tx.Query(s.ctx, commit.SQL(`SELECT id, code, op FROM documents WHERE kind = $2 AND code = ANY($1) AND {has code}`), list, string(report.Cities))
	if err != nil {
		return err
	}
	var id, code []byte
	var op string
	_, err = pgx.ForEachRow(rows, []any{&id, &code, &op}, func() error {
		f(report.ID(id), string(code), report.Op(op))
		return nil
	})
	return err
}
