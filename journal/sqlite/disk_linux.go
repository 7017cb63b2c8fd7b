package sqlite

import "syscall"

// freeBytes is how much an ordinary user may still write to the file system that
// dir lies on.
func freeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Frsize, nil
}
