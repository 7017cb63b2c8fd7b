package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// Inspection is what can be told of a journal without opening it for use.
type Inspection struct {
	Exists bool
	InUse  bool   // by a riskdex
	Empty  bool   // it has no document but the probe's
	Line   string // empty where it is not known
	Bytes  int64  // on disk, with the write-ahead log

	// Unfinished is set where the riskdex that had the file last did not close it: what
	// is in its write-ahead log is not told of here.
	Unfinished bool

	// Folder is where the file is, or would be made; of one that is not there either,
	// the nearest that is. Free is what its disk has left, -1 where that is unknown, and
	// FileSystem the name of its kind, where that is known.
	Folder     string
	Free       int64
	FileSystem string

	Server string // of PostgreSQL: its version
}

// Inspect looks at the journal that OpenSQLite or OpenPostgres would open, and changes
// nothing; it may be in use. The error is why it could not be opened. What is doubtful
// about a server is logged, as it is when the journal is opened.
func Inspect(ctx context.Context, name string, log *slog.Logger) (Inspection, error) {
	if IsPostgres(name) {
		return inspectPostgres(ctx, name, log)
	}
	return inspectSQLite(ctx, name)
}

func inspectSQLite(ctx context.Context, path string) (i Inspection, err error) {
	i.Empty, i.Free = true, -1
	if path, err = filepath.Abs(path); err != nil {
		return i, err
	}
	if i.Folder, err = nearestFolder(filepath.Dir(path)); err != nil {
		return i, err
	}
	if free, err := freeBytes(i.Folder); err == nil {
		i.Free = free
	}
	i.FileSystem = fileSystem(i.Folder)
	if err := mayWrite(i.Folder); err != nil {
		return i, fmt.Errorf("this user may not make files in %s: %w", i.Folder, err)
	}
	size, err := fileSize(path)
	if err != nil {
		return i, err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return i, nil
	}
	i.Exists = true
	if err := checkIsFile(path); err != nil {
		return i, err
	}
	if err := mayWrite(path); err != nil {
		return i, fmt.Errorf("this user may not write %s: %w", path, err)
	}
	wal, err := fileSize(path + "-wal")
	if err != nil {
		return i, err
	}
	i.Bytes = size + wal
	if i.InUse, err = isLocked(path); err != nil {
		return i, err
	}
	i.Unfinished = !i.InUse && wal > 0
	if i.Unfinished {
		_, log, err := notedBeside(path)
		if err == nil {
			_, _, err = checkLog(ctx, path, log)
		}
		if err != nil {
			return i, err
		}
	}
	if size == 0 {
		return i, nil // it is set up when it is opened
	}
	return i, i.read(ctx, path)
}

// read reads a file that is in use as a backup does. With any other it looks at the file
// alone: SQLite would make files beside it.
func (i *Inspection) read(ctx context.Context, path string) error {
	more := ""
	if !i.InUse {
		more = "&immutable=1"
	}
	s, err := openSourceWith(ctx, path, more)
	if err != nil {
		return restoreHint(err)
	}
	err = checkIsJournal(ctx, s.conn)
	if err == nil {
		var some int
		err = s.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM documents INDEXED BY documents_key WHERE kind <> 'probe')`).Scan(&some)
		i.Empty = some == 0
	}
	if line, lacks := readLine(ctx, s.conn); lacks == nil { // an older one has none
		i.Line = line
	}
	return errors.Join(err, s.close())
}

// nearestFolder returns dir, or the nearest of its parents that is there.
func nearestFolder(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return dir, fmt.Errorf("%s is no folder", dir)
		case err == nil:
			return dir, nil
		case !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir):
			return dir, err
		}
		dir = filepath.Dir(dir)
	}
}

func inspectPostgres(ctx context.Context, url string, log *slog.Logger) (i Inspection, err error) {
	i.Free, i.Empty = -1, true
	cfg, err := poolConfig(url, usualPace().stuck)
	if err != nil {
		return i, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return i, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.QueryRow(ctx, `SELECT current_setting('server_version')`).Scan(&i.Server); err != nil {
		return i, err
	}
	if err := checkServer(ctx, conn, log); err != nil {
		return i, err
	}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error { return i.readTables(ctx, tx) })
	return i, err
}

func (i *Inspection) readTables(ctx context.Context, tx pgx.Tx) error {
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
	version, err := tablesVersion(ctx, tx)
	if err != nil {
		return err
	}
	if version >= 2 { // those that are older have no line
		if i.Line, err = readPostgresLine(ctx, tx); err != nil {
			return err
		}
	}
	var members int
	err = tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM processes), NOT EXISTS (SELECT 1 FROM documents WHERE kind <> 'probe')`).Scan(&members, &i.Empty)
	i.InUse = members > 0
	return err
}
