package postgres

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Inspect looks at the journal that Open would open, and changes nothing; it
// may be in use. The error is why it could not be opened. What is doubtful about the server
// is logged, as it is when the journal is opened.
func Inspect(ctx context.Context, url string, log *slog.Logger) (i journal.Inspection, err error) {
	i.Free, i.Empty = -1, true
	cfg, err := poolConfig(url, usualPace().stuck, nil)
	if err != nil {
		return i, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return i, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	other, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return i, err
	}
	defer other.Close(context.WithoutCancel(ctx))
	if err := checkSessions(ctx, conn, other); err != nil {
		return i, err
	}
	if err := conn.QueryRow(ctx, `SELECT current_setting('server_version')`).Scan(&i.Server); err != nil {
		return i, err
	}
	if err := checkServer(ctx, conn, log); err != nil {
		return i, err
	}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error { return inspectTables(ctx, tx, &i) })
	return i, err
}

func inspectTables(ctx context.Context, tx pgx.Tx, i *journal.Inspection) error {
	var mayCreate, primary, foreign bool
	err := tx.QueryRow(ctx, `SELECT `+journalIsThere+`, has_schema_privilege(current_schema(), 'CREATE'), NOT pg_is_in_recovery(),
		to_regclass(quote_ident(current_schema()) || '.documents') IS NOT NULL`).Scan(&i.Exists, &mayCreate, &primary, &foreign)
	switch {
	case err != nil:
		return err
	case !primary:
		return errors.New("the server is a standby, which takes no writes; name all servers in the URL and add target_session_attrs=read-write")
	case !mayCreate:
		return errors.New("this user may not make tables in the schema; GRANT CREATE ON SCHEMA … TO …")
	case !i.Exists && foreign:
		return errForeignTables
	case !i.Exists:
		return nil
	}
	if err = checkVersion(ctx, tx); err != nil {
		return err
	}
	if i.Line, err = readLineage(ctx, tx); err != nil {
		return err
	}
	var members int
	err = tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM processes), (`+commit.FollowedQuery+`), NOT EXISTS (SELECT 1 FROM documents WHERE kind <> $1)`, string(report.Probe)).Scan(&members, &i.Followed, &i.Empty)
	i.InUse = members > 0
	return err
}
