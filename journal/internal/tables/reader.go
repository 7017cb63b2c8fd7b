package tables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Reader implements the methods of a journal that only read. Every engine embeds it.
type Reader struct {
	engine Engine
	hooks  Hooks
}

// Hooks are what an engine gives a Reader to read with.
type Hooks struct {
	// Read calls f with the open database, for a single statement.
	Read func(f func(Querier) error) error
	// Snapshot calls f in a transaction that only reads, and sees the journal as it is in one moment. It
	// waits for the memory that f lacks without one.
	Snapshot func(ctx context.Context, f func(*sql.Tx) error) error
	// Long calls f as Snapshot does, for as long as a client reads. between is to be called now and then; its
	// error says why f must end.
	Long func(ctx context.Context, f func(q Querier, between func() error) error) error
	// Open returns a context that is done once the journal closes.
	Open func() context.Context
	// IsCorrupt reports whether an error is that the database cannot follow the pages of a row.
	IsCorrupt func(error) bool
}

// Querier is a database, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// NewReader returns the methods for an engine.
func NewReader(e Engine, h Hooks) *Reader {
	return &Reader{engine: e, hooks: h}
}

// read calls f for a single statement; what and args say what it is about.
func (r *Reader) read(ctx context.Context, f func(view) error, what string, args ...any) error {
	return about(r.hooks.Read(func(q Querier) error { return f(view{r, ctx, q}) }), what, args)
}

// snapshot calls f with one state of the journal.
func (r *Reader) snapshot(ctx context.Context, f func(view) error, what string, args ...any) error {
	return about(r.hooks.Snapshot(ctx, func(tx *sql.Tx) error { return f(view{r, ctx, tx}) }), what, args)
}

func about(err error, what string, args []any) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), err)
	}
	return err
}

// view is the journal for those who read it.
type view struct {
	*Reader
	ctx context.Context
	q   Querier
}

func (v view) row(query string, args ...any) *sql.Row {
	return v.q.QueryRowContext(v.ctx, commit.SQL(query), args...)
}

// document returns the parameters kind and id of a query.
func (v view) document(k report.Key) []any { return []any{string(k.Kind), v.engine.text(string(k.ID))} }

// list returns what scan makes of each row of a query.
func list[T any](v view, scan func(scan func(...any) error) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := v.q.QueryContext(v.ctx, commit.SQL(query), args...)
	err = ForRows(rows, err, func(row func(...any) error) error {
		r, err := scan(row)
		all = append(all, r)
		return err
	})
	return all, err
}

// ForRows calls f with each row that a query has found.
func ForRows(rows *sql.Rows, err error, f func(scan func(...any) error) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); errors.Is(err, commit.ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// oneByOne reads the rows of documents, each by itself, so that one whose pages the database cannot
// follow does not hide the others: lost makes up for that.
func oneByOne[T any](v view, columns string, keys []report.Key, scan func(report.Key, func(...any) error) (T, error), lost func(report.Key) T) ([]T, error) {
	stmt, err := v.q.PrepareContext(v.ctx, `SELECT `+columns+ofDocument)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	all := make([]T, len(keys))
	for i, k := range keys {
		all[i], err = scan(k, stmt.QueryRowContext(v.ctx, v.document(k)...).Scan)
		switch {
		case v.hooks.IsCorrupt(err):
			all[i] = lost(k)
		case err != nil:
			return nil, fmt.Errorf("read %s %q: %w", k.Kind, k.ID, err)
		}
	}
	return all, nil
}

// ofDocument selects the document that view.document names.
const ofDocument = ` FROM documents WHERE kind = $1 AND id = $2`

// tryMemory is report.TryMemory for the body whose length a query finds. Whoever reads the body says
// what is wrong with a row that is not there or cannot be read.
func (v view) tryMemory(query string, args ...any) error {
	var bytes Int
	err := v.row(query, args...).Scan(&bytes)
	switch {
	case errors.Is(err, sql.ErrNoRows) || v.hooks.IsCorrupt(err):
		return nil
	case err != nil:
		return err
	}
	return report.TryMemory(v.ctx, int64(bytes))
}

func scanID(scan func(...any) error) (id report.ID, err error) {
	err = scan((*Text)(&id))
	return id, err
}
