package commit

import (
	"context"
	"fmt"
	"time"

	"riskdex/report"
)

// Bounds of what is kept of the reason of a dead letter, in bytes.
const (
	maxErrorType = 256
	maxReason    = 4 << 10
)

// Settled is one settlement that was committed.
type Settled struct {
	report.Settlement
	Ended       bool      // the document is neither pending nor deferred any more
	Retried     bool      // the version is the newest and stays pending
	Newer       bool      // a newer version is pending
	DeliveredAt time.Time // when the newer version was delivered
}

// Settle implements Journal.
func (j *Requests) Settle(ctx context.Context, list []report.Settlement) error {
	if err := checkSettlements(list); err != nil {
		return err
	}
	t := settlements{list, make([]Claim, len(list))}
	r := &Request{Task: &t, Size: len(list)}
	if j.hooks.Claimed != nil {
		t.claims, r.Keys = j.hooks.Claimed(list)
	} else {
		for _, s := range list {
			r.Keys = append(r.Keys, s.Key)
		}
	}
	if len(list) > 0 {
		r.Kind = list[0].Kind
	}
	if err := j.queue.Do(ctx, r); err != nil {
		return fmt.Errorf("settle %d changes in the journal: %w", len(list), err)
	}
	return nil
}

// settlements is the task of Settle.
type settlements struct {
	list   []report.Settlement
	claims []Claim
}

// Execute implements Task.
func (t *settlements) Execute(tx *Transaction) error { return tx.Settle(t.list, t.claims) }

// Settle settles changes. claims has the claim of each as it was before the transaction, or the
// zero Claim.
func (tx *Transaction) Settle(list []report.Settlement, claims []Claim) error {
	for i, s := range list {
		note, err := tx.settleOne(s, claims[i])
		if err != nil {
			return fmt.Errorf("settle %s %q: %w", s.Kind, s.ID, err)
		}
		tx.touch(s.Key, false)
		if r := tx.known[s.Key]; tx.Store.Unclaim(note, r) {
			tx.change(r)
		}
		tx.Settled = append(tx.Settled, note)
	}
	return nil
}

// settleOne goes by the version and not by what is claimed, so that settling twice, or
// after a restart, does no harm. Where another process has claimed the document since, only
// its settlement counts.
func (tx *Transaction) settleOne(s report.Settlement, claimed Claim) (Settled, error) {
	note := Settled{Settlement: s}
	if _, known := tx.known[s.Key]; known {
		claimed = Claim{}
	}
	at := tx.Now.UnixMicro()
	if keepsEnd(claimed.State, claimed.Op) {
		at = 0
	}
	ended, err := tx.Store.EndClaimed(s.Key, claimed, at)
	if ended && err == nil {
		tx.countEnd(s, claimed.State)
		note.Ended = true
	}
	if ended || err != nil {
		return note, err
	}
	r, err := tx.Find(s.Key)
	if err != nil || r == nil || r.ClaimedElsewhere {
		return note, err
	}
	waits := Waits(r.State)
	switch {
	case s.Version == r.Version && waits && s.Outcome == report.Retry:
		note.Retried = true
	case s.Version == r.Version && waits:
		note.Ended = true
		tx.end(s, r)
	case s.Version < r.Version && waits:
		note.Newer, note.DeliveredAt = true, time.UnixMicro(r.AcceptedAt)
		tx.restartWait(s, r)
		tx.noteReached(s)
	}
	return note, err
}

// end settles the newest version of a document. A change that Resend marked was
// counted when it was settled first.
func (tx *Transaction) end(s report.Settlement, r *Row) {
	tx.countEnd(s, r.State)
	if at := tx.Now.UnixMicro(); s.Outcome == report.Dead {
		r.setAside(at, clip(s.ErrorType, maxErrorType), clip(s.Reason, maxReason))
	} else {
		r.end(at)
	}
	tx.change(r)
}

// countEnd counts the end of a document that waited in a state.
func (tx *Transaction) countEnd(s report.Settlement, state int64) {
	tx.ledger.Update(s.Kind, func(t *Totals) {
		if state == StatePending {
			t.settle(s.Outcome)
		} else {
			t.Resending--
		}
		if s.Outcome == report.Dead {
			t.DeadLetters++
		}
	})
}

// restartWait notes that an overtaken version reached the index: the newer one is pending since
// its own acceptance, and not since that of the version before it. Otherwise a document that
// changes all the time would seem to lag more and more.
func (tx *Transaction) restartWait(s report.Settlement, r *Row) {
	if reached(s) && r.State == StatePending && r.WaitedAt < r.AcceptedAt {
		r.WaitedAt = r.AcceptedAt
		tx.change(r)
	}
}
