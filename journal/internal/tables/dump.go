package tables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Table is a table that is copied row by row.
type Table struct {
	Name    string
	One     string // what a row is called
	Many    string
	Remedy  string // for a row that cannot be copied
	Columns []Column

	key int // how many columns its key has, which are the first ones
}

// Column is a column that every engine has.
type Column struct {
	Name string
	Type string // as in the schema, without @
	null bool
}

// Row has a value for each column of a table: an int64, a bool, a string or a []byte.
type Row []any

// Dumped are the tables that are copied row by row.
var Dumped = []*Table{documents,
	table("refusals", "refusal", "refusals", "drop it, or restore a backup", 1),
	table("receipts", "receipt", "receipts", fmt.Sprintf("receipts are of no use after %v", report.ReceiptsFor), 2),
	table("history", "entry of the history", "entries of the history", "restore a backup", 1),
}

var documents = table("documents", "document", "documents", "ask the publisher to deliver it again to a riskdex on this journal, or restore a backup", 2)

// commonColumn matches a column of the schema that every engine has.
var commonColumn = regexp.MustCompile(`(?m)^\t(\w+) +@(\w+)( NOT NULL)?`)

func table(name, one, many, remedy string, key int) *Table {
	t := &Table{Name: name, One: one, Many: many, Remedy: remedy, key: key}
	_, script, _ := strings.Cut(schema, "CREATE TABLE "+name+" (")
	script, _, _ = strings.Cut(script, "CREATE TABLE")
	for _, m := range commonColumn.FindAllStringSubmatch(script, -1) {
		t.Columns = append(t.Columns, Column{Name: m[1], Type: m[2], null: m[3] == ""})
	}
	return t
}

// Names returns the names of columns as a list in SQL.
func Names(columns []Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// Called returns what a row with a key is called.
func (t *Table) Called(key Row) string {
	words := []string{t.One}
	for i, c := range t.Columns[:t.key] {
		form := "%v"
		if c.Type == "text" {
			form = "%q"
		}
		words = append(words, fmt.Sprintf(form, key[i]))
	}
	return strings.Join(words, " ")
}

// cell reads a value of a column.
type cell struct {
	column Column
	engine Engine
	into   *any
}

// Scan implements sql.Scanner.
func (c *cell) Scan(v any) (err error) {
	*c.into, err = c.engine.exact(c.column, v)
	return err
}

// cells returns a row, and where the values of its columns are scanned to.
func cells(e Engine, columns []Column) (Row, []any) {
	row, targets := make(Row, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		targets[i] = &cell{c, e, &row[i]}
	}
	return row, targets
}

var errStop = errors.New("no more rows are wanted")

// Rows yields the rows of the table in the order of its key. A row is valid until the next one. An error
// names the row that cannot be read.
func (t *Table) Rows(ctx context.Context, q Querier, e Engine) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		row, targets := cells(e, t.Columns)
		keys := t.Columns[:t.key]
		fromByKey := " FROM " + e.byKey(t.Name) + " ORDER BY " + Names(keys)
		n, last := 0, Row(nil)
		rows, err := q.QueryContext(ctx, "SELECT "+Names(t.Columns)+fromByKey)
		err = ForRows(rows, err, func(scan func(...any) error) error {
			err := scan(targets...)
			if err != nil {
				return err
			}
			n, last = n+1, append(last[:0], row[:t.key]...)
			if !yield(row, nil) {
				return errStop
			}
			return nil
		})
		if err == nil || errors.Is(err, errStop) {
			return
		}
		if ctx.Err() == nil {
			called := "first " + t.One
			next, targets := cells(e, keys)
			switch {
			case q.QueryRowContext(ctx, "SELECT "+Names(keys)+fromByKey+" LIMIT 1 OFFSET $1", n).Scan(targets...) == nil:
				called = t.Called(next)
			case last != nil:
				called = "row after the " + t.Called(last)
			}
			err = fmt.Errorf("the %s cannot be copied; %s: %w", called, t.Remedy, err)
		}
		yield(nil, err)
	}
}

// Stored yields rows as an engine keeps them.
func (t *Table) Stored(e Engine, rows iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		values := make(Row, len(t.Columns))
		for r, err := range rows {
			for i, c := range t.Columns {
				if err != nil {
					break
				}
				if values[i], err = e.stored(c, r[i]); err != nil {
					err = fmt.Errorf("the %s cannot be copied; %s: %w", t.Called(r), t.Remedy, err)
				}
			}
			if !yield(values, err) {
				return
			}
		}
	}
}

// Content returns the change in a row of documents, and whether its checksum fits.
func Content(r Row) (report.Change, bool) {
	c, intact, _ := ScanContent(func(targets ...any) error {
		for i, at := range contentIndexes {
			_ = targets[i].(sql.Scanner).Scan(r[at])
		}
		return nil
	})
	return c, intact
}

// contentIndexes are the positions of ContentColumns among the columns of documents.
var contentIndexes = func() (all []int) {
	for name := range strings.SplitSeq(ContentColumns, ", ") {
		all = append(all, slices.IndexFunc(documents.Columns, func(c Column) bool { return c.Name == name }))
	}
	return all
}()

// Head is what a journal has besides rows.
type Head struct {
	Line        string
	Documents   int64 // how many there are
	Totals      map[report.Kind]commit.Totals
	Last        report.Version // the highest ever given out
	LastRefusal int64          // the highest number ever given to one
	Loss        commit.Loss
	Notes       map[string]string
}

// ReadHead reads the head of a journal.
func ReadHead(ctx context.Context, q Querier, e Engine) (h Head, err error) {
	h.Notes = map[string]string{}
	err = q.QueryRowContext(ctx, `SELECT (SELECT value FROM ids WHERE name = 'line'), `+e.counts()+`, `+commit.LossColumns).
		Scan(append([]any{&h.Line, &h.Documents, &h.Last, &h.LastRefusal}, h.Loss.ScanTargets()...)...)
	if err == nil {
		h.Totals, err = ReadTotals(ctx, q)
	}
	if err != nil {
		return h, err
	}
	rows, err := q.QueryContext(ctx, commit.NotesQuery)
	return h, ForRows(rows, err, func(scan func(...any) error) error {
		var name, value string
		err := scan(&name, &value)
		h.Notes[name] = value
		return err
	})
}

// Write writes the head to the tables of a new journal, where a riskdex may have been for a moment.
func (h Head) Write(ctx context.Context, conn *sql.Conn, e Engine) (err error) {
	run := func(query string, args ...any) {
		if err == nil {
			_, err = conn.ExecContext(ctx, query, args...)
		}
	}
	run(`UPDATE ids SET value = $1 WHERE name = 'line'`, h.Line)
	run(`DELETE FROM loss`)
	if h.Loss.Until > 0 {
		run(commit.KeepLoss, int64(h.Loss.Since), int64(h.Loss.Until), h.Loss.NoticedAt)
	}
	run(commit.DropNotes)
	for name, value := range h.Notes {
		run(commit.KeepNote, name, value)
	}
	run(`DELETE FROM totals`)
	for k, sums := range h.Totals {
		f := append(TotalsFields(&sums), Field{"kind", (*Word)(&k)})
		run(`INSERT INTO totals (`+f.List("@")+`) VALUES (`+f.List("$#")+`)`, f.Values()...)
	}
	keepLast, keepLastRefusal := e.keepLasts()
	run(keepLast, int64(h.Last))
	run(keepLastRefusal, h.LastRefusal)
	return err
}
