package sqlite

import (
	"fmt"
	"os"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// flush makes durable what a group has committed. SQLite could wait for the disk inside
// COMMIT, but then the writer would be idle meanwhile. So COMMIT only writes the WAL
// (synchronous = NORMAL), and another goroutine syncs the WAL while the writer fills the next
// transaction. There is one flush at a time, and none under way at a COMMIT: so at most one
// group is committed and not yet durable, and it has no answer yet. A Claim waits for it
// (claims.flush).
type flush struct {
	done   chan struct{}     // closed when the flush has ended
	failed chan struct{}     // closed when the flush has failed
	err    error             // written before done is closed, as is group
	group  []*commit.Request // the requests without an answer, after a failure

	told bool // group has its answer; owned by the writer
}

// beginFlush flushes what was committed for a group, and answers it if that succeeds.
// The caller is the writer, and holds claims.commit.
func (j *Journal) beginFlush(group []*commit.Request) {
	f := &flush{done: make(chan struct{}), failed: make(chan struct{})}
	j.claims.flush = f
	last := j.ledger.LastVersion
	go func() {
		if f.err = j.syncWAL(last); f.err != nil {
			f.group = group
			close(f.done)
			close(f.failed)
			return
		}
		answer(group, nil) // before the next group can be committed: answers come in that order
		j.durable.Notify()
		close(f.done)
	}()
}

// syncWAL makes durable what is committed, up to the version last.
func (j *Journal) syncWAL(last report.Version) error {
	if err := j.e.sync(); err != nil {
		return fmt.Errorf("sync the WAL: %w", err)
	}
	j.noteWatermark(last)
	return nil
}

// wait waits until a flush has ended, and returns its error. f may be nil.
func (f *flush) wait() error {
	if f == nil {
		return nil
	}
	<-f.done
	return f.err
}

// news returns a channel that is closed when the writer has to learn of a failure.
func (f *flush) news() <-chan struct{} {
	if f == nil || f.told {
		return nil
	}
	return f.failed
}

// awaitFlush waits for the flush under way, if there is one. If it has failed, its group gets
// the error, and the file is no longer trusted: what was committed may be in the system's
// cache and not on the disk.
func (j *Journal) awaitFlush() error {
	f := j.claims.flush
	err := f.wait()
	if err == nil {
		return nil
	}
	if !f.told {
		f.told = true
		answer(f.group, j.stop(err))
	}
	return err
}

func answer(group []*commit.Request, err error) {
	for _, r := range group {
		r.Answer(err)
	}
}

// openWAL opens the WAL of the database a second time, to sync it. Nothing is locked
// on it, so that closing it drops no lock, and SQLite keeps the file for as long as a
// connection is open.
func (e *engine) openWAL(path string) error {
	file, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open the WAL to sync it: %w", err)
	}
	e.wal, e.sync = file, file.Sync
	return nil
}
