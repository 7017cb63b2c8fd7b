package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"modernc.org/sqlite"

	"riskdex/report"
)

// source is a snapshot of a database. One read transaction holds it until it is closed; without
// that, every write to the database would restart a copy.
type source struct {
	db    *sql.DB
	conn  *sql.Conn
	bytes int64
}

// openSource opens a database read-only, so that closing it does not checkpoint and remove the
// WAL, as closing the last writable connection does.
func openSource(ctx context.Context, path string) (*source, error) {
	return openSourceWith(ctx, path, "")
}

// openSourceWith is openSource with further parameters in the name of the database.
func openSourceWith(ctx context.Context, path, more string) (s *source, err error) {
	s = &source{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.db, err = sql.Open("sqlite", dsn(path)+"&mode=ro&_pragma=query_only(1)"+more); err != nil {
		return s, err
	}
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return s, err
	}
	for _, query := range []string{`BEGIN`, `SELECT count(*) FROM sqlite_schema`} {
		if _, err = s.conn.ExecContext(ctx, query); err != nil {
			return s, err
		}
	}
	err = s.conn.QueryRowContext(ctx, `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&s.bytes)
	return s, err
}

func (s *source) close() error {
	var errs []error
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// copyPages is how many pages are copied between two checks of the context.
const copyPages = 256

// copyTo copies the source durably to the empty file path. It does not check the pages, so that
// a damaged page does not prevent the others from being saved.
func (s *source) copyTo(ctx context.Context, path string, progress func(report.BackupProgress)) error {
	free, err := freeBytes(filepath.Dir(path))
	if err == nil && free < s.bytes {
		return fmt.Errorf("a copy takes %s, and the disk of %s has %s left; make room on it",
			humanize.IBytes(uint64(s.bytes)), path, humanize.IBytes(uint64(free)))
	}
	err = s.conn.Raw(func(driver any) error {
		from, ok := driver.(interface {
			NewBackup(uri string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.New("the SQLite driver has no backups")
		}
		to, err := from.NewBackup(dsn(path) + "&_pragma=journal_mode(off)&_pragma=synchronous(off)")
		if err != nil {
			return err
		}
		return errors.Join(s.steps(ctx, to, progress), to.Finish())
	})
	if isFull(err) {
		err = fmt.Errorf("the disk of %s is full; make room on it: %w", path, err)
	}
	if err == nil {
		err = stamp(ctx, path)
	}
	if err != nil {
		return err
	}
	return syncFile(path)
}

// stamp gives a copy ids of its own and marks it as not in use. It leaves a copy alone that is
// too damaged for that, since its records are still useful.
func stamp(ctx context.Context, path string) error {
	err := changeFile(ctx, path, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, `BEGIN; UPDATE ids SET value = ? WHERE name IN ('file', 'feed'); DELETE FROM meta WHERE name = 'in_use'; COMMIT`, newFileID())
		return err
	})
	if isCorrupt(err) {
		return nil
	}
	return err
}

// changeFile changes a database that no other process uses, and leaves no files beside it.
func changeFile(ctx context.Context, path string, f func(*sql.Conn) error) (err error) {
	db, err := sql.Open("sqlite", dsn(path)+"&_pragma=journal_mode(delete)&_pragma=synchronous(full)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(conn), conn.Close())
}

func (s *source) steps(ctx context.Context, to *sqlite.Backup, progress func(report.BackupProgress)) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = to.Step(copyPages); err != nil {
			return err
		}
		progress(report.BackupProgress{Done: int64(to.PageCount()-to.Remaining()) * pageSize, Total: s.bytes})
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
