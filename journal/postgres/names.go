package postgres

import (
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// One lock of the whole journal, the lock of names, protects which city has which code. A
// transaction must take it before it locks rows, since the owner of the lock may wait for these
// rows. So one that finds out late that it needs the lock begins again and takes it first. A
// large delivery would hold it for long that way. So it looks up codes without the lock, writes
// its rows, takes the lock last, and looks up the codes again. If anything differs, it begins
// again and takes the lock first.

// errNames makes a transaction run again with the lock of names. Without the lock, two processes
// could make two cities of one.
var errNames = errors.New("the lock of the names of cities is needed")

// wantNames returns errNames if the transaction needs the lock of names from its beginning and
// does not have it.
func (s *store) wantNames() error {
	if !s.names && !s.namesLast {
		return errNames
	}
	s.needsNames = true
	return nil
}

func (s *store) queueNames(b *pgx.Batch) {
	b.Queue("SELECT pg_advisory_xact_lock($1, $2)", s.keys.class, int32(lockNames))
}

// changesName reports whether a row changes which city has which code or id.
func changesName(r *commit.Row) bool {
	return r.Kind == report.Cities && (r.Fresh || r.Was.Code != r.Code || r.Was.Naming != r.Naming || r.Was.Op != r.Op && r.Code != "")
}

// codedAs is a code of live cities, or of deleted ones.
type codedAs struct {
	code string
	op   report.Op
}

// whoHasCodes selects the cities that have one of the given codes and have not lost it.
const whoHasCodes = `SELECT id, code, op FROM documents
	WHERE kind = $2 AND code <> '' AND code = ANY($1) AND kept <> -1`

func forCodes(rows pgx.Rows, err error, f func(id report.ID, as codedAs) error) error {
	if err != nil {
		return err
	}
	var id, code []byte
	var op string
	_, err = pgx.ForEachRow(rows, []any{&id, &code, &op}, func() error {
		return f(report.ID(id), codedAs{string(code), report.Op(op)})
	})
	return err
}

// lockNames sees to it that the transaction has the lock of names, if it needs it, before it commits. If it
// takes it last, it writes first, which takes long, and then repeats the lookups that were made without it.
// It returns what is left to be written.
func (s *store) lockNames(w commit.Writes) (commit.Writes, error) {
	if slices.ContainsFunc(w.Rows, changesName) {
		if err := s.wantNames(); err != nil {
			return w, err
		}
	}
	if s.names || !s.needsNames {
		return w, nil
	}
	b := s.queueWrites(&pgx.Batch{}, w)
	s.queueNames(b)
	if len(s.asked) > 0 {
		asked := make([][]byte, 0, len(s.asked))
		for code := range s.asked {
			asked = append(asked, []byte(code))
		}
		b.Queue(whoHasCodes+" AND xmin <> pg_current_xact_id()::xid", asked, string(report.Cities)).Query(s.checkNames)
	}
	return commit.Writes{}, s.tx.SendBatch(s.ctx, b).Close()
}

// checkNames returns errNames if other cities have the codes now than when they were looked up.
// The query leaves out rows that this transaction has written. Rows that it has locked count
// with the code that they had then, since nobody else can have changed it.
func (s *store) checkNames(rows pgx.Rows) error {
	now := map[report.ID]codedAs{}
	if err := forCodes(rows, nil, func(id report.ID, as codedAs) error {
		now[id] = as
		return nil
	}); err != nil {
		return err
	}
	for _, r := range s.found {
		if r.Kind != report.Cities {
			continue
		}
		if delete(now, r.ID); s.asked[r.Was.Code] && r.Was.HasCode() {
			now[r.ID] = codedAs{r.Was.Code, r.Was.Op}
		}
	}
	if !maps.Equal(now, s.seen) {
		return errNames
	}
	return nil
}

// Codes implements commit.Store. The result stays valid: either this transaction has the lock of names, or
// checkNames notices a change.
func (s *store) Codes(codes []string, f func(id report.ID, code string, op report.Op)) error {
	if err := s.wantNames(); err != nil {
		return err
	}
	if s.asked == nil {
		s.asked, s.seen = map[string]bool{}, map[report.ID]codedAs{}
	}
	list := make([][]byte, len(codes))
	for i, code := range codes {
		s.asked[code], list[i] = true, []byte(code)
	}
	rows, err := s.tx.Query(s.ctx, whoHasCodes, list, string(report.Cities))
	return forCodes(rows, err, func(id report.ID, as codedAs) error {
		if before, ok := s.seen[id]; ok && before != as && !s.names {
			return errNames
		}
		s.seen[id] = as
		f(id, as.code, as.op)
		return nil
	})
}
