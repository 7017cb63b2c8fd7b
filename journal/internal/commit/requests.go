package commit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// Requests implements the methods of a journal that write. Every engine embeds it. Each call becomes
// a request in a group commit.
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
	// Contents returns the contents for the first stamps, as many as fit into one request, and
	// the remaining stamps. It leaves out stamps that are not the newest version of their
	// document.
	Contents func(context.Context, []report.Stamp) (list []Content, rest []report.Stamp, err error)
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

// StallAfter is for how long a request may be without an answer before the journal says
// that it is not ready. Its disk, or its server, may hang without ever failing.
const StallAfter = 5 * time.Second

// OldestWait implements Journal.
func (j *Requests) OldestWait() time.Duration {
	wait, _ := j.queue.Oldest()
	return wait
}

// Stalled returns an error while the journal answers nobody. Deliveries are still let in: the
// stall may end before their senders give up, and some senders never repeat a delivery.
func (q *Queue) Stalled() error {
	if wait, _ := q.Oldest(); wait >= StallAfter {
		return fmt.Errorf("the journal has not answered a request for %v: its disk or server hangs or is too slow; "+
			"deliveries wait up to 30 seconds and then get 503; fix the disk or the server, and the journal goes on by itself", wait.Round(time.Second))
	}
	return nil
}

// Append implements Journal.
func (j *Requests) Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error) {
	start := time.Now()
	if err := checkDelivery(d); err != nil {
		return nil, err
	}
	quota := quotaOf(d)
	if err := j.hooks.CheckQuota(quota); err != nil {
		if j.hooks.CheckQuota(DiskQuota) == nil { // the history may give way
			j.growth.lookSoon()
		}
		return nil, fmt.Errorf("append a delivery of %d changes to the journal: %w", len(d.Changes), err)
	}
	size, keys := 0, make([]report.Key, 0, len(d.Changes))
	for _, c := range d.Changes {
		keys = append(keys, c.Key)
		if c.OwnID != "" && c.OwnID != c.ID {
			keys = append(keys, report.Key{Kind: c.Kind, ID: c.OwnID})
		}
		size += len(c.Body)
	}
	for _, r := range d.Refusals {
		size += min(len(r.Body), journal.MaxRefusalBody)
	}
	if d.Receipt != nil {
		size += len(d.Receipt.Answer)
	}
	var stamps []report.Stamp
	var before error // a repeat, or refused for lack of space
	err := j.queue.Do(ctx, &Request{Gone: d.Gone, Kind: kindOf(d), Keys: keys, Changes: d.Changes, Versions: len(d.Changes) + len(d.Refusals), Bytes: size, Size: len(d.Changes) + len(d.Refusals), Sync: true, Quota: quota, Run: func(tx *Transaction) (err error) {
		// A repeat is no error of the transaction, which others share.
		if before, err = tx.repeats(d); before != nil || err != nil {
			return err
		}
		d := d
		if err := j.hooks.CheckQuota(FullQuota); err != nil {
			if d.RetryOf != 0 {
				return err // the refusal that it retries is kept
			}
			d.Refusals = nil // keeping them is a convenience
			if only, notLive := tx.removesOnly(d); notLive != nil || !only {
				before = err
				return notLive
			}
		}
		if err := tx.Store.BeginDelivery(len(d.Changes) + len(d.Refusals)); err != nil {
			return err
		}
		defer tx.Store.EndDelivery()
		if stamps, err = tx.Append(d, j.opt); err != nil {
			return err
		}
		return tx.receive(d, stamps)
	}})
	if err == nil {
		err = before
	}
	if err != nil {
		return nil, fmt.Errorf("append a delivery of %d changes to the journal: %w", len(d.Changes), err)
	}
	j.opt.Observe(time.Since(start).Seconds())
	return stamps, nil
}

