package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFile locks the file path until the returned file is closed or the process
// ends. The file stays: removing it would let two processes lock two files of the
// same name.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner, _ := io.ReadAll(io.LimitReader(f, 20))
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("it is already open in process %s; stop that one first", strings.TrimSpace(string(owner)))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lockTested is an offset in a lock file that says nothing, behind the number of the process.
const lockTested = 31

func writePID(f *os.File) error {
	_, err := fmt.Fprintf(f, "%-*d\n", lockTested, os.Getpid())
	return err
}

// createFile sees to it that the file path exists, readable by its owner only,
// and that it would still be there after a power cut.
func createFile(path string) error {
	dir := filepath.Dir(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_ = syncDir(filepath.Dir(dir)) // which may have the folder since a moment ago, and may not be readable
	return errors.Join(f.Close(), syncDir(dir))
}

// checkFolder returns an error if the folder of a journal is not there. It is never made: where a
// volume is not mounted, deliveries would be accepted into a new journal beside the real one.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no folder %[1]s: mount its volume, or make it for a new journal: mkdir -p -m 700 %[1]s", dir)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		d.Close()
		return fmt.Errorf("make its directory durable: %w", err)
	}
	return d.Close()
}
