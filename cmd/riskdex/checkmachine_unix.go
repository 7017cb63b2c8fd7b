//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// machine checks the limit of open files.
func (k *checker) machine() {
	const others = 200 // the journal's files, connections to Elasticsearch and PostgreSQL, and so on
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return
	}
	if files.Max < maxConnections+others { // Go raises its soft limit to this one
		k.note("machine", doubtful, fmt.Sprintf("at most %d open files, and a listener takes up to %d connections", files.Max, maxConnections),
			"Raise the limit: LimitNOFILE= of systemd, --ulimit nofile= of Docker, or ulimit -Hn.")
		return
	}
	k.fine("machine", "up to %d open files", files.Max)
}
