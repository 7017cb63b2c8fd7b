package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
)

// connection remembers the statements that were carried out on it: to prepare one takes longer than to
// run it. Its methods take no context, since half a transaction helps nobody. The texts of statements
// must be few. Where the plan could depend on the value of a parameter, as with a partial index or a
// LIMIT, SQLite plans a statement again each time that it is run. So the index is named, or the number
// stands in the text. In statements that run for every change, parameters have no numbers: the driver
// reads the number of each one from its text.
type connection struct {
	*sql.Conn
	prepared map[string]*sql.Stmt
}

func connect(ctx context.Context, db *sql.DB) (*connection, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{c, map[string]*sql.Stmt{}}, nil
}

// close closes the statements as well, which package sql does not: while one is open, SQLite keeps the
// files open.
func (c *connection) close() error {
	var errs []error
	for _, stmt := range c.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.Close())...)
}

func (c *connection) statement(query string) (*sql.Stmt, error) {
	if stmt := c.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := c.PrepareContext(context.Background(), commit.SQL(query))
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	c.prepared[query] = stmt
	return stmt, nil
}

// exec returns how many rows a statement changed.
func (c *connection) exec(query string, args ...any) (int64, error) {
	stmt, err := c.statement(query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (c *connection) rows(query string, args ...any) (*sql.Rows, error) {
	stmt, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

// row reads the first row of a result, or returns sql.ErrNoRows.
func (c *connection) row(query string, args ...any) func(targets ...any) error {
	return func(targets ...any) error {
		stmt, err := c.statement(query)
		if err != nil {
			return err
		}
		return stmt.QueryRowContext(context.Background(), args...).Scan(targets...)
	}
}

// forRows is tables.ForRows of a statement.
func (c *connection) forRows(f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := c.rows(query, args...)
	return tables.ForRows(rows, err, f)
}
