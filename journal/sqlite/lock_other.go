//go:build !linux

package sqlite

import "os"

// isLocked goes by what SQLite makes beside a file that is in use.
func isLocked(path string) (bool, error) {
	_, err := os.Stat(path + "-shm")
	return err == nil, nil
}

// mayWrite cannot tell.
func mayWrite(string) error { return nil }

// fileSystem cannot tell.
func fileSystem(string) string { return "" }

// lockOpenFile does nothing: where locks of an open file are those of the process, they
// are in the way of SQLite's. The lock beside the file has to do.
func lockOpenFile(*os.File) error { return nil }

func lockReading(*os.File) error   { return nil }
func unlockReading(*os.File) error { return nil }
