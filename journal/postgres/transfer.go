package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/transfer"
)

// Endpoint is the journal in the database that a URL names, for copying from or to it.
func Endpoint(url string) transfer.Endpoint {
	return transfer.Endpoint{
		Name:       "in PostgreSQL",
		OpenSource: func(ctx context.Context) (transfer.Source, error) { return openTransferSource(ctx, url) },
		OpenTarget: func(ctx context.Context) (transfer.Target, error) { return openTransferTarget(ctx, url) },
	}
}

// copyTables are those that a copy reads and writes, in the order that a process which
// ends locks them in.
const copyTables = "documents, refusals, receipts, history, totals, meta, processes"

// connectForCopy opens a connection that may stay in a transaction for long.
func connectForCopy(ctx context.Context, url string) (*pgx.Conn, error) {
	cfg, err := poolConfig(url, usualPace().stuck, map[string]string{
		"idle_in_transaction_session_timeout": "0",
		"statement_timeout":                   "0",
		"lock_timeout":                        fmt.Sprint(usualPace().stuck.Milliseconds()),
	})
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}

// closeCopy gives a transaction up that was not committed. The server does so itself, a
// little later, where it cannot be told.
func closeCopy(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), usualPace().stuck)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK")
	_ = conn.Close(ctx)
}

// lockSetUp keeps others from setting the journal up until the transaction ends: a
// riskdex that is started waits.
func lockSetUp(ctx context.Context, tx pgx.Tx) error {
	free, err := trySetUpLock(ctx, tx)
	if err == nil && !free {
		err = errors.New("a riskdex is just being started on it, or it is being copied, or it is both ends of this copy")
	}
	return err
}

// checkUnused returns an error that names the processes that use the journal. Their
// signs of life are all that there is to see.
func checkUnused(ctx context.Context, q interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}) error {
	rows, err := q.Query(ctx, "SELECT name FROM processes WHERE alive_until >= "+serverTime("$1")+" ORDER BY id", (*int64)(nil))
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("it is in use by riskdex (host and process: %s); stop it first; one that was killed counts for %v", strings.Join(names, ", "), usualPace().lease)
	}
	return err
}
