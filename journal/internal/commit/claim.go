package commit

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"riskdex/report"
)

// Claim is a document that was given out: its row in the journal, so that settling it needs no
// lookup, and its state at that time.
type Claim struct {
	Version report.Version
	Doc     int64 // 0 if unknown
	State   int64
	Op      report.Op
}

// pendingPerResent is how many claims of pending changes go before each claim of changes that are
// sent again, if there are both.
const pendingPerResent = 3

// ClaimOrder says which changes the next claim of a kind gives out: it counts the claims of pending
// changes since the last of changes that are sent again.
type ClaimOrder map[report.Kind]int

// Next returns the states of documents that the next claim gives out: those in the first, or if
// there are none, those in the second.
func (t ClaimOrder) Next(kind report.Kind) [2]int {
	if t[kind] >= pendingPerResent {
		return [2]int{StateResend, StatePending}
	}
	return [2]int{StatePending, StateResend}
}

// Gave notes what a claim gave out, if anything.
func (t ClaimOrder) Gave(kind report.Kind, changes []report.Change) {
	switch {
	case len(changes) == 0:
	case changes[0].Resent:
		t[kind] = 0
	default:
		t[kind]++
	}
}

// Budget is how many bytes a Claim may still give out. The first document always fits.
type Budget struct {
	left  int64
	taken int
}

// NewBudget returns a budget in bytes.
func NewBudget(bytes int64) Budget { return Budget{left: bytes} }

// Limit returns how large the next document may be, in bytes.
func (b *Budget) Limit() int64 {
	if b.taken == 0 {
		return math.MaxInt64
	}
	return b.left
}

// Take counts a document of n bytes.
func (b *Budget) Take(n int64) {
	b.left -= n
	b.taken++
}

// Deferral says until when a document is not given out.
type Deferral struct {
	until       time.Time
	Debounce    bool      // or until nothing was delivered for it for report.Debounce
	DeliveredAt time.Time // its last delivery, which Debounce goes by
}

// DeferralOf returns what a settlement asks for.
func DeferralOf(s Settled) Deferral {
	return Deferral{until: s.NotBefore, Debounce: s.Newer && s.Outcome != report.Retry, DeliveredAt: s.DeliveredAt}
}

// End returns when the document may be given out.
func (d Deferral) End() time.Time {
	if end := d.DeliveredAt.Add(report.Debounce); d.Debounce && end.Before(d.until) {
		return end
	}
	return d.until
}

// IdleCache remembers for which kinds the last Claim found nothing and nothing can have become
// claimable since, as far as this process knows, and when time alone may change that. It spares the next
// Claim a lookup. It relies on lookups and not on the totals, which may be wrong after damage.
type IdleCache struct {
	Changed Signal // something may have become claimable

	now   func() time.Time
	armed Signal // told with due

	mu          sync.Mutex
	idle        map[report.Kind]bool
	due         map[report.Kind]time.Time
	kind        report.Kind // the kind of the lookup under way, if any
	invalidated bool        // changes of it may have become claimable during the lookup
}

// NewIdleCache returns a cache in which no kind is idle.
func NewIdleCache(now func() time.Time) *IdleCache {
	return &IdleCache{Changed: NewSignal(), now: now, armed: NewSignal(), idle: map[report.Kind]bool{}, due: map[report.Kind]time.Time{}}
}

// IsIdle reports whether no change of a kind can be claimed.
func (c *IdleCache) IsIdle(k report.Kind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	due, ok := c.due[k]
	return c.idle[k] && (!ok || c.now().Before(due))
}

// BeginLookup notes that a Claim looks for changes of a kind. There is one at a time.
func (c *IdleCache) BeginLookup(k report.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kind, c.invalidated = k, false
}

// EndLookup notes that the lookup has ended, and whether it found nothing that time alone may make
// claimable without Arm.
func (c *IdleCache) EndLookup(nothing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if nothing && !c.invalidated {
		c.idle[c.kind] = true
	}
	c.kind = ""
}

// Invalidate notes that changes of kinds may have become claimable.
func (c *IdleCache) Invalidate(kinds ...report.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range kinds {
		delete(c.idle, k)
		c.invalidated = c.invalidated || k == c.kind
	}
}

// InvalidateAll notes that changes of every kind may have become claimable.
func (c *IdleCache) InvalidateAll() {
	c.Invalidate(report.AllKinds()...)
	c.Changed.Notify()
}

