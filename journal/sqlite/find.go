package sqlite

import (
	"database/sql"
	"errors"
	"slices"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

const (
	rowColumns = `doc, version, origin, op, state, code, accepted_at, waiting_since, ended_at, crc, kept, alone, trace, error_type, reason, length(body)`

	findQuery = `SELECT ` + rowColumns + ` FROM documents WHERE kind = ? AND id = ?`
)

var (
	findMany  = manyQuery(rowColumns)
	findCodes = codesQuery(many)
	findCode  = codesQuery(1)
)

// fewAhead is the smallest number of documents worth one combined lookup.
const fewAhead = 3

// Load implements commit.Store.
func (s *store) Load(keys []report.Key) (found []*commit.Row, err error) {
	for len(keys) > 0 && err == nil {
		n := len(together(keys))
		if n < fewAhead {
			n = 1
			var r *commit.Row
			if r, err = scanRow(s.row(findQuery, string(keys[0].Kind), string(keys[0].ID))); err == nil {
				r.Key = keys[0]
				found = append(found, r)
			}
			if errors.Is(err, sql.ErrNoRows) {
				err = nil
			}
		} else {
			err = s.forRows(func(scan func(...any) error) error {
				var place int
				r, err := scanRow(scan, &place)
				if err == nil {
					r.Key = keys[place]
					found = append(found, r)
				}
				return err
			}, findMany, manyArgs(keys[:n])...)
		}
		keys = keys[n:]
	}
	return found, err
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

// Codes implements commit.Store.
func (s *store) Codes(codes []string, f func(id report.ID, code string, op report.Op)) error {
	for chunk := range slices.Chunk(codes, many) {
		query, args := findCodes, make([]any, many, many+1)
		if len(chunk) == 1 {
			query, args = findCode, args[:1]
		}
		for i, code := range chunk {
			args[i] = code
		}
		if err := s.forRows(func(scan func(...any) error) error {
			var place int
			var id, op tables.Text
			err := scan(&place, &id, &op)
			f(report.ID(id), chunk[place], report.Op(op))
			return err
		}, query, append(args, string(report.Cities))...); err != nil {
			return err
		}
	}
	return nil
}
