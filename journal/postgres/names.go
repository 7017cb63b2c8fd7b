package postgres

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"riskdex/report"
)

// Which city has which code is looked up and changed under one lock of the whole journal, the
// lock of names. A transaction that turns out to need it begins again and takes it first,
// because its owner waits for rows. A large delivery would hold up all others that way. So it
// looks codes up without the lock, writes its rows, takes the lock last, and looks the codes
// up again: where anything differs, it begins again with the lock.

// errNames has a transaction run again with the lock of names: without it, two processes could
// take one city for two.
var errNames = errors.New("the lock of the names of cities is needed")

// wantNames returns errNames where the lock should have been had from the beginning.
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

// whoHasCodes returns the cities that have one of some codes, and have not lost it.
const whoHasCodes = `SELECT id, code, op FROM documents
	WHERE kind = 'cities' AND code <> ''::bytea AND code = ANY($1) AND kept <> -1`

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

// lockNamesLast writes the rows, which takes long, then takes the lock of names, and checks
// what was looked up without it.
func (s *store) lockNamesLast() error {
	if s.names || !s.needsNames {
		return nil
	}
	b := s.queueRows(&pgx.Batch{})
	s.queueNames(b)
	if len(s.asked) > 0 {
		b.Queue(whoHasCodes+" AND xmin <> pg_current_xact_id()::xid", s.asked).Query(s.checkNames)
	}
	return s.tx.SendBatch(s.ctx, b).Close()
}

// checkNames compares who has the codes that were looked up with who had them. What this
// transaction has locked nobody else changes, and rows has nothing that it has written: such
// a row must have been locked as it was looked up.
func (s *store) checkNames(rows pgx.Rows) error {
	now := map[report.ID]codedAs{}
	if err := forCodes(rows, nil, func(id report.ID, as codedAs) error {
		now[id] = as
		return nil
	}); err != nil {
		return err
	}
	for k, p := range s.rows {
		if p == nil || k.Kind != report.Cities {
			continue
		}
		delete(now, k.ID)
		if _, asked := s.inTable[codedAs{p.was.code, report.Index}]; asked {
			now[k.ID] = p.was
		}
	}
	if !maps.Equal(now, s.seen) {
		return errNames
	}
	return nil
}

// WithCode looks among the rows that this transaction has, and for others in the table. The
// codes of a whole group are looked up there together: nobody else changes which city has
// which as long as this transaction has the lock of names, or checkNames tells.
func (s *store) WithCode(code string, op report.Op, most int) (ids []report.ID, err error) {
	if err := s.wantNames(); err != nil || code == "" {
		return nil, err
	}
	if _, ok := s.inTable[codedAs{code, report.Index}]; !ok {
		if err := s.lookUpCodes(code); err != nil {
			return nil, err
		}
	}
	// Those that it does not find are left out the next time, so that a code that all the
	// cities of a delivery state takes no longer than others.
	as := codedAs{code, op}
	find := func(in map[codedAs][]report.ID, has func(*row) bool) {
		list := in[as]
		if len(list) == 0 {
			return
		}
		rest := list[:0]
		for i, id := range list {
			if len(ids) == most {
				rest = append(rest, list[i:]...)
				break
			}
			if has(s.rows[report.Key{Kind: report.Cities, ID: id}]) && !slices.Contains(ids, id) {
				ids, rest = append(ids, id), append(rest, id)
			}
		}
		in[as] = rest
	}
	find(s.coded, func(p *row) bool { return p != nil && p.HasCode() && p.Code == code && p.Op == op })
	find(s.inTable, func(p *row) bool { return p == nil })
	return ids, nil
}

// codedAs is a code, and whether those that have it are live cities or deleted ones.
type codedAs struct {
	code string
	op   report.Op
}

// lookUpCodes looks up who has a code, and with it all those that the group names.
func (s *store) lookUpCodes(code string) error {
	if s.inTable == nil {
		s.inTable, s.seen = map[codedAs][]report.ID{}, map[report.ID]codedAs{}
	}
	wanted := [][]byte{}
	add := func(code string) {
		as := codedAs{code, report.Index}
		if _, ok := s.inTable[as]; !ok && code != "" {
			s.inTable[as] = nil
			wanted = append(wanted, []byte(code))
		}
	}
	add(code)
	for _, r := range s.group {
		if r.Scope == nil {
			continue
		}
		for _, c := range r.Scope.Changes {
			if c.Kind == report.Cities {
				add(c.Code)
				add(strings.ToUpper(string(c.ID)))
			}
		}
	}
	s.asked = append(s.asked, wanted...)
	rows, err := s.tx.Query(s.ctx, whoHasCodes, wanted)
	return forCodes(rows, err, func(id report.ID, as codedAs) error {
		s.inTable[as] = append(s.inTable[as], id)
		if before, ok := s.seen[id]; ok && before != as {
			return errNames
		}
		s.seen[id] = as
		return nil
	})
}
