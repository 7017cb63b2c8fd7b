package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

const (
	pageSize = 4096
	// checkpointPages is how long the log grows before it is copied into the
	// database file: 32 MiB.
	checkpointPages = 8192
	cacheKiB        = 32 << 10
	busyTimeout     = 5 * time.Second
)

// engine is an open database: one connection that writes, one that Claim reads
// with, and a few for the rest.
type engine struct {
	writer, readers *sql.DB
	write           *sql.Conn // used by the goroutine of SQLite.run only
	claim           *sql.Conn // used by whoever holds claims.reading
	st              statements
	prepared        []*sql.Stmt  // all of st, in order to close them
	synchronous     string       // as it is set on write
	traces          atomic.Int64 // rows of the table, as far as they are committed
}

// statements are prepared on the connection that their name begins with.
type statements struct {
	find, insert, replace, move, end, setAside                       *sql.Stmt // write
	byCode, resend, resendDeleted, version, totals, probe, usedPages *sql.Stmt // write
	mark, renew, drop, origin, keepOrigin                            *sql.Stmt // write
	refuse, oldestRefusals, dropRefusals                             *sql.Stmt // write
	refusal, refusalsOf, dropRefusal                                 *sql.Stmt // write
	keepTrace, dropTrace                                             *sql.Stmt // write
	receipt, keepReceipt, dropReceipts                               *sql.Stmt // write
	claimWaiting, claimDocument, claimTrace, begin, commit, rollback *sql.Stmt
}

// openEngine opens the database in the file path, and sets it up if it is empty.
func openEngine(ctx context.Context, path string) (e *engine, err error) {
	e = &engine{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.writer, err = sql.Open("sqlite", dsn(path)); err != nil {
		return e, err
	}
	if e.write, err = e.writer.Conn(ctx); err != nil {
		return e, err
	}
	for _, pragma := range []string{
		fmt.Sprintf("page_size = %d", pageSize),
		"journal_mode = WAL",
		fmt.Sprintf("wal_autocheckpoint = %d", checkpointPages),
		fmt.Sprintf("journal_size_limit = %d", logLimit),
		"synchronous = FULL",
	} {
		if _, err = e.write.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return e, fmt.Errorf("set %s: %w", pragma, err)
		}
	}
	e.synchronous = "FULL"
	if err = setUp(ctx, e.write); err != nil {
		return e, err
	}
	if e.readers, err = sql.Open("sqlite", dsn(path)+"&_pragma=query_only(1)"); err != nil {
		return e, err
	}
	e.readers.SetMaxOpenConns(4)
	if e.claim, err = e.readers.Conn(ctx); err != nil {
		return e, err
	}
	return e, e.prepare(ctx)
}

func dsn(path string) string {
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=cache_size(-%d)",
		(&url.URL{Path: path}).EscapedPath(), busyTimeout.Milliseconds(), cacheKiB)
}

