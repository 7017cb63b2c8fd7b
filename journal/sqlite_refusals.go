package journal

import (
	"database/sql"
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

func (l ledger) tooManyRefusals(opt Options) bool {
	return l.refusals > opt.MaxRefusals || l.refusalBytes > opt.MaxRefusalBytes
}

// turnOr returns the place of a refusal in the order of all deliveries: that of the
// refusal which is being retried, if any, and otherwise the next.
func (tx *transaction) turnOr(turn report.Version) report.Version {
	if turn != 0 {
		return turn
	}
	return tx.nextVersion()
}

// refuse keeps refusals, each with its turn, and drops the oldest beyond the bounds.
func (tx *transaction) refuse(refusals []report.Refusal, turns []report.Version, opt Options) error {
	if len(refusals) == 0 {
		return nil
	}
	for i := max(0, len(refusals)-opt.MaxRefusals); i < len(refusals); i++ {
		r := clipRefusal(refusals[i])
		size := refusalBytes(r)
		if _, err := tx.st.refuse.ExecContext(tx.ctx, int64(turns[i]), r.At.UnixMicro(), size, string(r.Kind), r.Method,
			r.Path, r.Position, r.ID, r.Reason, r.Detail, r.Cut, int64(refusalChecksum(r)), r.Body); err != nil {
			return fmt.Errorf("keep a refusal: %w", err)
		}
		tx.ledger.refusals++
		tx.ledger.refusalBytes += size
	}
	return tx.dropOldestRefusals(opt)
}

// dropOldestRefusals drops refusals until the rest is within the bounds.
func (tx *transaction) dropOldestRefusals(opt Options) error {
	if !tx.ledger.tooManyRefusals(opt) {
		return nil
	}
	last, err := tx.lastToDrop(opt)
	if err == nil {
		_, err = tx.st.dropRefusals.ExecContext(tx.ctx, last)
	}
	if err != nil {
		return fmt.Errorf("drop the oldest refusals: %w", err)
	}
	return nil
}

func (tx *transaction) lastToDrop(opt Options) (last int64, err error) {
	rows, err := tx.st.oldestRefusals.QueryContext(tx.ctx)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for tx.ledger.tooManyRefusals(opt) && rows.Next() {
		var size int64
		if err := rows.Scan(&last, &size); err != nil {
			return 0, err
		}
		tx.ledger.refusals--
		tx.ledger.refusalBytes -= size
	}
	return last, rows.Err()
}

// beginRetry takes the refusal out that a delivery retries and returns its turn, or
// ErrNotFound. For other deliveries it does nothing and returns 0.
func (tx *transaction) beginRetry(seq int64) (report.Version, error) {
	if seq == 0 {
		return 0, nil
	}
	turn, err := tx.dropRefusal(seq)
	if err != nil {
		return 0, fmt.Errorf("retry the refusal %d: %w", seq, err)
	}
	return turn, nil
}

// dropRefusal forgets one refusal and returns its turn, or ErrNotFound.
func (tx *transaction) dropRefusal(seq int64) (report.Version, error) {
	var turn, size int64
	err := tx.st.refusal.QueryRowContext(tx.ctx, seq).Scan(&turn, &size)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrNotFound
	case err != nil:
		return 0, err
	}
	if _, err := tx.st.dropRefusal.ExecContext(tx.ctx, seq); err != nil {
		return 0, err
	}
	tx.ledger.refusals--
	tx.ledger.refusalBytes -= size
	return report.Version(turn), nil
}
