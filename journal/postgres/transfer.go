package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"riskdex/journal/internal/tables"
	"riskdex/journal/transfer"
)

// Endpoint is the journal in the database that a URL names, for copying from or to it.
func Endpoint(url string) transfer.Endpoint {
	return transfer.Endpoint{
		Name:       "in PostgreSQL",
		OpenSource: func(ctx context.Context) (*transfer.Source, error) { return openTransferSource(ctx, url) },
		OpenTarget: func(ctx context.Context) (transfer.Target, error) { return connectForCopy(ctx, url, beginCopyTarget) },
	}
}

// copyTables are those that a copy reads and writes, in the order that a process which
// ends locks them in.
const copyTables = "documents, refusals, receipts, history, totals, meta, processes"

// copyConn is a connection that may stay in a transaction for long. As a target, all is one transaction,
// of which nobody sees anything before its end.
type copyConn struct {
	*sql.Conn
	db  *sql.DB
	pgx *pgx.Conn // what Conn wraps
	tx  pgx.Tx
}

// connectForCopy opens a connection, and calls begin with it.
func connectForCopy(ctx context.Context, url string, begin func(context.Context, *copyConn) error) (*copyConn, error) {
	cfg, err := poolConfig(url, usualPace().stuck, map[string]string{
		"idle_in_transaction_session_timeout": "0",
		"statement_timeout":                   "0",
		"lock_timeout":                        fmt.Sprint(usualPace().stuck.Milliseconds()),
	})
	if err != nil {
		return nil, err
	}
	c := &copyConn{db: stdlib.OpenDB(*cfg.ConnConfig)}
	if c.Conn, err = c.db.Conn(ctx); err != nil {
		return nil, errors.Join(err, c.db.Close())
	}
	_ = c.Raw(func(driver any) error {
		c.pgx = driver.(*stdlib.Conn).Conn()
		return nil
	})
	if err := begin(ctx, c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close gives a transaction up that was not committed. The server does so itself, a little later, where it
// cannot be told.
func (c *copyConn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), usualPace().stuck)
	defer cancel()
	_, _ = c.pgx.Exec(ctx, "ROLLBACK")
	_ = c.pgx.Close(ctx)
	_ = c.Conn.Close()
	_ = c.db.Close()
	return nil
}

// lockSetUp keeps others from setting the journal up until the transaction ends: a
// riskdex that is started waits.
func (c *copyConn) lockSetUp(ctx context.Context) error {
	free, err := trySetUpLock(ctx, c.tx)
	if err == nil && !free {
		err = errors.New("a riskdex is just being started on it, or it is being copied, or it is both ends of this copy")
	}
	return err
}

// lockTables waits until nobody writes.
func (c *copyConn) lockTables(ctx context.Context, mode string) error {
	if _, err := c.tx.Exec(ctx, "LOCK TABLE "+copyTables+" IN "+mode+" MODE"); err != nil {
		return fmt.Errorf("wait until nobody writes: %w", err)
	}
	if err := c.lockSetUp(ctx); err != nil {
		return err
	}
	return c.checkUnused(ctx)
}

// checkUnused returns an error that names the processes that use the journal. Their
// signs of life are all that there is to see.
func (c *copyConn) checkUnused(ctx context.Context) error {
	rows, err := c.pgx.Query(ctx, "SELECT name FROM processes WHERE alive_until >= "+serverTime("$1")+" ORDER BY id", (*int64)(nil))
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("it is in use by riskdex (host and process: %s); stop it first; one that was killed counts for %v", strings.Join(names, ", "), usualPace().lease)
	}
	return err
}

// openTransferSource opens the journal and blocks writers, and processes that want to join, until
// it is closed.
func openTransferSource(ctx context.Context, url string) (s *transfer.Source, err error) {
	_, err = connectForCopy(ctx, url, func(ctx context.Context, c *copyConn) error {
		if err := beginCopySource(ctx, c); err != nil {
			return err
		}
		if s, err = c.Reader(ctx); err == nil {
			s.Close = c.Close
		}
		return err
	})
	return s, err
}

