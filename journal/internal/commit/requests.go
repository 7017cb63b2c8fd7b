package commit

import (
	"cmp"
	"context"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// Requests implements the methods of a journal that write. Every engine embeds it. Each call becomes
// a request whose task is beside the method.
type Requests struct {
	opt    journal.Options
	queue  *Queue
	hooks  Hooks
	growth *Growth
}

// Hooks are functions of the engine that [Requests] calls.
type Hooks struct {
	// CheckQuota returns why requests with this quota are not accepted now, or nil. It is called
	// concurrently.
	CheckQuota func(Quota) error
	// Over returns by how much the journal is larger than it should be with a history, as OverOf
	// tells.
	Over func(context.Context) (int64, error)
	// Claimed returns the claims of settlements whose rows this process knows, and the keys of
	// the others. It is nil in an engine in which another process may have changed any row.
	Claimed func([]report.Settlement) ([]Claim, []report.Key)
	// Claim tries to claim changes, as Journal.Claim does.
	Claim func(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) (Taking, error)
	// Contents returns the contents for the first stamps, as many as fit into one request, and
	// the remaining stamps. It leaves out stamps that are not the newest version of their
	// document, and tells unreadable of those that the database cannot read.
	Contents func(ctx context.Context, stamps []report.Stamp, unreadable func(report.Stamp, error)) (list []Content, rest []report.Stamp, err error)
	// Lost returns the versions of stamps that the journal gave out and does not know.
	Lost func(context.Context, []report.Stamp) ([]report.Version, error)
	// Piece, if not 0, is the most documents that one call of Resend looks at.
	Piece int
}

// NewRequests returns methods that put requests into a queue, which the engine executes.
func NewRequests(opt journal.Options, q *Queue, h Hooks) Requests {
	h.Piece = cmp.Or(h.Piece, 5_000)
	return Requests{opt: opt, queue: q, hooks: h, growth: newGrowth(opt)}
}

// Growth returns the growth of the history, nil if none is kept.
func (j *Requests) Growth() *Growth {
	if j.opt.History <= 0 {
		return nil
	}
	return j.growth
}

// OldestWait implements Journal.
func (j *Requests) OldestWait() time.Duration {
	wait, _ := j.queue.Oldest()
	return wait
}
