package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

var (
	rowColumns = `doc, ` + tables.LoadFields(&commit.Row{})[tables.KeyFields:].List("@")

	findOne   = `SELECT ` + rowColumns + ` FROM documents WHERE kind = ? AND id = ?`
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
			if r, err = scanRow(s.row(findOne, string(keys[0].Kind), string(keys[0].ID))); err == nil {
				r.Key = keys[0]
				found = append(found, r)
			}
			if errors.Is(err, sql.ErrNoRows) {
				err = nil
			}
		} else {
			err = s.forRows(func(scan func(...any) error) error {
				var position int
				r, err := scanRow(scan, &position)
				if err == nil {
					r.Key = keys[position]
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
	return &r, scan(append(append(before, &r.Doc), tables.LoadFields(&r)[tables.KeyFields:].Targets()...)...)
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
			var position int
			var id, op tables.Text
			err := scan(&position, &id, &op)
			f(report.ID(id), chunk[position], report.Op(op))
			return err
		}, query, append(args, string(report.Cities))...); err != nil {
			return err
		}
	}
	return nil
}

// many is how many documents one statement looks up or inserts. A statement has a fixed cost,
// which exceeds that of finding a document.
const many = 32

// wantedTexts returns a table of n parameters with their positions. A row found is
// matched to its parameter by the position, and not by its content, which may be damaged.
func wantedTexts(n int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, ?)", i)
	}
	return `(VALUES ` + strings.Join(values, ", ") + `) AS wanted`
}

// manyQuery returns the statement that selects columns of up to many documents, after the
// position of the document among the ids. The parameters are those of columns, the ids, and their kind.
func manyQuery(columns string) string {
	return `SELECT wanted.column1, ` + columns + ` FROM ` + wantedTexts(many) + `
		CROSS JOIN documents INDEXED BY documents_key ON kind = ? AND id = wanted.column2`
}

// codesQuery returns the statement that selects the cities that have one of n codes and have not lost it,
// with the position of the code. The parameters are the codes and the kind.
func codesQuery(n int) string {
	return `SELECT wanted.column1, id, op FROM ` + wantedTexts(n) + `
		CROSS JOIN documents INDEXED BY documents_code ON kind = ? AND code = wanted.column2 AND {has code}`
}

// manyArgs returns the arguments of a manyQuery for keys of one kind: what its columns
// need, and the keys.
func manyArgs(keys []report.Key, columns ...any) []any {
	args := make([]any, len(columns)+many+1)
	ids := args[copy(args, columns):]
	for i, k := range keys {
		ids[i] = string(k.ID)
	}
	ids[many] = string(keys[0].Kind)
	return args
}

// together returns the first keys: as many as one statement can look up.
func together(keys []report.Key) []report.Key {
	n := 0
	for n < min(len(keys), many) && keys[n].Kind == keys[0].Kind {
		n++
	}
	return keys[:n]
}
