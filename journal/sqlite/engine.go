package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
)

// the driver "sqlite"

const (
	pageSize = 4096
	// checkpointPages is how many pages the WAL may have before it is copied into the
	// database file: 4 MiB. No request is carried out meanwhile.
	checkpointPages = 1024
	// In the cache of a connection, a page takes twice its size of memory. The writer's cache
	// has room for what a group changes (MaxGroupBytes), which would otherwise be written to
	// the WAL twice. The other connections forget their pages with every commit.
	writerCacheKiB = 20 << 10
	readerCacheKiB = 2 << 10
	busyTimeout    = 5 * time.Second
)

// engine is an open database: one connection that writes, one that Claim reads
// with, and a few for the rest.
type engine struct {
	writer, readers *sql.DB
	write           *sql.Conn // used by the goroutine of Journal.run only
	claim           *sql.Conn // used by whoever holds claims.reading
	st              statements
	prepared        []*sql.Stmt // all of st, in order to close them
	wal             *os.File
	sync            func() error // has the disk keep the WAL
}

// statements are prepared on the connections named beside them.
type statements struct {
	find, findMany, insert, replace, update, drop, endClaimed                 *sql.Stmt // write
	byCode, resend, lastDoc, resendDeleted, version, totals, probe, usedPages *sql.Stmt // write
	refuse, oldestRefusals, dropRefusals                                      *sql.Stmt // write
	refusal, refusalsOf, dropRefusal, forgetPlaces                            *sql.Stmt // write
	receipt, keepReceipt, dropReceipts, keepNote                              *sql.Stmt // write
	endLoss, keepLoss, lostUntil, newestBefore                                *sql.Stmt // write
	oldDeleted, dropDeleted, vacuum                                           *sql.Stmt // write
	claimBegin, claimEnd, claimWaiting, claimDocument                         *sql.Stmt // claim
	claimDocuments                                                            *sql.Stmt // claim
	manyCodes, insertMany, replaceContent                                     *sql.Stmt // write
	begin, commit, rollback, walLength, copyWAL                               *sql.Stmt // write
	keepFirst, keepEmpty, keepOther, keepUnlessSame, keepSame                 *sql.Stmt // write
	noteReached                                                               *sql.Stmt // write
	oldestPast, dropPast, deflatePast                                         *sql.Stmt // write
	stats                                                                     *sql.Stmt // readers
}

// rowState sets what rules change of a row without a delivery, as updateArgs has it.
const rowState = `version = ?, origin = ?, state = ?, waiting_since = ?, ended_at = ?, crc = ?, kept = ?, alone = ?, trace = ?, error_type = ?, reason = ?`

// newContent sets what every delivery of a document brings.
const newContent = `version = ?, state = {pending}, accepted_at = ?, waiting_since = ?, ended_at = ?, crc = ?, error_type = '', reason = '', body = ?`

// preparer is a connection, or all that are for reading.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// openEngine opens the database in the file path, and sets it up if it is empty.
func openEngine(ctx context.Context, path string) (e *engine, err error) {
	e = &engine{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.writer, err = sql.Open("sqlite", dsn(path)+cache(writerCacheKiB)); err != nil {
		return e, err
	}
	if e.write, err = e.writer.Conn(ctx); err != nil {
		return e, err
	}
	var pages int
	if err = e.write.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return e, err
	}
	vacuum := "auto_vacuum" // only reads it
	if pages == 0 {
		vacuum += " = INCREMENTAL" // each time that it is set, SQLite writes to the file
	}
	for _, pragma := range []string{
		fmt.Sprintf("page_size = %d", pageSize),
		vacuum,
		"journal_mode = WAL",
		"wal_autocheckpoint = 0", // checkpoint copies the WAL
		fmt.Sprintf("journal_size_limit = %d", 2*walLimit),
		"synchronous = NORMAL", // commits are synced by flush
	} {
		if _, err = e.write.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return e, fmt.Errorf("set %s: %w", pragma, err)
		}
	}
	if err = setUp(ctx, e.write); err != nil {
		return e, err
	}
	if err = e.openWAL(path); err != nil {
		return e, err
	}
	if e.readers, err = sql.Open("sqlite", dsn(path)+cache(readerCacheKiB)+"&_pragma=query_only(1)"); err != nil {
		return e, err
	}
	e.readers.SetMaxOpenConns(4)
	if e.claim, err = e.readers.Conn(ctx); err != nil {
		return e, err
	}
	return e, e.prepare(ctx)
}