// Arm notes that changes of a kind may become claimable at t.
func (c *IdleCache) Arm(k report.Kind, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if due, ok := c.due[k]; !ok || t.Before(due) {
		c.due[k] = t
		c.armed.Notify()
	}
}

// minWait is the shortest time between two looks for what is due.
const minWait = 20 * time.Millisecond

// Run tells Changed when something is due, until ctx ends.
func (c *IdleCache) Run(ctx context.Context) {
	for {
		var due <-chan time.Time
		if next := c.release(); !next.IsZero() {
			due = time.After(max(next.Sub(c.now()), minWait))
		}
		select {
		case <-ctx.Done():
			return
		case <-c.armed:
		case <-due:
		}
	}
}

// release notes that what is due may be claimable, and returns when the next is.
func (c *IdleCache) release() (next time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for k, t := range c.due {
		switch {
		case !t.After(now):
			delete(c.due, k)
			delete(c.idle, k)
			c.invalidated = c.invalidated || k == c.kind
			c.Changed.Notify()
		case next.IsZero() || t.Before(next):
			next = t
		}
	}
	return next
}

// Taking is the result of one attempt to claim.
type Taking struct {
	Changes []report.Change
	Damaged []Damaged // claimed as well, until they are set aside or delivered again
	Missed  bool      // it is to be tried again if it has nothing: others have changed what could be claimed
}

// Damaged is a claimed record that cannot be trusted.
type Damaged struct {
	report.Stamp
	// Unreadable is not nil when the database could not follow its pages. Writing to them may fail as well, and
	// then for everyone: the document is left alone.
	Unreadable error
}

// Claim implements Journal.
func (j *Requests) Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	for {
		t, err := j.hooks.Claim(ctx, kind, maxChanges, maxBytes)
		for _, d := range t.Damaged {
			j.setAsideDamaged(ctx, d)
		}
		if err != nil {
			return nil, fmt.Errorf("claim %s from the journal: %w", kind, err)
		}
		if len(t.Changes) > 0 || !t.Missed && len(t.Damaged) == 0 {
			return t.Changes, nil
		}
	}
}

// setAsideDamaged makes a dead letter of a damaged record. If that fails, the record stays claimed until it is
// delivered again or this process ends, and so is not given out either.
func (j *Requests) setAsideDamaged(ctx context.Context, d Damaged) {
	if d.Unreadable != nil {
		j.logUnreadable(d.Stamp, d.Unreadable)
		return
	}
	log := j.opt.Log.With("kind", d.Kind, "id", d.ID, "version", d.Version)
	t := &damaged{key: d.Key, version: d.Version}
	err := j.queue.Do(context.WithoutCancel(ctx), &Request{Task: t, Kind: d.Kind, Keys: []report.Key{d.Key}})
	switch {
	case err != nil:
		log.Error("a record of the journal is damaged and could not be set aside", "error", err)
	case !t.ended:
		log.Error("a record of the journal is damaged beyond being set aside; have it delivered again")
	default:
		log.Error("a record of the journal is damaged and was set aside as a dead letter")
	}
}

func (j *Requests) logUnreadable(s report.Stamp, err error) {
	j.opt.Log.Error("the journal cannot read a document; restore a backup", "kind", s.Kind, "id", s.ID, "version", s.Version, "error", err)
}

// damaged is the task of setAsideDamaged.
type damaged struct {
	key     report.Key
	version report.Version

	ended bool // that or a newer version has ended its claim
}

// Execute implements Task.
func (t *damaged) Execute(tx *Transaction) error {
	r, err := tx.Find(t.key)
	t.ended = err == nil && r != nil && Waits(r.State) && r.Version >= t.version
	if !t.ended {
		return err
	}
	return tx.Settle([]report.Settlement{{
		Key: t.key, Version: t.version, Outcome: report.Dead, ErrorType: report.ErrorTypeDamaged, Reason: DamagedReason(t.key),
	}}, make([]Claim, 1))
}

// DamagedReason is the reason of the dead letter that a damaged record becomes.
func DamagedReason(k report.Key) string {
	return fmt.Sprintf("the record of %s %q in the journal is damaged: its checksum does not fit; ask the publisher to deliver it again", k.Kind, k.ID)
}
