package sqlite

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// store is the transaction on the writer's connection.
type store struct {
	*connection
	now    time.Time
	ledger *commit.Ledger

	ahead []report.Key               // documents that will be looked up, in this order
	codes []string                   // that they may take
	known map[report.Key]*commit.Row // those that were looked up ahead, nil where there is none
	free  map[string]bool            // codes that were looked up ahead, where no city has or had one
	fresh []newDocument              // that are not in the table yet; fewer than many

	freshBytes int // of their bodies
}

func newStore(e *engine, l *commit.Ledger) *store {
	return &store{connection: e.write, ledger: l}
}

var _ commit.Store = (*store)(nil)

func (s *store) NextVersion(after report.Version) (report.Version, error) {
	s.ledger.LastVersion = max(report.Version(s.now.UnixMicro()), s.ledger.LastVersion+1, after+1)
	return s.ledger.LastVersion, nil
}

// BeginDelivery implements commit.Store. Only one transaction takes versions at a time.
func (s *store) BeginDelivery(int) error { return nil }

// EndDelivery implements commit.Store.
func (s *store) EndDelivery() {}

func (s *store) WithCode(code string, op report.Op, most int) ([]report.ID, error) {
	if code == "" || s.free[code] {
		return nil, nil
	}
	if err := s.insertFresh(); err != nil {
		return nil, err
	}
	var ids []report.ID
	err := s.forRows(func(scan func(...any) error) error {
		var id tables.Text
		err := scan(&id)
		ids = append(ids, report.ID(id))
		return err
	}, byCodeQuery, string(report.Cities), code, string(op), most)
	return ids, err
}

func (s *store) Put(c report.Change, n commit.Naming, origin report.Version, waiting int64, old *commit.Row) error {
	var body any // NULL when there is none
	if len(c.Body) > 0 {
		body = c.Body
	}
	version, op, at, crc := int64(c.Version), string(c.Op), c.AcceptedAt.UnixMicro(), int64(commit.Checksum(c))
	delete(s.free, c.Code)
	// Each parameter takes time, and most documents have nothing special.
	plain, special := origin == 0 && n == (commit.Naming{}) && c.Trace == "", []any{int64(origin), int64(n.Kept), n.CodeOnly, c.Trace}
	if old == nil {
		delete(s.known, c.Key)
		s.fresh = append(s.fresh, newDocument{c.Key, c.Code, plain, append([]any{string(c.Kind), string(c.ID), version, op, c.Code, at, waiting, at, crc, body}, special...)})
		if s.freshBytes += len(c.Body); len(s.fresh) == many || s.freshBytes > maxFreshBytes {
			return s.insertFresh()
		}
		return nil
	}
	args := []any{version, at, waiting, at, crc, body}
	if plain && old.Op == c.Op && old.Code == c.Code { // the indices that have them stay as they are
		return s.change(old, replaceContent, args...)
	}
	return s.change(old, replace, append(append(args, op, c.Code), special...)...)
}

// newContent sets what every delivery of a document brings, and rowState what rules change of a row
// without one, as updateArgs has it.
const (
	newContent = `UPDATE documents SET version = ?, state = {pending}, accepted_at = ?, waiting_since = ?, ended_at = ?, crc = ?, error_type = '', reason = '', body = ?`
	rowState   = `UPDATE documents SET version = ?, origin = ?, state = ?, waiting_since = ?, ended_at = ?, crc = ?, kept = ?, alone = ?, trace = ?, error_type = ?, reason = ?`

	replace        = newContent + `, op = ?, code = ?, origin = ?, kept = ?, alone = ?, trace = ? WHERE doc = ?`
	replaceContent = newContent + `, origin = 0, kept = 0, alone = 0, trace = '' WHERE doc = ?`
	update         = rowState + ` WHERE doc = ?`
	drop           = rowState + `, body = NULL WHERE doc = ?`
)

var (
	insert       = insertQuery(1, "?, ?, ?, ?")
	insertMany   = insertQuery(many, "0, 0, 0, ''")
	updateTotals = `UPDATE totals SET ` + tables.EachTotal("@ = ?", "@ = ?", 0) + ` WHERE kind = ?`
)

// newDocument is a document that is to be inserted.
type newDocument struct {
	key   report.Key
	code  string
	plain bool
	args  []any // of the statement insert
}

const (
	plainArgs = 10 // of a document that has nothing special
	// maxFreshBytes bounds the bodies in a statement, which SQLite copies for it.
	maxFreshBytes = 1 << 20
)

