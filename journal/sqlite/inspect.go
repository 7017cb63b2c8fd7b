package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Inspect describes the journal that Open would open, which may be in use, and changes nothing.
// The error says why Open would fail.
func Inspect(ctx context.Context, path string) (i journal.Inspection, err error) {
	i.Empty, i.Free = true, -1
	if path, err = filepath.Abs(path); err != nil {
		return i, err
	}
	i.Folder = filepath.Dir(path)
	if err := checkFolder(i.Folder); err != nil {
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
		_, wal, err := notedBeside(path)
		if err == nil {
			_, _, err = checkWAL(ctx, path, wal)
		}
		if err != nil {
			return i, err
		}
	}
	if size == 0 {
		return i, nil // it is set up when it is opened
	}
	return i, inspectFile(ctx, path, &i)
}

// inspectFile reads a file that is in use as a backup does. With any other it looks at the
// file alone: SQLite would make files beside it.
func inspectFile(ctx context.Context, path string, i *journal.Inspection) error {
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
		err = s.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM documents INDEXED BY documents_key WHERE kind <> ?)`, string(report.Probe)).Scan(&some)
		i.Empty = some == 0
	}
	if err == nil {
		err = s.conn.QueryRowContext(ctx, commit.FollowedQuery).Scan(&i.Followed)
	}
	if err == nil {
		i.Line, err = readLineage(ctx, s.conn)
	}
	return errors.Join(err, s.close())
}