func (e *engine) prepare(ctx context.Context) error {
	for _, p := range []struct {
		on    *sql.Conn
		into  **sql.Stmt
		query string
	}{
		{e.write, &e.st.begin, `BEGIN IMMEDIATE`},
		{e.write, &e.st.commit, `COMMIT`},
		{e.write, &e.st.rollback, `ROLLBACK`},
		{e.write, &e.st.find, `SELECT doc, id, version, op, state, code, accepted_at, waiting_since
			FROM documents WHERE kind = ?1 AND id = ?2`},
		{e.write, &e.st.byCode, `SELECT id FROM documents
			WHERE kind = ?1 AND code = ?2 AND op = ?3 AND code <> '' LIMIT 2`},
		{e.write, &e.st.insert, `INSERT INTO documents
			(kind, id, version, op, state, code, accepted_at, waiting_since, ended_at, crc, error_type, reason, body)
			VALUES (?1, ?2, ?3, ?4, 2, ?5, ?6, ?7, ?6, ?8, '', '', ?9)`},
		{e.write, &e.st.replace, `UPDATE documents SET version = ?2, op = ?3, state = 2, code = ?4, accepted_at = ?5,
			waiting_since = ?6, ended_at = ?5, crc = ?7, error_type = '', reason = '', body = ?8 WHERE doc = ?1`},
		{e.write, &e.st.end, `UPDATE documents SET state = ?2, ended_at = ?3 WHERE doc = ?1`},
		{e.write, &e.st.setAside, `UPDATE documents SET state = 4, ended_at = ?2, error_type = ?3, reason = ?4 WHERE doc = ?1`},
		{e.write, &e.st.move, `UPDATE documents SET waiting_since = ?2 WHERE doc = ?1`},
		{e.write, &e.st.resend, `UPDATE documents SET state = 5 WHERE kind = ?1 AND state = 3`},
		{e.write, &e.st.resendDeleted, `UPDATE documents SET state = 5
			WHERE kind = ?1 AND accepted_at >= ?2 AND op = 'delete' AND state = 3`},
		{e.write, &e.st.mark, `UPDATE documents SET state = 5 WHERE doc = ?1`},
		{e.write, &e.st.renew, `UPDATE documents SET state = 5, version = ?2, crc = ?3 WHERE doc = ?1`},
		{e.write, &e.st.drop, `UPDATE documents SET state = 6, ended_at = ?2, crc = coalesce(?3, crc),
			error_type = '', reason = '', body = NULL WHERE doc = ?1`},
		{e.write, &e.st.origin, `SELECT origin FROM origins WHERE doc = ?1 AND version = ?2`},
		{e.write, &e.st.keepOrigin, `INSERT OR REPLACE INTO origins (doc, version, origin)
			SELECT doc, version, ?3 FROM documents WHERE kind = ?1 AND id = ?2`},
		{e.write, &e.st.version, `UPDATE meta SET value = ?1 WHERE name = 'last_version'`},
		{e.write, &e.st.probe, `UPDATE meta SET value = value + 1 WHERE name = 'probes'`},
		{e.write, &e.st.usedPages, usedPagesQuery},
		{e.write, &e.st.totals, `UPDATE totals SET indexes = ?2, deletes = ?3, indexed = ?4, deleted = ?5,
			superseded = ?6, dead = ?7, pending = ?8, resending = ?9, dead_letters = ?10 WHERE kind = ?1`},
		{e.write, &e.st.refuse, `INSERT INTO refusals
			(version, at, bytes, kind, method, path, position, id, reason, detail, cut, crc, body)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)`},
		{e.write, &e.st.oldestRefusals, `SELECT seq, bytes FROM refusals ORDER BY seq`},
		{e.write, &e.st.dropRefusals, `DELETE FROM refusals WHERE seq <= ?1`},
		{e.write, &e.st.refusal, `SELECT version, bytes FROM refusals WHERE seq = ?1`},
		{e.write, &e.st.refusalsOf, `SELECT seq, id FROM refusals
			WHERE kind = ?1 AND version < ?2 AND id COLLATE NOCASE IN (?3, ?4, ?5)`},
		{e.write, &e.st.dropRefusal, `DELETE FROM refusals WHERE seq = ?1`},
		{e.write, &e.st.keepTrace, `INSERT OR REPLACE INTO traces (doc, version, traceparent)
			SELECT doc, version, ?3 FROM documents WHERE kind = ?1 AND id = ?2`},
		{e.write, &e.st.dropTrace, `DELETE FROM traces WHERE doc = ?1`},
		{e.claim, &e.st.claimTrace, `SELECT traceparent FROM documents JOIN traces USING (doc, version)
			WHERE kind = ?1 AND id = ?2 AND version = ?3`},
		{e.write, &e.st.receipt, `SELECT digest, answer FROM receipts WHERE sender = ?1 AND id = ?2 AND at >= ?3`},
		{e.write, &e.st.keepReceipt, `INSERT OR REPLACE INTO receipts (sender, id, at, digest, answer) VALUES (?1, ?2, ?3, ?4, ?5)`},
		{e.write, &e.st.dropReceipts, `DELETE FROM receipts WHERE (sender, id) IN
			(SELECT sender, id FROM receipts WHERE at < ?1 ORDER BY at LIMIT ?2)`},
		{e.claim, &e.st.claimWaiting, `SELECT id FROM documents
			WHERE kind = ?1 AND state = ?2 AND state <> 3 ORDER BY waiting_since, version`},
		{e.claim, &e.st.claimDocument, `SELECT kind, id, version, op, state, code, accepted_at, crc, length(body),
			CASE WHEN length(body) <= ?3 THEN body END FROM documents WHERE kind = ?1 AND id = ?2`},
	} {
		stmt, err := p.on.PrepareContext(ctx, p.query)
		if err != nil {
			return fmt.Errorf("prepare %q: %w", p.query, err)
		}
		*p.into = stmt
		e.prepared = append(e.prepared, stmt)
	}
	return nil
}

// close releases everything that is open, the readers first, so that the writer
// is the last to leave: SQLite then copies the log into the database file and
// removes it. Package sql does not close the statements of a connection, and
// while one is open SQLite keeps the files open.
func (e *engine) close() error {
	var errs []error
	for _, stmt := range e.prepared {
		errs = append(errs, stmt.Close())
	}
	if e.claim != nil {
		errs = append(errs, e.claim.Close())
	}
	if e.readers != nil {
		errs = append(errs, e.readers.Close())
	}
	if e.write != nil {
		errs = append(errs, e.write.Close())
	}
	if e.writer != nil {
		errs = append(errs, e.writer.Close())
	}
	return errors.Join(errs...)
}
