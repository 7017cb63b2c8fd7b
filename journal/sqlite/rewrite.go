package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"riskdex/report"
)

// After an error of the disk, the system's cache and the disk may differ for good. The system
// may take a page whose write failed for written. Even if the page is written again and fsync
// reports success, the file system may not find it after the next mount: ext4 does not if
// the page was new to the file. So the journal is read as it is, checked, and rewritten: it is
// copied to a new file, which is then swapped in.
//
// Files beside the journal lead from one step to the next, also in the next
// process:
const (
	suspectSuffix = ".suspect" // the journal is to be rewritten
	partialSuffix = ".partial" // a copy in the making
	wholeSuffix   = ".whole"   // a durable copy; from then on the journal is that
)

// suspect notes that the journal is to be rewritten. It need not be durable:
// after a power cut the file has what the disk has.
func suspect(path string) error {
	return os.WriteFile(path+suspectSuffix, nil, 0o600)
}

// rewrite checks the journal and copies it to a whole copy.
func rewrite(ctx context.Context, path string) error {
	s, err := openSource(ctx, path)
	if err != nil {
		return restoreHint(err)
	}
	return errors.Join(s.copyWhole(ctx, path), s.close())
}

func (s *source) copyWhole(ctx context.Context, path string) error {
	var answer string
	if err := s.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&answer); err != nil {
		return fmt.Errorf("check its pages: %w", restoreHint(err))
	}
	if answer != "ok" {
		return fmt.Errorf("its pages are damaged (%s); restore a backup", answer)
	}
	partial := path + partialSuffix
	if err := remove(partial); err != nil {
		return err
	}
	err := createFile(partial)
	if err == nil {
		err = s.copyTo(ctx, partial, func(report.BackupProgress) {})
	}
	if err == nil {
		err = os.Rename(partial, path+wholeSuffix)
	}
	if err != nil {
		return errors.Join(err, remove(partial))
	}
	return syncDir(filepath.Dir(path))
}

// swapIn puts a whole copy, if there is one, in the place of the journal, which no
// connection of this process may have open. If it is interrupted, doing it again
// completes it.
func swapIn(path string) error {
	if _, err := os.Stat(path + wholeSuffix); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := unread(path); err != nil {
		return err
	}
	// The WAL goes first: it belongs to the file that is replaced.
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := remove(path + suffix); err != nil {
			return err
		}
	}
	if err := os.Rename(path+wholeSuffix, path); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return err
	}
	return remove(path + suspectSuffix)
}

// Every connection to a database locks some of these bytes of the file for as long as it
// is open.
const sharedFirst, sharedSize = 0x40000000 + 2, 510

// unread returns an error while another process has the database open: the last
// one that closes it removes the WAL of that name, whosever it is by then. Closing
// the file here drops the locks of this process on it, so nothing may have it open.
func unread(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: sharedFirst, Len: sharedSize}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil {
		return fmt.Errorf("see whether another process reads it: %w", err)
	}
	if lock.Type != syscall.F_UNLCK {
		return fmt.Errorf("process %d is reading it, and has to end first", lock.Pid)
	}
	return nil
}

// recoverFiles completes what an earlier process left undone: it rewrites a journal that was
// left suspect, and ends a restore. It is called before the journal is opened.
func recoverFiles(ctx context.Context, path string) error {
	if err := finishRestore(path, func(string) {}); err != nil {
		return err
	}
	if err := swapIn(path); err != nil {
		return err
	}
	if _, err := os.Stat(path + suspectSuffix); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return remove(path + suspectSuffix) // someone took it away, to begin anew
	}
	err := rewrite(ctx, path)
	if err == nil {
		err = swapIn(path)
	}
	if err != nil {
		return fmt.Errorf("rewrite it, because writing it failed before (%s%s): %w", path, suspectSuffix, err)
	}
	return nil
}

// remove removes a file if it is there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