func beginCopySource(ctx context.Context, c *copyConn) error {
	var there bool
	err := c.pgx.QueryRow(ctx, "SELECT "+journalIsThere).Scan(&there)
	if err == nil && !there {
		err = errors.New("its schema has no riskdex journal; name the schema with search_path=… in the URL if it is another one")
	}
	if err == nil {
		err = c.checkUnused(ctx)
	}
	if err == nil {
		err = checkVersion(ctx, c.pgx) // it may lack a table that is to be locked
	}
	if err != nil {
		return err
	}
	// What the transaction sees is what there is at its first query, when it has the locks.
	if c.tx, err = c.pgx.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}); err != nil {
		return err
	}
	if err := c.lockTables(ctx, "SHARE"); err != nil {
		return err
	}
	return checkVersion(ctx, c.pgx)
}

// beginCopyTarget makes the tables where there are none, and sees to it that they are empty, and
// stay so.
func beginCopyTarget(ctx context.Context, c *copyConn) error {
	err := checkServer(ctx, c.pgx, slog.New(slog.DiscardHandler))
	if err == nil {
		c.tx, err = c.pgx.Begin(ctx)
	}
	if err == nil {
		err = c.lockSetUp(ctx)
	}
	if err == nil {
		err = makeTables(ctx, c.tx)
	}
	if err == nil {
		err = c.checkUnused(ctx)
	}
	if err == nil {
		err = c.lockTables(ctx, "SHARE ROW EXCLUSIVE")
	}
	var used bool
	if err == nil {
		err = c.tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM documents) OR EXISTS (SELECT FROM refusals) OR EXISTS (SELECT FROM receipts) OR EXISTS (SELECT FROM history)").Scan(&used)
	}
	if err == nil && used {
		err = errors.New("its schema has a journal already, and a copy overwrites nothing; name another schema, or drop this one if nobody needs it: DROP SCHEMA … CASCADE; CREATE SCHEMA …")
	}
	return err
}

// Insert implements transfer.Target.
func (c *copyConn) Insert(ctx context.Context, table *tables.Table, rows iter.Seq2[tables.Row, error]) error {
	next, stop := iter.Pull2(table.Stored(tables.Postgres, rows))
	defer stop()
	var failed error // of the rows; PostgreSQL would only say that it was told of an error
	_, err := c.pgx.CopyFrom(ctx, pgx.Identifier{table.Name}, strings.Split(tables.Names(table.Columns), ", "), pgx.CopyFromFunc(func() ([]any, error) {
		row, err, more := next()
		if !more {
			return nil, nil
		}
		failed = err
		return row, err
	}))
	if failed == nil && err != nil {
		failed = fmt.Errorf("write the %s: %w", table.Many, err)
	}
	return failed
}

// Finish implements transfer.Target. Without ANALYZE, the first claims would be planned as for a few
// documents.
func (c *copyConn) Finish(ctx context.Context, head tables.Head) error {
	err := head.Write(ctx, c.Conn, tables.Postgres)
	if err == nil {
		_, err = c.tx.Exec(ctx, `UPDATE meta SET refusals = sums.n, refusal_bytes = sums.bytes FROM (SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM refusals) AS sums;
			ANALYZE documents, refusals, receipts, history`)
	}
	return err
}

// Reader implements transfer.Target.
func (c *copyConn) Reader(ctx context.Context) (*transfer.Source, error) {
	// The planner would rather sort all bodies than use an index.
	if _, err := c.tx.Exec(ctx, "SET LOCAL enable_sort = off"); err != nil {
		return nil, err
	}
	head, err := tables.ReadHead(ctx, c, tables.Postgres)
	return &transfer.Source{Querier: c, Engine: tables.Postgres, Head: head, IsCorrupt: func(error) bool { return false }, Close: func() error { return nil }}, err
}

// Publish waits for the disk, and for a standby, as every commit of a delivery does.
func (c *copyConn) Publish(ctx context.Context) error { return c.tx.Commit(ctx) }
