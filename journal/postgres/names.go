package postgres

import (
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

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

// lockNamesLast writes the rows, which takes long, then takes the lock of names and repeats the
// lookups that were made without it.
func (s *store) lockNamesLast() error {
	if s.names || !s.needsNames {
		return nil
	}
	b := s.queueRows(&pgx.Batch{})
	s.queueNames(b)
	if len(s.asked) > 0 {
		b.Queue(whoHasCodes+" AND xmin <> pg_current_xact_id()::xid", s.asked, string(report.Cities)).Query(s.checkNames)
	}
	return s.tx.SendBatch(s.ctx, b).Close()
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

// WithCode searches the rows that this transaction has, and the table for others. It looks up
// the codes of a whole group in the table at once. The result stays valid: either this
// transaction has the lock of names, or checkNames notices a change.
func (s *store) WithCode(code string, op report.Op, most int) (ids []report.ID, err error) {
	if code == "" {
		return nil, nil
	}
	if err := s.wantNames(); err != nil {
		return nil, err
	}
	if _, ok := s.inTable[codedAs{code, report.Index}]; !ok {
		if err := s.lookUpCodes(code); err != nil {
			return nil, err
		}
	}
	// Ids that no longer have the code are dropped from the list, so that a code which every
	// city of a delivery states takes no longer than others.
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

// codedAs is a code of live cities, or of deleted ones.
type codedAs struct {
	code string
	op   report.Op
}

// lookUpCodes looks up which cities have a code, together with all other codes that the group
// names.
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
				add(report.CodeOf(string(c.ID)))
			}
		}
	}
	s.asked = append(s.asked, wanted...)
	rows, err := s.tx.Query(s.ctx, whoHasCodes, wanted, string(report.Cities))
	return forCodes(rows, err, func(id report.ID, as codedAs) error {
		s.inTable[as] = append(s.inTable[as], id)
		if before, ok := s.seen[id]; ok && before != as {
			return errNames
		}
		s.seen[id] = as
		return nil
	})
}
