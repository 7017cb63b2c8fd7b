package sqlite

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isLocked reports whether another process has lockOpenFile's lock on a file. It takes none.
// Where the file system knows no such locks, what SQLite makes beside a file that is in
// use has to do.
func isLocked(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: 1 << 62, Len: 1}
	if err := syscall.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		_, err = os.Stat(path + "-shm")
		return err == nil, nil
	}
	return lock.Type != syscall.F_UNLCK, nil
}

// mayWrite returns an error where this user may not write a file, or make one in a folder.
func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }

// fileSystem names the kind of file system of a folder, where it is one that matters.
func fileSystem(dir string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return ""
	}
	return map[int64]string{
		unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay",
		unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb",
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", 0x2fc12fc1: "zfs",
	}[int64(s.Type)]
}

// lockOpenFile locks an open file against every other process that calls it, whichever
// name that has for the file, until f is closed. The lock is one of the open file and
// not of the process: it outlasts other descriptors of the same file. It is on one byte
// far behind the end of any database, which SQLite's locks leave alone, so neither sees
// the other.
func lockOpenFile(f *os.File) error {
	return setLock(f, syscall.Flock_t{Type: syscall.F_WRLCK, Start: 1 << 62, Len: 1})
}

// lockReading locks an open file as every connection to a database does for as long as
// it is open. The last one that SQLite closes then takes itself for one of several.
func lockReading(f *os.File) error {
	return setLock(f, syscall.Flock_t{Type: syscall.F_RDLCK, Start: sharedFirst, Len: sharedSize})
}

func unlockReading(f *os.File) error {
	return setLock(f, syscall.Flock_t{Type: syscall.F_UNLCK, Start: sharedFirst, Len: sharedSize})
}

func setLock(f *os.File, lock syscall.Flock_t) error {
	lock.Whence = io.SeekStart
	err := syscall.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES):
		return errors.New("another process has the same file open under another name (a hard link or a bind mount); stop that one first")
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
		return nil // its file system knows no such locks; the lock beside it has to do
	}
	return err
}
