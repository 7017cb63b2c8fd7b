package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
}

func newStore(e *engine, l *commit.Ledger) *store { return &store{connection: e.write, ledger: l} }

var _ commit.Store = (*store)(nil)

func (s *store) NextVersion(after report.Version) (report.Version, error) {
	s.ledger.LastVersion = max(report.Version(s.now.UnixMicro()), s.ledger.LastVersion+1, after+1)
	return s.ledger.LastVersion, nil
}

// BeginDelivery implements commit.Store. Only one transaction takes versions at a time.
func (s *store) BeginDelivery(_ int, above report.Version) error {
	s.ledger.LastVersion = max(s.ledger.LastVersion, above)
	return nil
}

// EndDelivery implements commit.Store.
func (s *store) EndDelivery() {}

// The statements that write documents, whose parameters are a part of tables.RowFields, the body, and the
// number of the document.
var (
	fields         = tables.RowFields(&commit.Row{})
	replaceContent = `UPDATE documents SET ` + fields[tables.NamedFields:tables.ContentFields].List("@ = ?") + `, ` + accepted + `, origin = 0, kept = 0, alone = 0, trace = ''` + ofDoc
	replace        = `UPDATE documents SET ` + fields[tables.KeyFields:tables.SpecialFields].List("@ = ?") + `, ` + accepted + ofDoc
	update         = `UPDATE documents SET ` + fields[tables.DatedFields:].List("@ = ?") + ofDoc
	drop           = `UPDATE documents SET ` + fields[tables.DatedFields:].List("@ = ?") + `, body = NULL` + ofDoc

	insert       = insertQuery(1, tables.SpecialFields)
	insertMany   = insertQuery(many, tables.ContentFields)
	updateTotals = `UPDATE totals SET ` + tables.EachTotal("@ = @ + ?", "@ = max(@, ?)") + ` WHERE kind = ?`
)

const (
	accepted = `body = ?, state = {pending}, error_type = '', reason = ''`
	ofDoc    = ` WHERE doc = ?`
)

// maxFreshBytes bounds the bodies in a statement, which SQLite copies for it.
const maxFreshBytes = 1 << 20

// Flush implements commit.Store.
func (s *store) Flush(w commit.Writes) error {
	if err := s.keepPast(w); err != nil {
		return err
	}
	var fresh []*commit.Row
	size := 0
	for _, r := range w.Rows {
		var err error
		switch {
		case r.Fresh:
			fresh = append(fresh, r)
			if size += len(r.Body); len(fresh) == many || size > maxFreshBytes {
				err = s.insertRows(fresh)
				fresh, size = fresh[:0], 0
			}
		// Each parameter takes time, and most documents have nothing special. The indices that have the code
		// and the op stay as they are.
		case r.Written && isPlain(r) && r.Was.Op == r.Op && r.Was.Code == r.Code:
			_, err = s.exec(replaceContent, append(tables.RowFields(r)[tables.NamedFields:tables.ContentFields].Values(), orNull(r.Body), r.Doc)...)
		case r.Written && r.State == commit.StatePending:
			_, err = s.exec(replace, append(tables.RowFields(r)[tables.KeyFields:tables.SpecialFields].Values(), orNull(r.Body), r.Doc)...)
		default:
			query := update
			if r.Written {
				query = drop
			}
			_, err = s.exec(query, append(tables.RowFields(r)[tables.DatedFields:].Values(), r.Doc)...)
		}
		if err != nil {
			return fmt.Errorf("write %s %q: %w", r.Kind, r.ID, err)
		}
	}
	return s.insertRows(fresh)
}

// isPlain reports whether a row has been accepted and nothing else, and has nothing special.
func isPlain(r *commit.Row) bool {
	return r.State == commit.StatePending && r.Origin == 0 && r.Naming == (report.Naming{}) && r.Trace == ""
}

// orNull is NULL if there is no body.
func orNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// insertRows inserts documents, many at once where they have nothing special.
func (s *store) insertRows(list []*commit.Row) error {
	if len(list) == many && !slices.ContainsFunc(list, func(r *commit.Row) bool { return !isPlain(r) }) {
		args := make([]any, 0, many*(tables.ContentFields+1))
		for _, r := range list {
			args = append(append(args, tables.RowFields(r)[:tables.ContentFields].Values()...), orNull(r.Body))
		}
		return s.insert(list, insertMany, args)
	}
	for i, r := range list {
		if err := s.insert(list[i:i+1], insert, append(tables.RowFields(r)[:tables.SpecialFields].Values(), orNull(r.Body))); err != nil {
			return fmt.Errorf("write %s %q: %w", r.Kind, r.ID, err)
		}
	}
	return nil
}

// insert inserts documents and notes their numbers, which follow each other.
func (s *store) insert(list []*commit.Row, query string, args []any) error {
	stmt, err := s.statement(query)
	if err != nil {
		return err
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return err
	}
	last, err := result.LastInsertId()
	for i, r := range list {
		r.Doc = last - int64(len(list)-1-i)
	}
	return err
}

// insertQuery returns the statement that inserts n documents with the first of their fields and their bodies.
// What is special has the values that isPlain tells. It still needs commit.SQL.
func insertQuery(n, given int) string {
	special := strings.Join([]string{"0", "0", "0", "''"}[given-tables.ContentFields:], ", ")
	if special != "" {
		special += ", "
	}
	row := `(` + fields[:given].List("?") + `, ?, ` + special + `{pending}, '', ''), `
	return `INSERT INTO documents (` + fields[:given].List("@") + `, body, ` + fields[given:].List("@") + `) VALUES ` + strings.TrimSuffix(strings.Repeat(row, n), ", ")
}

func (s *store) EndClaimed(_ report.Key, claimed commit.Claim, ended int64) (bool, error) {
	if claimed.Doc == 0 {
		return false, nil
	}
	n, err := s.exec(`UPDATE documents SET ended_at = coalesce(nullif(?, 0), ended_at), state = {done}, trace = '' WHERE doc = ? AND version = ? AND state = ?`, ended, claimed.Doc, int64(claimed.Version), claimed.State)
	return n > 0 && err == nil, err
}

func (s *store) Unclaim(commit.Settled, *commit.Row) bool { return false } // claims are in memory

// MarkAll goes in the order in which the documents are in the file: any other writes most of its
// pages once for each piece.
func (s *store) MarkAll(kind report.Kind, after report.ResendCursor, limit int) (n int64, next report.ResendCursor, err error) {
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
	if s.ledger.LastVersion != before.LastVersion {
		if _, err := s.exec(`UPDATE meta SET value = ? WHERE name = 'last_version'`, int64(s.ledger.LastVersion)); err != nil {
			return fmt.Errorf("keep the last version: %w", err)
		}
	}
	for k, t := range s.ledger.Totals {
		if t == (commit.Totals{}) {
			continue
		}
		if _, err := s.exec(updateTotals, append(tables.TotalsFields(&t).Values(), string(k))...); err != nil {
			return fmt.Errorf("keep the totals of %s: %w", k, err)
		}
	}
	return nil
}
