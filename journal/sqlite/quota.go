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
	"riskdex/report"
)

// measureEvery is how old a measurement of the disk may become.
const measureEvery = time.Second

// excess says which quota is exceeded, so that the journal accepts no deliveries.
type excess struct {
	err  error
	disk bool // the disk is nearly full; otherwise only the journal is at its limit
}

func (e *excess) refuses(n commit.Quota) bool {
	return e != nil && (n == commit.FullQuota || n == commit.DiskQuota && e.disk)
}

// quota compares the size of the journal and the free space of the disk with their limits. Only
// the writer may use it, except for short and over, which any goroutine may read.
type quota struct {
	path     string
	max, min int64 // Options.MaxBytes and MinFree; zero or negative means no limit
	now      func() time.Time
	log      *slog.Logger
	diskFree func(dir string) (int64, error)

	used         int64     // as of the last commit
	walBytes     int64     // of the WAL, likewise
	free         int64     // when it was measured; -1 if unknown
	measured     time.Time // when free was measured
	written      int64     // bytes written since measured, roughly
	checkpointed time.Time // when a long WAL was last checkpointed
	longWAL      bool      // the last checkpoint could not copy the whole WAL

	short atomic.Pointer[excess]
	over  atomic.Int64 // commit.OverOf used
}

func newQuota(path string, opt journal.Options) *quota {
	return &quota{path: path, max: opt.MaxBytes, min: opt.MinFree, now: opt.Now, log: opt.Log, diskFree: freeBytes, free: -1}
}

// err returns the error of Ready and Append; nil if there is room.
func (q *quota) err() error {
	if s := q.short.Load(); s != nil {
		return s.err
	}
	return nil
}

// measureDisk measures the free space of the disk if the last measurement is old or showed too
// little. If it fails, deliveries go on: a full disk will show in a failed write.
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
	q.over.Store(commit.OverOf(q.used, q.max))
	switch {
	case now != nil && old == nil:
		q.log.Error("the journal accepts no deliveries, and keeps no refused ones, for lack of room", "path", q.path, "error", now.err)
	case now == nil && old != nil:
		q.log.Info("the journal has room again and accepts deliveries", "path", q.path)
	}
}

// limits returns how much the journal may use now, and how much must be free on the disk. While
// a quota is exceeded, the limits are stricter: they say when deliveries are accepted again.
func (q *quota) limits() (most, least int64) {
	if q.short.Load() != nil {
		return q.max - q.max/commit.Slack, q.min + q.min/commit.Slack
	}
	return q.max, q.min
}

func (q *quota) exceeded() *excess {
	_, least := q.limits()
	size := func(n int64) string { return humanize.IBytes(uint64(n)) }
	if q.min > 0 && q.free >= 0 && q.free < least {
		return &excess{disk: true, err: fmt.Errorf(
			"%w: the disk of %s has %s left, and --journal-min-free keeps %s of it; make room on it, deliveries are accepted again from %s on",
			report.ErrNoRoom, q.path, size(q.free), size(q.min), size(q.min+q.min/commit.Slack))}
	}
	if err := commit.CheckUsed(q.path, q.used, q.max, q.short.Load() != nil); err != nil {
		return &excess{err: err}
	}
	return nil
}

// admit rejects the requests of a group for which there is no room, and returns the others:
// those to execute now, and those to decide on once it is known what space the first leave. So
// the limits are exceeded by one delivery at most.
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
	n *= 2 // a delivery takes space in the WAL and then in the file
	return q.max > 0 && q.used+n >= q.max || q.min > 0 && q.free >= 0 && q.free-q.written-n < q.min
}
