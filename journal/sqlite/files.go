package sqlite

import (
	"errors"
	"fmt"
	"os"
)

// files are the files of an open database, as they were found when it was opened: the
// file itself and its WAL, with what SQLite knows of that WAL. The file itself is
// kept open and locked, too, because the file beside it that lockFile locks goes by a name, and
// a file can have several: a hard link or a bind mount.
type files struct {
	path   string
	locked *os.File
	seen   []os.FileInfo // by fileSuffixes; the WAL's are missing until the database is open
}

var fileSuffixes = []string{"", "-wal", "-shm"}

// errMoved is why no delivery is taken: SQLite would go on writing to files that nobody
// finds, and the next process would not have what was acknowledged.
var errMoved = errors.New("the files that it writes are not where they were opened")

// lockFiles opens and locks the file path. SQLite's own locks on the file end when this
// process closes any descriptor of it, so it is opened here before SQLite opens it and
// closed after SQLite has closed it.
func lockFiles(path string) (*files, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := lockOpenFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &files{path: path, locked: f, seen: []os.FileInfo{info}}, nil
}

// opened notes the other files once SQLite has them open. From then on SQLite does not
// copy the WAL into the file on its own when the last connection is closed: it would not
// tell that it failed, and it does not ask whether the WAL can still be trusted.
func (f *files) opened() error {
	f.seen = f.seen[:1]
	for _, suffix := range fileSuffixes[1:] {
		info, err := os.Stat(f.path + suffix)
		if err != nil {
			return err
		}
		f.seen = append(f.seen, info)
	}
	return lockReading(f.locked)
}

// checkMoved returns an error while one of the names leads to another file, or to none.
func (f *files) checkMoved() error {
	for i, seen := range f.seen {
		path := f.path + fileSuffixes[i]
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("%w: %s is gone; put it back, or stop riskdex and restore a backup", errMoved, path)
		case err != nil:
			return fmt.Errorf("%w: %w", errMoved, err)
		case !os.SameFile(info, seen):
			return fmt.Errorf("%w: %s is another file now; put the one back that was there, or start riskdex anew to go on with this one", errMoved, path)
		}
	}
	return nil
}

func (f *files) close() error { return f.locked.Close() }
