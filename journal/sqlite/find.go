package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

const (
	rowColumns = `doc, version, origin, op, state, code, accepted_at, waiting_since, ended_at, crc, kept, alone, trace, error_type, reason, length(body)`

	findQuery   = `SELECT ` + rowColumns + ` FROM documents WHERE kind = ? AND id = ?`
	byCodeQuery = `SELECT id FROM documents INDEXED BY documents_code
		WHERE kind = ?1 AND code = ?2 AND op = ?3 AND code <> '' AND kept <> -1 LIMIT ?4`
)

var (
	findMany  = manyQuery(rowColumns)
	manyCodes = manyCodesQuery()
)

// Find implements commit.Store.
func (s *store) Find(k report.Key) (*commit.Row, error) {
	if r, ok := s.lookedUp(k); ok {
		return r, nil
	}
	if err := s.insertFresh(); err != nil {
		return nil, err
	}
	r, err := scanRow(s.row(findQuery, string(k.Kind), string(k.ID)))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up %s %q: %w", k.Kind, k.ID, err)
	}
	r.Key = k
	return r, nil
}

// scanRow reads rowColumns, and what comes before them.
func scanRow(scan func(...any) error, before ...any) (*commit.Row, error) {
	var r commit.Row
	var crc tables.Int
	err := scan(append(before, &r.Doc, (*tables.Int)(&r.Version), (*tables.Int)(&r.Origin), (*tables.Text)(&r.Op), (*tables.Int)(&r.State), (*tables.Text)(&r.Code),
		(*tables.Int)(&r.AcceptedAt), (*tables.Int)(&r.WaitedAt), (*tables.Int)(&r.EndedAt), &crc, (*tables.Int)(&r.Kept), (*tables.Flag)(&r.CodeOnly),
		(*tables.Text)(&r.Trace), (*tables.Text)(&r.ErrorType), (*tables.Text)(&r.Reason), (*tables.Int)(&r.Bytes))...)
	r.CRC = uint32(crc)
	return &r, err
}

// fewAhead is the smallest batch worth one combined lookup.
const fewAhead = 3

// expect notes which documents a group of requests will look up, and for which codes.
func (s *store) expect(group []*commit.Request) {
	n := 0
	for _, r := range group {
		n += len(r.Keys)
	}
	if n < fewAhead {
		return
	}
	s.ahead, s.codes = make([]report.Key, 0, n), make([]string, 0, n)
	s.known, s.free = make(map[report.Key]*commit.Row, many), make(map[string]bool, many)
	seen := make(map[report.Key]bool, n)
	add := func(k report.Key, code string) {
		if !seen[k] {
			seen[k], s.ahead, s.codes = true, append(s.ahead, k), append(s.codes, code)
		}
	}
	for _, r := range group {
		if r.Scope == nil {
			for _, k := range r.Keys {
				add(k, "")
			}
			continue
		}
		for _, c := range r.Scope.Changes {
			add(c.Key, c.Code)
			if c.OwnID != "" {
				add(report.Key{Kind: c.Kind, ID: c.OwnID}, c.Code)
			}
		}
	}
}

// lookedUp returns the row of a document if it was looked up ahead, or is the next of
// those that are to be. A row is known until it is changed.
func (s *store) lookedUp(k report.Key) (r *commit.Row, ok bool) {
	if r, ok = s.known[k]; !ok {
		if i := slices.Index(s.ahead[:min(len(s.ahead), many)], k); i >= 0 {
			s.ahead, s.codes = s.ahead[i:], s.codes[i:]
			s.lookAhead()
			r, ok = s.known[k]
		}
	}
	return r, ok
}

// lookAhead looks up the next documents, and the codes that they may take. An error is
// left to find and WithCode, which will tell whose it is.
func (s *store) lookAhead() {
	clear(s.known)
	clear(s.free)
	keys := together(s.ahead)
	codes := s.codes[:len(keys)]
	s.ahead, s.codes = s.ahead[len(keys):], s.codes[len(keys):]
	if len(keys) < fewAhead {
		return
	}
	found := make([]*commit.Row, len(keys))
	if s.forRows(func(scan func(...any) error) error {
		var place int
		r, err := scanRow(scan, &place)
		if err == nil {
			found[place], r.Key = r, keys[place]
		}
		return err
	}, findMany, manyArgs(keys)...) != nil {
		return
	}
	var taken []string
	for i, k := range keys {
		s.known[k] = found[i]
		if codes[i] != "" && (found[i] == nil || found[i].Code != codes[i]) {
			taken = append(taken, codes[i])
		}
	}
	s.lookUpCodes(taken, keys[0].Kind)
	for _, d := range s.fresh {
		delete(s.known, d.key)
		delete(s.free, d.code)
	}
}

// lookUpCodes finds out which of some codes of a kind are free.
func (s *store) lookUpCodes(codes []string, kind report.Kind) {
	if len(codes) < fewAhead {
		return
	}
	had := make([]bool, len(codes))
	if s.forRows(func(scan func(...any) error) error {
		var place int
		err := scan(&place)
		if err == nil {
			had[place] = true
		}
		return err
	}, manyCodes, manyTexts(codes, kind)...) != nil {
		return
	}
	for i, code := range codes {
		s.free[code] = !had[i]
	}
}

// forget is for changes of rows that were not found one by one. What is not inserted yet
// is pending, and none of them.
func (s *store) forget() { clear(s.known) }
