package sqlite

import (
	"sync"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// claims knows which documents may not be given out now, because they are claimed or
// deferred. It lives in memory only.
//
// A Claim reads the database while the writer goes on. To give out the newest version
// only, and no document twice, the writer notes every document that it commits while a
// Claim reads. The Claim reads those again while it holds commit, when nothing can be
// committed.
type claims struct {
	// reading is held by the one Claim that reads. Taken before commit.
	reading sync.Mutex
	// order is only for the holder of reading.
	order commit.ClaimOrder

	// commit is held by the writer from before each COMMIT until it is noted
	// here, and by a Claim while it decides. Taken before mu.
	commit sync.Mutex
	// flush is of what was committed last, nil when that needs none. It is written under
	// commit, by the writer, and read there or by the writer.
	flush *flush

	mu       sync.Mutex
	claimed  map[report.Key]commit.Claim // a damaged row that cannot be given out has no Doc
	deferred map[report.Key]commit.Deferral
	touched  map[report.Key]struct{} // committed since begin; nil when no Claim reads
	held     report.Version          // nothing up to it is given out, because of a loss

	now  func() time.Time
	idle *commit.IdleCache
}

func newClaims(now func() time.Time) *claims {
	return &claims{
		order:    commit.ClaimOrder{},
		claimed:  map[report.Key]commit.Claim{},
		deferred: map[report.Key]commit.Deferral{},
		now:      now,
		idle:     commit.NewIdleCache(now),
	}
}

// begin starts to note which documents are committed while a Claim of kind reads. The
// caller holds reading.
func (c *claims) begin(kind report.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.touched = map[report.Key]struct{}{}
	c.idle.BeginLookup(kind)
}

// end stops noting. nothing says that there was nothing of kind for the Claim to find.
func (c *claims) end(kind report.Kind, nothing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.touched = nil
	for k, d := range c.deferred {
		if end := d.End(); k.Kind == kind && end.After(c.now()) {
			c.idle.Arm(kind, end)
		}
	}
	c.idle.EndLookup(nothing)
}

// hold notes the loss because of which nothing up to its end is given out.
func (c *claims) hold(l commit.Loss) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = l.Until
}

// isHeld reports whether a loss holds a version back.
func (c *claims) isHeld(v report.Version) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return v <= c.held
}

// reopened notes that the database was opened again, and may have changed.
func (c *claims) reopened() {
	c.commit.Lock()
	defer c.commit.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush = nil
	c.idle.InvalidateAll()
}

func (c *claims) touchedSinceBegin(k report.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.touched[k]
	return ok
}

// free reports whether a document may be given out at the time now.
func (c *claims) free(k report.Key, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isFree(k, now)
}

// isFree is free for a caller that holds mu.
func (c *claims) isFree(k report.Key, now time.Time) bool {
	if _, ok := c.claimed[k]; ok {
		return false
	}
	return !c.deferred[k].End().After(now)
}

// committed notes what a transaction did. Documents that are claimed or deferred need no
// signal now: they get one when that ends. The caller holds commit.
func (c *claims) committed(tx *commit.Transaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, wake, free := c.now(), tx.Wake, tx.ByKind
	for _, s := range tx.Settled {
		ended := c.claimed[s.Key].Version == s.Version
		if ended {
			delete(c.claimed, s.Key)
		}
		if s.Ended {
			delete(c.deferred, s.Key)
		}
		if d := commit.DeferralOf(s); (s.Retried || s.Newer && ended) && d.End().After(now) {
			c.deferDocument(s.Key, d)
		}
		wake = wake || s.Retried || s.Newer
	}
	for k, delivered := range tx.Touched {
		if delivered && c.claimed[k].Doc == 0 { // it replaced what is damaged, and nobody settles that
			delete(c.claimed, k)
		}
		if c.touched != nil {
			c.touched[k] = struct{}{}
		}
		if d, ok := c.deferred[k]; ok && delivered {
			d.DeliveredAt = tx.Now
			c.deferDocument(k, d)
		}
		if c.isFree(k, now) {
			free = true
			c.idle.Invalidate(k.Kind)
		}
	}
	if tx.ByKind {
		for k := range tx.Kinds {
			c.idle.Invalidate(k)
		}
	}
	if wake && free {
		c.idle.Changed.Notify()
	}
}

// add notes that a document was given out.
func (c *claims) add(k report.Key, claimed commit.Claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claimed[k] = claimed
	delete(c.deferred, k)
}

// of returns the claims that settlements end, the zero claim for those that end none,
// and the keys of those.
func (c *claims) of(list []report.Settlement) (ended []commit.Claim, others []report.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended = make([]commit.Claim, len(list))
	for i, s := range list {
		if h := c.claimed[s.Key]; h.Version == s.Version && h.Doc != 0 && s.Outcome != report.Retry && s.Outcome != report.Dead {
			ended[i] = h
		} else {
			others = append(others, s.Key)
		}
	}
	return ended, others
}

// deferDocument keeps a document from being given out for a while. It stays noted until the document is
// claimed: another delivery may defer it again. The caller holds mu.
func (c *claims) deferDocument(k report.Key, d commit.Deferral) {
	c.deferred[k] = d
	c.idle.Arm(k.Kind, d.End())
}
