package journal

import (
	"sync"
	"time"

	"riskdex/report"
)

// claims knows which documents may not be given out now, because they are
// claimed or wait for a retry. It lives in memory only.
//
// A Claim reads the database while the writer goes on. So that it still hands
// out the newest version only, and no document twice, the writer notes every
// document that it commits while a Claim reads, and the Claim reads those once
// more while it holds commit, when nothing can be committed.
type claims struct {
	// reading is held by the one Claim that reads. Taken before commit.
	reading sync.Mutex
	// since is how many pending changes of a kind were given out since the last
	// that was sent again. Only the holder of reading uses it.
	since map[report.Kind]int

	// commit is held by the writer from before each COMMIT until it is noted
	// here, and by a Claim while it decides. Taken before mu.
	commit sync.Mutex
	// flush is of what was committed last, nil when that needs none. It is written under
	// commit, by the writer, and read there or by the writer.
	flush *flush

	mu       sync.Mutex
	held     map[report.Key]claim
	deferred map[report.Key]time.Time
	touched  map[report.Key]struct{} // committed since begin; nil when no Claim reads
	quiet    quiet
	wakeAt   time.Time // when timer fires; zero when it does not
	timer    *time.Timer
	closed   bool

	now     func() time.Time
	changed chan struct{}
}

// pendingPerAgain is how many pending changes are given out for each that is sent
// again, where there are both.
const pendingPerAgain = 3

// minWait bounds how often expired retries are looked for.
const minWait = 20 * time.Millisecond

func newClaims(now func() time.Time) *claims {
	return &claims{
		since:    map[report.Kind]int{},
		held:     map[report.Key]claim{},
		deferred: map[report.Key]time.Time{},
		quiet:    newQuiet(),
		now:      now,
		changed:  make(chan struct{}, 1),
	}
}

func (c *claims) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// begin starts to note which documents are committed while a Claim of kind reads. The
// caller holds reading.
func (c *claims) begin(kind report.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.touched = map[report.Key]struct{}{}
	c.quiet.look(kind)
}

// end stops noting. nothing says that the Claim has found nothing, whatever it asked
// for; while retries are to come that may change by the clock alone.
func (c *claims) end(nothing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.touched = nil
	c.quiet.end(nothing && len(c.deferred) == 0)
}

// isQuiet tells whether there is nothing of kind to be given out.
func (c *claims) isQuiet(kind report.Kind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quiet.kinds[kind]
}

// reopened notes that the database may be another than it was.
func (c *claims) reopened() {
	c.commit.Lock()
	defer c.commit.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush = nil
	c.quiet.stirAll()
	c.signal()
}

func (c *claims) touchedSinceBegin(k report.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.touched[k]
	return ok
}

// free tells whether a document may be given out at the time now.
func (c *claims) free(k report.Key, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.held[k]; ok {
		return false
	}
	return !c.deferred[k].After(now)
}

// count notes what was given out. The caller holds reading.
func (c *claims) count(kind report.Kind, changes []report.Change) {
	for _, change := range changes {
		if change.Again {
			c.since[kind] = 0
		} else {
			c.since[kind]++
		}
	}
}

// settled is one settlement that was committed.
type settled struct {
	report.Settlement
	again bool // the version is the newest and still waits: it was a retry
	newer bool // a newer version waits
}

// committed notes what a transaction did, and to which kinds. The caller holds commit.
func (c *claims) committed(touched map[report.Key]struct{}, kinds map[report.Kind]struct{}, settlements []settled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range kinds {
		c.quiet.stir(k)
	}
	if c.touched != nil {
		for k := range touched {
			c.touched[k] = struct{}{}
		}
	}
	for _, s := range settlements {
		ended := c.held[s.Key].version == s.Version
		if ended {
			delete(c.held, s.Key)
		}
		switch {
		case (s.again || s.newer && ended) && s.NotBefore.After(c.now()):
			c.deferred[s.Key] = s.NotBefore
			c.arm(s.NotBefore)
		case s.again || s.newer:
			c.signal()
		}
	}
}

// arm sees to it that release runs at t or earlier. The caller holds mu.
func (c *claims) arm(t time.Time) {
	if c.closed || !c.wakeAt.IsZero() && !t.Before(c.wakeAt) {
		return
	}
	c.wakeAt = t
	wait := max(t.Sub(c.now()), minWait)
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, c.release)
	} else {
		c.timer.Reset(wait)
	}
}

// release lets go of the documents whose retry is due.
func (c *claims) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wakeAt = time.Time{}
	now := c.now()
	for k, t := range c.deferred {
		if t.After(now) {
			c.arm(t)
			continue
		}
		delete(c.deferred, k)
		c.quiet.stir(k.Kind)
		c.signal()
	}
}

func (c *claims) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
}
