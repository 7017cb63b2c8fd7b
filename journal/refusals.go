package journal

import (
	"errors"
	"fmt"
	"strings"

	"riskdex/report"
)

// maxRefusalText bounds each text of a refusal that is kept, in bytes.
const maxRefusalText = 8 << 10

func clipRefusal(r report.Refusal) report.Refusal {
	for _, s := range []*string{&r.Method, &r.Path, &r.ID, &r.Reason, &r.Detail} {
		*s = clip(*s, maxRefusalText)
	}
	r.Cut = r.Cut || len(r.Body) > MaxRefusalBody
	r.Body = r.Body[:min(len(r.Body), MaxRefusalBody)]
	return r
}

// clip returns at most n bytes of s, without half a character at its end.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// refusalBytes is about what a refusal takes on disk.
func refusalBytes(r report.Refusal) int64 {
	return int64(64 + len(r.Kind) + len(r.Method) + len(r.Path) + len(r.ID) + len(r.Reason) + len(r.Detail) + len(r.Body))
}

func (l *ledger) tooManyRefusals(opt Options) bool {
	return l.refusals > opt.MaxRefusals || l.refusalBytes > opt.MaxRefusalBytes
}

// appendTurn appends the place of a refusal in the order of all deliveries: that of
// the refusal which is being retried, if any, and otherwise the next.
func (tx *transaction) appendTurn(turns []report.Version, turn report.Version) (_ []report.Version, err error) {
	if turn == 0 {
		turn, err = tx.store.nextVersion(0)
	}
	return append(turns, turn), err
}

// refuse keeps the refusals of a delivery, each with its turn, and drops the oldest of
// all beyond the bounds.
func (tx *transaction) refuse(d report.Delivery, turns []report.Version, opt Options) error {
	for i, r := range shareOf(d, opt) {
		size := refusalBytes(r)
		if err := tx.store.refuse(r, turns[i], size); err != nil {
			return fmt.Errorf("keep a refusal: %w", err)
		}
		tx.ledger.refusals++
		tx.ledger.refusalBytes += size
	}
	return tx.dropOldestRefusals(opt)
}

// shareOf returns the refusals of a delivery that are kept: the first of them, within
// the share of one delivery. The last says how many are not.
func shareOf(d report.Delivery, opt Options) []report.Refusal {
	var kept []report.Refusal
	bytes := int64(0)
	for _, r := range d.Refusals[:min(len(d.Refusals), opt.MaxDeliveryRefusals)] {
		r = clipRefusal(r)
		if bytes += refusalBytes(r); bytes > opt.MaxRefusalBytes/10 && len(kept) > 0 {
			break
		}
		kept = append(kept, r)
	}
	if more := len(d.Refusals) - len(kept) + d.MoreRefused; more > 0 && len(kept) > 0 {
		last := &kept[len(kept)-1]
		last.Detail = clip(last.Detail, maxRefusalText/2) + fmt.Sprintf(" (%d more records of this delivery were refused, and are not kept.)", more)
	}
	return kept
}

// dropOldestRefusals drops refusals until the rest is within the bounds.
func (tx *transaction) dropOldestRefusals(opt Options) error {
	if !tx.ledger.tooManyRefusals(opt) {
		return nil
	}
	var last int64
	left := *tx.ledger
	err := tx.store.oldestRefusals(func(seq, size int64) bool {
		last = seq
		left.refusals--
		left.refusalBytes -= size
		return left.tooManyRefusals(opt)
	})
	if err == nil {
		var n int
		var bytes int64
		n, bytes, err = tx.store.dropRefusalsUntil(last)
		tx.ledger.refusals -= n
		tx.ledger.refusalBytes -= bytes
	}
	if err != nil {
		return fmt.Errorf("drop the oldest refusals: %w", err)
	}
	return nil
}

// beginRetry takes the refusal out that a delivery retries and returns its turn, or
// ErrNotFound. For other deliveries it does nothing and returns 0.
func (tx *transaction) beginRetry(seq int64) (report.Version, error) {
	if seq == 0 {
		return 0, nil
	}
	turn, err := tx.dropRefusal(seq)
	if err == nil && turn == beforeAll {
		err = report.ErrPlaceForgotten
	}
	if err != nil {
		return 0, fmt.Errorf("retry the refusal %d: %w", seq, err)
	}
	return turn, nil
}

// dropRefusal forgets one refusal and returns its turn, or ErrNotFound.
func (tx *transaction) dropRefusal(seq int64) (report.Version, error) {
	turn, size, err := tx.store.refusal(seq)
	if err == nil {
		err = tx.store.dropRefusal(seq)
	}
	if err != nil {
		return 0, err
	}
	tx.ledger.refusals--
	tx.ledger.refusalBytes -= size
	return turn, nil
}

func (tx *transaction) dropThese(seqs []int64) (n int, err error) {
	for _, seq := range seqs {
		_, err := tx.dropRefusal(seq)
		switch {
		case err == nil:
			n++
		case !errors.Is(err, ErrNotFound):
			return 0, err
		}
	}
	return n, nil
}

// lostBody is said of a refusal whose checksum does not fit.
const lostBody = " (its record in the journal is damaged: its checksum does not fit, and its body is lost)"
