package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// whyNoFile says, of an error of opening, that no file can be made in the folder of a journal, if
// that is so: the system only says that there is no space, and SQLite that it cannot open a file.
func whyNoFile(path string, err error) error {
	dir := filepath.Dir(path)
	for {
		if _, missing := os.Stat(dir); !errors.Is(missing, os.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	var s syscall.Statfs_t
	if failed := syscall.Statfs(dir, &s); failed != nil || s.Files == 0 || s.Ffree != 0 {
		return err
	}
	return fmt.Errorf("the file system of %s has no inodes left, whatever space is free, so that no file can be made; "+
		"remove files that nobody needs (df -i %s), or put the journal on another file system: %w", dir, dir, err)
}