// insertFresh inserts the new documents, which are kept back until they fill a statement,
// or until something is to be found or written that may be one of them.
func (s *store) insertFresh() error {
	list := s.fresh
	s.fresh, s.freshBytes = s.fresh[:0], 0
	if len(list) == many && !slices.ContainsFunc(list, func(d newDocument) bool { return !d.plain }) {
		args := make([]any, 0, many*plainArgs)
		for _, d := range list {
			args = append(args, d.args[:plainArgs]...)
		}
		_, err := s.exec(insertMany, args...)
		return err
	}
	for _, d := range list {
		if _, err := s.exec(insert, d.args...); err != nil {
			return fmt.Errorf("write %s %q: %w", d.key.Kind, d.key.ID, err)
		}
	}
	return nil
}

// change changes a row, by a statement whose last parameter is its number.
func (s *store) change(r *commit.Row, query string, args ...any) error {
	delete(s.known, r.Key)
	_, err := s.exec(query, append(args, r.Doc)...)
	return err
}

func (s *store) Update(r *commit.Row) error { return s.change(r, update, updateArgs(r)...) }

func (s *store) Drop(r *commit.Row) error { return s.change(r, drop, updateArgs(r)...) }

func updateArgs(r *commit.Row) []any {
	return []any{int64(r.Version), int64(r.Origin), r.State, r.WaitedAt, r.EndedAt, int64(r.CRC), int64(r.Kept), r.CodeOnly, r.Trace, r.ErrorType, r.Reason}
}

func (s *store) EndClaimed(k report.Key, claimed commit.Claim, ended int64) (bool, error) {
	if claimed.Doc == 0 {
		return false, nil
	}
	delete(s.known, k)
	n, err := s.exec(`UPDATE documents SET ended_at = coalesce(nullif(?, 0), ended_at), state = {done}, trace = '' WHERE doc = ? AND version = ? AND state = ?`, ended, claimed.Doc, int64(claimed.Version), claimed.State)
	return n > 0 && err == nil, err
}

func (s *store) Unclaim(commit.Settled) {} // claims are in memory

// MarkAll goes in the order in which the documents are in the file: any other writes most of its
// pages once for each piece.
func (s *store) MarkAll(kind report.Kind, after report.ResendCursor, limit int) (n int64, next report.ResendCursor, err error) {
	s.forget()
	var begin, last int64
	if after != "" {
		if begin, err = strconv.ParseInt(string(after), 10, 64); err != nil {
			return 0, "", err
		}
	}
	if err := s.row(`SELECT coalesce(max(doc), 0) FROM documents`)(&last); err != nil {
		return 0, "", err
	}
	end := begin + int64(limit)
	if end < last {
		next = report.ResendCursor(strconv.FormatInt(end, 10))
	}
	n, err = s.exec(`UPDATE documents SET state = {resend} WHERE doc > ?2 AND doc <= ?3 AND +kind = ?1 AND state = {done}`, string(kind), begin, end)
	return n, next, err
}

func (s *store) MarkDeleted(kind report.Kind, since int64) (int64, error) {
	s.forget()
	return s.exec(`UPDATE documents SET state = {resend} WHERE kind = ?1 AND accepted_at >= ?2 AND op = 'delete' AND state = {done}`, string(kind), since)
}

// Exec implements commit.Store.
func (s *store) Exec(query string, args ...any) (int64, error) { return s.exec(query, args...) }

// Query implements commit.Store. A damaged number or text does not keep the others from being read.
func (s *store) Query(f func(scan func(...any) error) error, query string, args ...any) error {
	return s.forRows(func(scan func(...any) error) error {
		return f(func(targets ...any) error {
			for i := range targets {
				switch t := targets[i].(type) {
				case *int64:
					targets[i] = (*tables.Int)(t)
				case *string:
					targets[i] = (*tables.Text)(t)
				}
			}
			return scan(targets...)
		})
	}, query, args...)
}

// finish writes what changed of the ledger, so that it is committed together with
// the documents it speaks of.
func (s *store) finish(before commit.Ledger) error {
	if err := s.insertFresh(); err != nil {
		return err
	}
	if s.ledger.LastVersion != before.LastVersion {
		if _, err := s.exec(`UPDATE meta SET value = ? WHERE name = 'last_version'`, int64(s.ledger.LastVersion)); err != nil {
			return fmt.Errorf("keep the last version: %w", err)
		}
	}
	for k, t := range s.ledger.Totals {
		if t == before.Totals[k] {
			continue
		}
		if _, err := s.exec(updateTotals, append(tables.TotalsArgs(t), string(k))...); err != nil {
			return fmt.Errorf("keep the totals of %s: %w", k, err)
		}
	}
	return nil
}
