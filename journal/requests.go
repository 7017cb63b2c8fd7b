package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"riskdex/report"
)

// requests are the methods of a journal that write. They are the same for every
// engine: each becomes a request in a group commit.
type requests struct {
	opt   Options
	queue *queue

	// lacks returns why there is no room for what needs it, nil while there is. It may
	// be called by anyone.
	lacks func(need) error
	// held returns the claims that settlements end, as far as this process knows
	// where they are, and the keys of the other settlements.
	held func([]report.Settlement) ([]claim, []report.Key)
	// contents returns the content of the first of stamps that are the newest version
	// of their document, up to the bounds of one request, and the other stamps.
	contents func(context.Context, []report.Stamp) (list []content, rest []report.Stamp, err error)
}

// stallAfter is for how long a request may be without an answer before the journal says
// that it is not ready. Its disk, or its server, may hang without ever failing.
const stallAfter = 5 * time.Second

// OldestWait implements Journal.
func (j *requests) OldestWait() time.Duration {
	wait, _ := j.queue.oldest()
	return wait
}

// stalled tells that the journal answers nobody. Deliveries are still let in: it may be
// over before their senders give up, and some never send a delivery twice.
func (j *requests) stalled() error {
	if wait := j.OldestWait(); wait >= stallAfter {
		return fmt.Errorf("the journal has left a request without an answer for %v: its disk or its server hangs, or is too slow; "+
			"deliveries wait for up to 30 seconds and get 503 then; see to the disk or the server, and it goes on by itself", wait.Round(time.Second))
	}
	return nil
}

// Append implements Journal.
func (j *requests) Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error) {
	start := time.Now()
	if err := checkDelivery(d); err != nil {
		return nil, err
	}
	need := needOf(d)
	if err := j.lacks(need); err != nil {
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
		size += min(len(r.Body), MaxRefusalBody)
	}
	if d.Receipt != nil {
		size += len(d.Receipt.Answer)
	}
	var stamps []report.Stamp
	var before error // the delivery was there before, or is not taken for lack of room
	err := j.queue.do(ctx, &request{gone: d.Gone, keys: keys, takes: len(d.Changes) + len(d.Refusals), bytes: size, size: len(d.Changes) + len(d.Refusals), turn: newTurn(d), sync: true, need: need, run: func(tx *transaction) (err error) {
		// It is no error of the transaction, which others share.
		if before, err = tx.repeats(d.Receipt); before != nil || err != nil {
			return err
		}
		d := d
		if err := j.lacks(needRoom); err != nil {
			if d.RetryOf != 0 {
				return err // what it retries is kept for now
			}
			d.Refusals = nil // they are a help; not to keep them harms nobody
			if only, notLive := tx.removesOnly(d); notLive != nil || !only {
				before = err
				return notLive
			}
		}
		if stamps, err = tx.append(d, j.opt); err != nil {
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
func (j *requests) Settle(ctx context.Context, s []report.Settlement) error {
	if err := checkSettlements(s); err != nil {
		return err
	}
	held, others := j.held(s)
	err := j.queue.do(ctx, &request{keys: others, size: len(s), run: func(tx *transaction) error { return tx.settle(s, held) }})
	if err != nil {
		return fmt.Errorf("settle %d changes in the journal: %w", len(s), err)
	}
	return nil
}

// Resend implements Journal. Where it fails half-way, some are marked; nobody minds.
func (j *requests) Resend(ctx context.Context, kind report.Kind) (sum int, err error) {
	for after, first := report.ID(""), true; first || after != ""; first = false {
		var n int64
		var next report.ID
		if err := j.mark(ctx, kind, func(tx *transaction) (err error) {
			n, next, err = tx.resend(kind, after)
			return err
		}); err != nil {
			return sum, err
		}
		sum, after = sum+int(n), next
	}
	return sum, nil
}

// ResendDeleted implements Journal.
func (j *requests) ResendDeleted(ctx context.Context, kind report.Kind, since time.Time) (int, error) {
	var n int64
	err := j.mark(ctx, kind, func(tx *transaction) (err error) {
		n, err = tx.resendDeleted(kind, since.UnixMicro())
		return err
	})
	return int(n), err
}

func (j *requests) mark(ctx context.Context, kind report.Kind, run func(*transaction) error) error {
	if err := report.CheckKind(kind); err != nil {
		return err
	}
	if err := j.queue.do(ctx, &request{sync: true, long: true, run: run}); err != nil {
		return fmt.Errorf("mark documents of %s to be sent again: %w", kind, err)
	}
	return nil
}

// setAsideDamaged makes a dead letter of a claimed record that cannot be trusted. If
// that fails, the record stays claimed until this process ends, and so is not given
// out either.
func (j *requests) setAsideDamaged(ctx context.Context, k report.Key, v report.Version) {
	log := j.opt.Log.With("kind", k.Kind, "id", k.ID, "version", v)
	var ended bool
	err := j.queue.do(context.WithoutCancel(ctx), &request{keys: []report.Key{k}, run: func(tx *transaction) (err error) {
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
func (j *requests) DropRefusals(ctx context.Context, seqs []int64) (sum int, err error) {
	for chunk := range slices.Chunk(seqs, batch) {
		var n int
		if err := j.queue.do(ctx, &request{sync: true, run: func(tx *transaction) (err error) {
			n, err = tx.dropThese(chunk)
			return err
		}}); err != nil {
			return sum, fmt.Errorf("drop %d refusals from the journal: %w", len(seqs), err)
		}
		sum += n
	}
	return sum, nil
}
