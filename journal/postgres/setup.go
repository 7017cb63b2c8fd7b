package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// oldestSupported is the oldest server that is accepted.
const oldestSupported = 140000

// setUp creates missing tables, and refuses tables that this version of riskdex cannot use. If
// several processes start, one of them creates the tables.
func setUp(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	if err := checkServer(ctx, conn, log); err != nil {
		return err
	}
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return setUpOnce(ctx, tx, log) }); err != nil {
		return fmt.Errorf("set up its tables: %w", err)
	}
	return nil
}

func setUpOnce(ctx context.Context, tx pgx.Tx, log *slog.Logger) error {
	free, err := trySetUpLock(ctx, tx)
	if err != nil {
		return err
	}
	if !free {
		log.Info("another process sets this journal up, or copies it; riskdex waits until that is done")
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock("+setUpLock+")"); err != nil {
			return err
		}
	}
	return makeTables(ctx, tx)
}

const (
	// setUpLock is the number of the lock under which a journal is set up.
	setUpLock      = `hashtextextended('riskdex ' || current_schema(), 0)`
	journalIsThere = `to_regclass(quote_ident(current_schema()) || '.riskdex_journal') IS NOT NULL`
)

// trySetUpLock takes the lock until the end of the transaction, unless another process has it.
func trySetUpLock(ctx context.Context, tx pgx.Tx) (had bool, err error) {
	err = tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock("+setUpLock+")").Scan(&had)
	return had, err
}

// makeTables creates the tables, or checks those that are there. The caller holds setUpLock.
func makeTables(ctx context.Context, tx pgx.Tx) error {
	var there, foreign bool
	err := tx.QueryRow(ctx, `SELECT `+journalIsThere+`, to_regclass(quote_ident(current_schema()) || '.documents') IS NOT NULL`).Scan(&there, &foreign)
	switch {
	case err != nil:
		return err
	case there:
		return checkVersion(ctx, tx)
	case foreign:
		return errForeignTables
	}
	return createTables(ctx, tx)
}

var errForeignTables = errors.New("its schema has a table documents that is not riskdex's; give riskdex a database, or a schema, of its own")

func createTables(ctx context.Context, tx pgx.Tx) error {
	b := &pgx.Batch{}
	b.Queue("INSERT INTO riskdex_journal (version) VALUES ($1)", tables.Version)
	b.Queue("INSERT INTO ids (name, value) VALUES ('line', $1)", commit.NewLineageID())
	for _, k := range report.AllKinds() {
		b.Queue("INSERT INTO holds (kind, holder, generation) VALUES ($1, 0, 0)", string(k))
	}
	_, err := tx.Exec(ctx, tables.Schema(tables.Postgres))
	if err == nil {
		err = tx.SendBatch(ctx, b).Close()
	}
	if err != nil {
		return err
	}
	return compress(ctx, tx)
}

// compress has bodies compressed with LZ4, which takes a tenth of the time of the default, unless
// the server was built without it.
func compress(ctx context.Context, tx pgx.Tx) error {
	var lz4 bool
	err := tx.QueryRow(ctx, `SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'`).Scan(&lz4)
	if err != nil || !lz4 {
		return err
	}
	_, err = tx.Exec(ctx, `ALTER TABLE documents ALTER body SET COMPRESSION lz4; ALTER TABLE refusals ALTER body SET COMPRESSION lz4;
		ALTER TABLE history ALTER old_body SET COMPRESSION lz4`)
	return err
}

func readLineage(ctx context.Context, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}) (line string, err error) {
	if err := q.QueryRow(ctx, "SELECT value FROM ids WHERE name = 'line'").Scan(&line); err != nil {
		return "", fmt.Errorf("read its lineage: %w", err)
	}
	return line, nil
}

// checkVersion refuses tables of another version of riskdex.
func checkVersion(ctx context.Context, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}) error {
	var version int
	err := q.QueryRow(ctx, "SELECT version FROM riskdex_journal").Scan(&version)
	if err == nil && version != tables.Version {
		err = fmt.Errorf("its tables have version %d, and this riskdex knows version %d: use the riskdex that made them", version, tables.Version)
	}
	return err
}

// checkServer refuses a server whose settings make commits not durable.
func checkServer(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	var version int
	var sync, fsync, schema string
	err := conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('synchronous_commit'),
		current_setting('fsync'), coalesce(current_schema(), '')`).Scan(&version, &sync, &fsync, &schema)
	switch {
	case err != nil:
		return err
	case checkAge(version) != nil:
		return checkAge(version)
	case sync == "off":
		return errSyncOff
	case schema == "":
		return errors.New("no schema of the search_path exists; create it: CREATE SCHEMA …")
	}
	if fsync == "off" {
		log.Warn("fsync is off in PostgreSQL: what is acknowledged is lost with a power cut")
	}
	return nil
}

// checkLocks refuses a database whose advisory locks do nothing, such as CockroachDB, where
// versions could be given out twice. It takes a lock on one connection, and expects that another
// one cannot get it.
func checkLocks(ctx context.Context, one, other *pgx.Conn, class int32) error {
	const take, try, leave = "SELECT pg_advisory_lock_shared($1, $2)", "SELECT pg_try_advisory_lock($1, $2)", "SELECT pg_advisory_unlock_shared($1, $2)"
	if _, err := one.Exec(ctx, take, class, int32(lockCheck)); err != nil {
		return err
	}
	var had bool
	err := other.QueryRow(ctx, try, class, int32(lockCheck)).Scan(&had)
	if _, end := one.Exec(ctx, leave, class, int32(lockCheck)); err == nil {
		err = end
	}
	if err == nil && had {
		err = errors.New("the advisory locks of this database do not lock, so several processes would get in each other's way; use PostgreSQL itself")
	}
	return err
}

func checkAge(version int) error {
	if version < oldestSupported {
		return fmt.Errorf("the server has version %d; riskdex needs PostgreSQL 14 or newer", version/10000)
	}
	return nil
}

// lockKeys are the keys of PostgreSQL's advisory locks. These are shared by a whole database, so
// the object id of a table distinguishes the journals in it.
type lockKeys struct {
	class   int32
	channel string
}

const (
	lockNames    = 1    // which city has which code (names.go)
	lockVersions = 2    // the sequence of versions
	lockCheck    = 3    // nothing; checkLocks tries it
	lockHistory  = 4    // old entries of the history are dropped
	lockKinds    = 10   // and following: the lock of a kind (LockKind)
	lockVerify   = 20   // and following: a verification of a kind
	lockMembers  = 1000 // and following: the claims of a process
)

func readLockKeys(ctx context.Context, conn *pgx.Conn) (k lockKeys, err error) {
	err = conn.QueryRow(ctx, "SELECT 'documents'::regclass::oid::int4").Scan(&k.class)
	k.channel = fmt.Sprintf("riskdex_%d", uint32(k.class))
	return k, err
}
