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
	// lookEvery is how old what is known of the disk may become.
	lookEvery = time.Second
	// slack is the part of a limit that must be free again before a shortage ends,
	// so that it does not begin anew with the next delivery.
	slack = 64
)

// shortage is why the journal takes no deliveries for lack of room.
type shortage struct {
	err  error
	disk bool // the disk is short, and not only the journal at its limit
}

func (s *shortage) refuses(n commit.Quota) bool {
	return s != nil && (n == commit.FullQuota || n == commit.DiskQuota && s.disk)
}

// room compares what the journal takes with its limits. All is owned by the
// writer but short, which anyone may read.
type room struct {
	path     string
	max, min int64 // Options.MaxBytes and MinFree; not positive where there is none
	now      func() time.Time
	log      *slog.Logger
	diskFree func(dir string) (int64, error)

	used     int64     // as of the last commit
	logBytes int64     // of the log, likewise
	free     int64     // as it was when looked; -1 if unknown
	looked   time.Time // at the disk
	written  int64     // about what was written since looked
	tended   time.Time // when a long log was looked after
	longLog  bool      // and could not be emptied

	short atomic.Pointer[shortage]
}

func newRoom(path string, opt journal.Options) *room {
	return &room{path: path, max: opt.MaxBytes, min: opt.MinFree, now: opt.Now, log: opt.Log, diskFree: freeBytes, free: -1}
}

// err is what Ready and Append say, nil when there is room.
func (r *room) err() error {
	if s := r.short.Load(); s != nil {
		return s.err
	}
	return nil
}

// lookAtDisk finds out how much the disk has left, if what is known is old, or
// says that too little is. A disk that cannot tell is no reason to stop: that it
// is full shows in time.
func (r *room) lookAtDisk() {
	now := r.now()
	age := now.Sub(r.looked)
	enough := r.free < 0 || r.free-r.written >= r.min
	if r.min <= 0 || !r.looked.IsZero() && age >= 0 && age < lookEvery && enough && r.short.Load() == nil {
		return
	}
	free, err := r.diskFree(filepath.Dir(r.path))
	if err != nil {
		r.log.Warn("cannot see how much room the disk of the journal has left", "path", r.path, "error", err)
		free = -1
	}
	r.free, r.looked, r.written = free, now, 0
}

// judge begins or ends a shortage.
func (r *room) judge() {
	old := r.short.Load()
	now := r.shortage()
	r.short.Store(now)
	switch {
	case now != nil && old == nil:
		r.log.Error("the journal accepts no deliveries, and keeps no refused ones, for lack of room", "path", r.path, "error", now.err)
	case now == nil && old != nil:
		r.log.Info("the journal has room again and accepts deliveries", "path", r.path)
	}
}

// limits are how much the journal may use now, and how much the disk must have left:
// during a shortage, what ends it.
func (r *room) limits() (most, least int64) {
	if r.short.Load() != nil {
		return r.max - r.max/slack, r.min + r.min/slack
	}
	return r.max, r.min
}

func (r *room) shortage() *shortage {
	most, least := r.limits()
	size := func(n int64) string { return humanize.IBytes(uint64(n)) }
	switch {
	case r.min > 0 && r.free >= 0 && r.free < least:
		return &shortage{disk: true, err: fmt.Errorf(
			"%w: the disk of %s has %s left, and --journal-min-free keeps %s of it; make room on it, deliveries are accepted again from %s on",
			journal.ErrNoRoom, r.path, size(r.free), size(r.min), size(r.min+r.min/slack))}
	case r.max > 0 && r.used >= most:
		return &shortage{err: fmt.Errorf(
			"%w: %s uses %s, and --journal-max-bytes allows it %s; raise that, or delete documents until it uses less than %s",
			journal.ErrNoRoom, r.path, size(r.used), size(r.max), size(r.max-r.max/slack))}
	}
	return nil
}

// admit answers those requests of a group for which there is no room, and returns
// the others: which to carry out now, and which once it is known what is left after
// those. So the limits are overstepped by one delivery at most.
func (r *room) admit(group []*commit.Request) (now, later []*commit.Request) {
	short := r.short.Load()
	var before int64
	for i, q := range group {
		if short.refuses(q.Quota) {
			q.Answer(short.err)
			continue
		}
		if before > 0 && q.Quota == commit.FullQuota && r.mayEndAfter(before) {
			return now, group[i:]
		}
		now = append(now, q)
		before += int64(q.Bytes)
	}
	return now, nil
}

func (r *room) mayEndAfter(n int64) bool {
	n *= 2 // it takes room in the log, and its pages in the file
	return r.max > 0 && r.used+n >= r.max || r.min > 0 && r.free >= 0 && r.free-r.written-n < r.min
}
