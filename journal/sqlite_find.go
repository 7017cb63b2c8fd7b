package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"riskdex/report"
)

const rowColumns = `doc, id, version, op, state, code, accepted_at, waiting_since`

// find implements store.
func (s *sqliteStore) find(k report.Key) (*row, error) {
	if r, ok := s.lookedUp(k); ok {
		return r, nil
	}
	r, err := scanRow(s.st.find.QueryRowContext(s.ctx, string(k.Kind), string(k.ID)).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up %s %q: %w", k.Kind, k.ID, err)
	}
	return r, nil
}

// scanRow reads rowColumns, and what comes before them.
func scanRow(scan func(...any) error, before ...any) (*row, error) {
	var doc sql.NullInt64
	var id, op, code looseText
	var version, state, accepted, waiting looseInt
	err := scan(append(before, &doc, &id, &version, &op, &state, &code, &accepted, &waiting)...)
	if err != nil || !doc.Valid {
		return nil, err
	}
	return &row{
		doc: doc.Int64, id: report.ID(id), version: report.Version(version), op: report.Op(op), state: int64(state),
		code: string(code), acceptedAt: int64(accepted), waitedAt: int64(waiting),
	}, nil
}

// fewAhead is from how many documents on it pays to look them up together.
const fewAhead = 3

// expect notes which documents a group of requests will look up.
func (s *sqliteStore) expect(group []*request) {
	n := 0
	for _, r := range group {
		n += len(r.keys)
	}
	if n < fewAhead {
		return
	}
	s.ahead, s.known = make([]report.Key, 0, n), make(map[report.Key]*row, many)
	seen := make(map[report.Key]bool, n)
	for _, r := range group {
		for _, k := range r.keys {
			if !seen[k] {
				seen[k], s.ahead = true, append(s.ahead, k)
			}
		}
	}
}

// lookedUp returns the row of a document if it was looked up ahead, or is the next of
// those that are to be. A row is known until it is returned: whoever finds it may
// change it.
func (s *sqliteStore) lookedUp(k report.Key) (r *row, ok bool) {
	if r, ok = s.known[k]; !ok {
		if i := slices.Index(s.ahead[:min(len(s.ahead), many)], k); i >= 0 {
			s.ahead = s.ahead[i:]
			s.lookAhead()
			r, ok = s.known[k]
		}
	}
	delete(s.known, k)
	return r, ok
}

// lookAhead looks up the next documents. An error is left to find, which will tell
// whose it is.
func (s *sqliteStore) lookAhead() {
	clear(s.known)
	keys := together(s.ahead)
	s.ahead = s.ahead[len(keys):]
	if len(keys) < fewAhead {
		return
	}
	rows, err := s.st.findMany.QueryContext(s.ctx, manyArgs(keys)...)
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var place int
		r, err := scanRow(rows.Scan, &place)
		if err != nil || place >= len(keys) {
			return
		}
		s.known[keys[place]] = r
	}
}

// forget is for changes of rows that were not found one by one.
func (s *sqliteStore) forget() { clear(s.known) }
