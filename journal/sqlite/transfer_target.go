package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"riskdex/journal/internal/tables"
	"riskdex/journal/transfer"
)

// transferTarget is an SQLite journal in the making: a partial file beside the place
// where it will be. Until all is written it is marked as no journal, so that nobody takes
// what an interrupted copy has left for one.
type transferTarget struct {
	to, partial string
	locked      *os.File // of the name partial
	db          *sql.DB
	conn        *sql.Conn
}

func openTransferTarget(ctx context.Context, to string) (transfer.Target, error) {
	to, err := filepath.Abs(to)
	if err != nil {
		return nil, err
	}
	t := &transferTarget{to: to}
	if err := t.refuseToOverwrite(); err != nil {
		return nil, err
	}
	if err := checkFolder(filepath.Dir(to)); err != nil {
		return nil, err
	}
	f, err := createPartial(to)
	if err != nil {
		return nil, err
	}
	t.partial, t.locked = f.Name(), f
	if err := t.create(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// refuseToOverwrite looks for all that a riskdex would take for a part of the journal: a
// WAL, what the journal before it had acknowledged, a copy that is to take its place.
func (t *transferTarget) refuseToOverwrite() error {
	paths := []string{t.to}
	for _, suffix := range []string{"-wal", "-shm", "-journal", watermarkSuffix, suspectSuffix, wholeSuffix} {
		paths = append(paths, t.to+suffix)
	}
	begun, err := begunRestore(t.to)
	if err != nil {
		return err
	}
	if begun != "" {
		paths = append(paths, begun)
	}
	return refuseToOverwrite("a copy", paths...)
}

// create makes the tables, in a transaction that write ends. A file that is thrown away
// where anything fails needs no WAL.
func (t *transferTarget) create(ctx context.Context) (err error) {
	t.db, err = sql.Open("sqlite", dsn(t.partial)+cache(writerCacheKiB)+
		fmt.Sprintf("&_pragma=page_size(%d)&_pragma=journal_mode(off)&_pragma=synchronous(full)", pageSize))
	if err != nil {
		return err
	}
	if t.conn, err = t.db.Conn(ctx); err != nil {
		return err
	}
	return t.exec(ctx, "BEGIN; PRAGMA auto_vacuum = INCREMENTAL; "+create())
}

// Insert implements transfer.Target.
func (t *transferTarget) Insert(ctx context.Context, table *tables.Table, rows iter.Seq2[tables.Row, error]) error {
	parameters := strings.Repeat(", ?", len(table.Columns))[2:]
	stmt, err := t.conn.PrepareContext(ctx, "INSERT INTO "+table.Name+" ("+tables.Names(table.Columns)+") VALUES ("+parameters+")") // #nosec G202 -- names of the schema
	if err != nil {
		return err
	}
	defer stmt.Close()
	for r, err := range table.Stored(tables.SQLite, rows) {
		if err == nil {
			_, err = stmt.ExecContext(ctx, r...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Finish implements transfer.Target. All else is durable before the mark, which makes a journal of the
// file.
func (t *transferTarget) Finish(ctx context.Context, head tables.Head) error {
	err := head.Write(ctx, t.conn, tables.SQLite)
	if err == nil {
		err = t.exec(ctx, "COMMIT; "+markJournal)
	}
	if err != nil {
		return err
	}
	return t.leave()
}

func (t *transferTarget) exec(ctx context.Context, query string) error {
	_, err := t.conn.ExecContext(ctx, query)
	return err
}

// Reader implements transfer.Target.
func (t *transferTarget) Reader(ctx context.Context) (*transfer.Source, error) {
	s, err := readTransferred(ctx, t.partial)
	if err != nil {
		return nil, err
	}
	var answer string
	if err = s.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&answer); err == nil && answer != "ok" {
		err = fmt.Errorf("its pages are damaged (%s)", answer)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (t *transferTarget) Publish(context.Context) error {
	return nameFile(t.partial, t.to, t.refuseToOverwrite)
}

func (t *transferTarget) Close() error {
	return errors.Join(t.leave(), remove(t.partial))
}

// leave closes the file.
func (t *transferTarget) leave() error {
	var errs []error
	if t.conn != nil {
		errs = append(errs, t.conn.Close())
	}
	if t.db != nil {
		errs = append(errs, t.db.Close())
	}
	if t.locked != nil {
		errs = append(errs, t.locked.Close())
	}
	t.conn, t.db, t.locked = nil, nil, nil
	return errors.Join(errs...)
}

var _ transfer.Target = (*transferTarget)(nil)
