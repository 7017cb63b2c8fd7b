package sqlite

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
)

const (
	// measureEvery is how old what is known of the disk may become.
	measureEvery = time.Second
	// slack is the part of a limit that must be free again before deliveries are accepted
	// again, so that the next delivery does not exceed it once more.
	slack = 64
)

// excess is why the journal accepts no deliveries: a quota is exceeded.
type excess struct {
	err  error
	disk bool // the disk is short, and not only the journal at its limit
}

func (e *excess) refuses(n commit.Quota) bool {
	return e != nil && (n == commit.FullQuota || n == commit.DiskQuota && e.disk)
}

// quota compares what the journal takes, and what the disk has left, with their limits. The
// writer owns all of it but short, which any goroutine may read.
type quota struct {
	path     string
	max, min int64 // Options.MaxBytes and MinFree; not positive where there is none
	now      func() time.Time
	log      *slog.Logger
	diskFree func(dir string) (int64, error)

	used         int64     // as of the last commit
	walBytes     int64     // of the WAL, likewise
	free         int64     // as it was when measured; -1 if unknown
	measured     time.Time // when free was
	written      int64     // about what was written since measured
	checkpointed time.Time // when a long WAL was last checkpointed
	longWAL      bool      // the checkpoint could not copy all of it

	short atomic.Pointer[excess]
}

func newQuota(path string, opt journal.Options) *quota {
	return &quota{path: path, max: opt.MaxBytes, min: opt.MinFree, now: opt.Now, log: opt.Log, diskFree: freeBytes, free: -1}
}

// err is what Ready and Append say, nil when there is room.
func (q *quota) err() error {
	if s := q.short.Load(); s != nil {
		return s.err
	}
	return nil
}

// measureDisk finds out how much the disk has left, if what is known is old, or
// says that too little is. A disk that cannot tell is no reason to stop: that it
// is full shows in time.
func (q *quota) measureDisk() {
	now := q.now()
	age := now.Sub(q.measured)
	enough := q.free < 0 || q.free-q.written >= q.min
	if q.min <= 0 || !q.measured.IsZero() && age >= 0 && age < measureEvery && enough && q.short.Load() == nil {
		return
	}
	free, err := q.diskFree(filepath.Dir(q.path))
	if err != nil {
		q.log.Warn("cannot see how much room the disk of the journal has left", "path", q.path, "error", err)
		free = -1
	}
	q.free, q.measured, q.written = free, now, 0
}

// judge notes whether a quota is exceeded, and logs when that changes.
func (q *quota) judge() {
	old := q.short.Load()
	now := q.exceeded()
	q.short.Store(now)
	switch {
	case now != nil && old == nil:
		q.log.Error("the journal accepts no deliveries, and keeps no refused ones, for lack of room", "path", q.path, "error", now.err)
	case now == nil && old != nil:
		q.log.Info("the journal has room again and accepts deliveries", "path", q.path)
	}
}

// limits are how much the journal may use now, and how much the disk must have left:
// while a quota is exceeded, what ends that.
func (q *quota) limits() (most, least int64) {
	if q.short.Load() != nil {
		return q.max - q.max/slack, q.min + q.min/slack
	}
	return q.max, q.min
}

func (q *quota) exceeded() *excess {
	most, least := q.limits()
	size := func(n int64) string { return humanize.IBytes(uint64(n)) }
	switch {
	case q.min > 0 && q.free >= 0 && q.free < least:
		return &excess{disk: true, err: fmt.Errorf(
			"%w: the disk of %s has %s left, and --journal-min-free keeps %s of it; make room on it, deliveries are accepted again from %s on",
			journal.ErrNoRoom, q.path, size(q.free), size(q.min), size(q.min+q.min/slack))}
	case q.max > 0 && q.used >= most:
		return &excess{err: fmt.Errorf(
			"%w: %s uses %s, and --journal-max-bytes allows it %s; raise that, or delete documents until it uses less than %s",
			journal.ErrNoRoom, q.path, size(q.used), size(q.max), size(q.max-q.max/slack))}
	}
	return nil
}

// admit answers those requests of a group for which there is no room, and returns
// the others: which to carry out now, and which once it is known what is left after
// those. So the limits are overstepped by one delivery at most.
func (q *quota) admit(group []*commit.Request) (now, later []*commit.Request) {
	short := q.short.Load()
	var before int64
	for i, r := range group {
		if short.refuses(r.Quota) {
			r.Answer(short.err)
			continue
		}
		if before > 0 && r.Quota == commit.FullQuota && q.mayExceedAfter(before) {
			return now, group[i:]
		}
		now = append(now, r)
		before += int64(r.Bytes)
	}
	return now, nil
}

func (q *quota) mayExceedAfter(n int64) bool {
	n *= 2 // it takes room in the WAL, and its pages in the file
	return q.max > 0 && q.used+n >= q.max || q.min > 0 && q.free >= 0 && q.free-q.written-n < q.min
}
