//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// machine checks the limit of open files.
func (k *checker) machine() {
	files := openFiles()
	if files/3 < maxConnections {
		k.note("machine", doubtful, fmt.Sprintf("at most %d open files, so a listener takes up to %d connections instead of %d", files, files/3, maxConnections),
			"Raise the limit: LimitNOFILE= of systemd, --ulimit nofile= of Docker, or ulimit -Hn.")
		return
	}
	k.fine("machine", "up to %d open files", files)
}

// openFiles returns how many files this process may open. A third is for the connections of each
// listener; the rest are the journal's files, connections to Elasticsearch, and so on.
func openFiles() uint64 {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 3 * maxConnections
	}
	return uint64(files.Max) // Go raises its soft limit to this one
}