func dsn(path string) string {
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)", (&url.URL{Path: path}).EscapedPath(), busyTimeout.Milliseconds())
}

// cache is what follows the dsn of a connection to set the size of its page cache.
func cache(kib int) string { return fmt.Sprintf("&_pragma=cache_size(-%d)", kib) }

// prepare prepares all statements. Where the plan could depend on the value of a
// parameter, as with a partial index or a LIMIT, SQLite plans a statement again each
// time that it is run, which takes longer than running it. So the index is named, or
// the number stands in the text. In statements that run for every change, parameters
// have no numbers: the driver reads the number of each one from its text.
func (e *engine) prepare(ctx context.Context) error {
	for _, p := range []struct {
		on    preparer
		into  **sql.Stmt
		query string
	}{
		{e.write, &e.st.begin, `BEGIN IMMEDIATE`},
		{e.write, &e.st.commit, `COMMIT`},
		{e.write, &e.st.rollback, `ROLLBACK`},
		{e.write, &e.st.walLength, `PRAGMA wal_checkpoint(NOOP)`},
		{e.write, &e.st.copyWAL, `PRAGMA wal_checkpoint(PASSIVE)`},
		{e.write, &e.st.find, findQuery},
		{e.write, &e.st.findMany, manyQuery(rowColumns)},
		{e.write, &e.st.byCode, byCodeQuery},
		{e.write, &e.st.manyCodes, manyCodesQuery()},
		{e.write, &e.st.insert, insertQuery(1, "?, ?, ?, ?")},
		{e.write, &e.st.insertMany, insertQuery(many, "0, 0, 0, ''")},
		{e.write, &e.st.replace, `UPDATE documents SET ` + newContent + `, op = ?, code = ?, origin = ?, kept = ?, alone = ?, trace = ? WHERE doc = ?`},
		{e.write, &e.st.replaceContent, `UPDATE documents SET ` + newContent + `, origin = 0, kept = 0, alone = 0, trace = '' WHERE doc = ?`},
		{e.write, &e.st.update, `UPDATE documents SET ` + rowState + ` WHERE doc = ?`},
		{e.write, &e.st.drop, `UPDATE documents SET ` + rowState + `, body = NULL WHERE doc = ?`},
		{e.write, &e.st.endClaimed, `UPDATE documents SET ended_at = coalesce(nullif(?, 0), ended_at), state = {done}, trace = '' WHERE doc = ? AND version = ? AND state = ?`},
		{e.write, &e.st.resend, `UPDATE documents SET state = {resend} WHERE doc > ?2 AND doc <= ?3 AND +kind = ?1 AND state = {done}`},
		{e.write, &e.st.lastDoc, `SELECT coalesce(max(doc), 0) FROM documents`},
		{e.write, &e.st.resendDeleted, `UPDATE documents SET state = {resend}
			WHERE kind = ?1 AND accepted_at >= ?2 AND op = 'delete' AND state = {done}`},
		{e.write, &e.st.version, `UPDATE meta SET value = ?1 WHERE name = 'last_version'`},
		{e.write, &e.st.probe, `UPDATE meta SET value = value + 1 WHERE name = 'probes'`},
		{e.write, &e.st.usedPages, usedPagesQuery},
		{e.write, &e.st.totals, `UPDATE totals SET ` + tables.EachTotal("@ = ?", "@ = ?", 0) + ` WHERE kind = ?`},
		{e.write, &e.st.refuse, `INSERT INTO refusals
			(version, at, bytes, kind, method, path, position, id, folded, reason, detail, cut, crc, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{e.write, &e.st.oldestRefusals, `SELECT seq, bytes FROM refusals ORDER BY seq`},
		{e.write, &e.st.dropRefusals, `DELETE FROM refusals WHERE seq <= ?1 RETURNING bytes`},
		{e.write, &e.st.forgetPlaces, `UPDATE refusals SET version = ?1
			WHERE seq IN (SELECT seq FROM refusals INDEXED BY refusals_document WHERE version <> ?1 AND version <= ?2)`},
		{e.write, &e.st.refusal, `SELECT version, bytes FROM refusals WHERE seq = ?1`},
		{e.write, &e.st.refusalsOf, `SELECT seq, id FROM refusals
			WHERE kind = ?1 AND version < ?2 AND folded IN (?3, ?4, ?5)`},
		{e.write, &e.st.dropRefusal, `DELETE FROM refusals WHERE seq = ?1`},
		{e.write, &e.st.receipt, `SELECT digest, answer FROM receipts WHERE sender = ?1 AND id = ?2 AND at >= ?3`},
		{e.write, &e.st.keepReceipt, `INSERT OR REPLACE INTO receipts (sender, id, at, digest, answer) VALUES (?1, ?2, ?3, ?4, ?5)`},
		{e.write, &e.st.dropReceipts, fmt.Sprintf(`DELETE FROM receipts WHERE (sender, id) IN
			(SELECT sender, id FROM receipts WHERE at < ?1 ORDER BY at LIMIT %d)`, commit.ReceiptsDropped)},
		{e.write, &e.st.endLoss, commit.EndLoss},
		{e.write, &e.st.keepLoss, commit.KeepLoss},
		{e.write, &e.st.lostUntil, commit.LostUntilQuery},
		{e.write, &e.st.newestBefore, commit.NewestBeforeQuery},
		{e.write, &e.st.keepNote, commit.KeepNote},
		{e.write, &e.st.keepFirst, keepFirst},
		{e.write, &e.st.keepEmpty, keepQuery(commit.FormNone, "NULL", "")},
		{e.write, &e.st.keepOther, keepQuery(commit.FormRaw, "body", "")},
		{e.write, &e.st.keepUnlessSame, keepQuery(commit.FormRaw, "body", " AND body <> ?")},
		{e.write, &e.st.keepSame, keepQuery(commit.FormSame, "NULL", "")},
		{e.write, &e.st.noteReached, `UPDATE history SET old_state = {done}, old_ended = ?4
			WHERE kind = ?1 AND id = ?2 AND version > ?3 AND old_version = ?3 AND old_state = {pending}`},
		{e.write, &e.st.oldestPast, `SELECT version, kind, at, coalesce(length(old_body), 0) FROM history ORDER BY version LIMIT ?`},
		{e.write, &e.st.dropPast, `DELETE FROM history WHERE version <= ?`},
		{e.write, &e.st.deflatePast, fmt.Sprintf(`UPDATE history SET old_form = %d, old_body = ?2 WHERE version = ?1 AND old_form = %d`, commit.FormDeflated, commit.FormRaw)},
		{e.write, &e.st.oldDeleted, fmt.Sprintf(`SELECT doc, id, version, accepted_at, ended_at FROM documents INDEXED BY documents_deleted
			WHERE kind = ?1 AND (accepted_at, id) > (?2, ?3) AND accepted_at < ?4 AND op = 'delete' AND state = {done}
			ORDER BY accepted_at, id LIMIT %d`, commit.TombstoneStep)},
		{e.write, &e.st.dropDeleted, `DELETE FROM documents WHERE doc = ?1`},
		{e.write, &e.st.vacuum, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, vacuumPages)},
		{e.claim, &e.st.claimBegin, `BEGIN`},
		{e.claim, &e.st.claimEnd, `ROLLBACK`},
		{e.claim, &e.st.claimWaiting, `SELECT id FROM documents INDEXED BY documents_unsettled
			WHERE kind = ?1 AND state = ?2 AND state <> {done} AND version > ` + commit.HeldUntil + ` ORDER BY waiting_since, version`},
		{e.claim, &e.st.claimDocument, `SELECT ` + documentColumns + ` FROM documents WHERE kind = ? AND id = ?`},
		{e.claim, &e.st.claimDocuments, manyQuery(documentColumns)},
		{e.readers, &e.st.stats, tables.StatsQuery(tables.SQLite, "("+usedPagesQuery+")")},
	} {
		stmt, err := p.on.PrepareContext(ctx, commit.SQL(p.query))
		if err != nil {
			return fmt.Errorf("prepare %q: %w", p.query, err)
		}
		*p.into = stmt
		e.prepared = append(e.prepared, stmt)
	}
	return nil
}

// close releases everything that is open, the readers first, so that the writer
// is the last to leave: SQLite then copies the WAL into the database file and
// removes it. Package sql does not close the statements of a connection, and
// while one is open SQLite keeps the files open.
func (e *engine) close() error {
	var errs []error
	if e.wal != nil {
		errs = append(errs, e.wal.Close())
	}
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
