package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
)

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
	write           *connection // used by the goroutine of Journal.run only
	claim           *connection // used by whoever holds claims.reading
	stats           *sql.Stmt   // of readers
	wal             *os.File
	sync            func() error // has the disk keep the WAL
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
	if e.write, err = connect(ctx, e.writer); err != nil {
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
	if err = setUp(ctx, e.write.Conn); err != nil {
		return e, err
	}
	if err = e.openWAL(path); err != nil {
		return e, err
	}
	if e.readers, err = sql.Open("sqlite", dsn(path)+cache(readerCacheKiB)+"&_pragma=query_only(1)"); err != nil {
		return e, err
	}
	e.readers.SetMaxOpenConns(4)
	if e.claim, err = connect(ctx, e.readers); err != nil {
		return e, err
	}
	// These name every column that is written: a file that lacks one is not opened.
	for _, query := range []string{insert, keepRow, updateTotals, commit.KeepRefusal, commit.KeepReceipt} {
		if _, err = e.write.statement(query); err != nil {
			return e, err
		}
	}
	e.stats, err = e.readers.PrepareContext(ctx, statsQuery)
	return e, err
}

var statsQuery = tables.StatsQuery(tables.SQLite, "("+usedPagesQuery+")")

func dsn(path string) string {
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)", (&url.URL{Path: path}).EscapedPath(), busyTimeout.Milliseconds())
}

// cache is what follows the dsn of a connection to set the size of its page cache.
func cache(kib int) string { return fmt.Sprintf("&_pragma=cache_size(-%d)", kib) }

// close releases everything that is open, the readers first, so that the writer
// is the last to leave: SQLite then copies the WAL into the database file and
// removes it.
func (e *engine) close() error {
	var errs []error
	if e.wal != nil {
		errs = append(errs, e.wal.Close())
	}
	if e.stats != nil {
		errs = append(errs, e.stats.Close())
	}
	if e.claim != nil {
		errs = append(errs, e.claim.close())
	}
	if e.readers != nil {
		errs = append(errs, e.readers.Close())
	}
	if e.write != nil {
		errs = append(errs, e.write.close())
	}
	if e.writer != nil {
		errs = append(errs, e.writer.Close())
	}
	return errors.Join(errs...)
}