// Settle implements Journal.
func (j *Requests) Settle(ctx context.Context, s []report.Settlement) error {
	if err := checkSettlements(s); err != nil {
		return err
	}
	var claims []Claim
	var others []report.Key
	if j.hooks.Claimed != nil {
		claims, others = j.hooks.Claimed(s)
	} else {
		claims, others = make([]Claim, len(s)), make([]report.Key, len(s))
		for i, one := range s {
			others[i] = one.Key
		}
	}
	r := &Request{Keys: others, Size: len(s), Run: func(tx *Transaction) error { return tx.Settle(s, claims) }}
	if len(s) > 0 {
		r.Kind = s[0].Kind
	}
	if err := j.queue.Do(ctx, r); err != nil {
		return fmt.Errorf("settle %d changes in the journal: %w", len(s), err)
	}
	return nil
}

// Resend implements Journal.
func (j *Requests) Resend(ctx context.Context, kind report.Kind, after report.ResendCursor) (marked int, next report.ResendCursor, err error) {
	err = j.mark(ctx, kind, func(tx *Transaction) error {
		n, place, err := tx.Resend(kind, after, j.hooks.Piece)
		marked, next = int(n), place
		return err
	})
	if err != nil {
		return 0, "", err
	}
	return marked, next, nil
}

// ResendDeleted implements Journal.
func (j *Requests) ResendDeleted(ctx context.Context, kind report.Kind, since time.Time) (int, error) {
	var n int64
	err := j.mark(ctx, kind, func(tx *Transaction) (err error) {
		n, err = tx.resendDeleted(kind, since.UnixMicro())
		return err
	})
	return int(n), err
}

func (j *Requests) mark(ctx context.Context, kind report.Kind, run func(*Transaction) error) error {
	if err := report.CheckKind(kind); err != nil {
		return err
	}
	if err := j.queue.Do(ctx, &Request{Kind: kind, Sync: true, Long: true, Run: run}); err != nil {
		return fmt.Errorf("mark documents of %s to be sent again: %w", kind, err)
	}
	return nil
}

// SetAsideDamaged makes a dead letter of a claimed record that cannot be trusted. If
// that fails, the record stays claimed until it is delivered again or this process ends, and
// so is not given out either.
func SetAsideDamaged(ctx context.Context, q *Queue, log *slog.Logger, k report.Key, v report.Version) {
	log = log.With("kind", k.Kind, "id", k.ID, "version", v)
	var ended bool
	err := q.Do(context.WithoutCancel(ctx), &Request{Kind: k.Kind, Keys: []report.Key{k}, Run: func(tx *Transaction) (err error) {
		ended, err = tx.setAsideDamaged(k, v)
		return err
	}})
	switch {
	case err != nil:
		log.Error("a record of the journal is damaged and could not be set aside", "error", err)
	case !ended:
		log.Error("a record of the journal is damaged beyond being set aside; have it delivered again")
	default:
		log.Error("a record of the journal is damaged and was set aside as a dead letter")
	}
}

// DropRefusals implements Journal.
func (j *Requests) DropRefusals(ctx context.Context, seqs []int64) (sum int, err error) {
	for chunk := range slices.Chunk(seqs, MaxBatch) {
		var n int
		if err := j.queue.Do(ctx, &Request{Sync: true, Run: func(tx *Transaction) (err error) {
			n, err = tx.DropThese(chunk)
			return err
		}}); err != nil {
			return sum, fmt.Errorf("drop %d refusals from the journal: %w", len(seqs), err)
		}
		sum += n
	}
	return sum, nil
}

// BytesOf is about how much a group writes.
func BytesOf(group []*Request) int64 {
	n := 0
	for _, r := range group {
		n += r.Bytes
	}
	return int64(n)
}

// NeedsSync reports whether a group must survive a power cut once it is answered. An empty one,
// which is a test write, must.
func NeedsSync(group []*Request) bool {
	for _, r := range group {
		if r.Sync {
			return true
		}
	}
	return len(group) == 0
}
