package journal

import (
	"context"
	"fmt"

	"riskdex/report"
)

// Renew implements Journal.
func (j *requests) Renew(ctx context.Context, stamps []report.Stamp) (int, error) {
	n, err := j.forEach(ctx, stamps, needDisk, (*transaction).renew)
	if err != nil {
		return n, fmt.Errorf("renew %d documents of the journal: %w", len(stamps), err)
	}
	return n, nil
}

// renew sends a settled document once more under a new version. A damaged record
// must not get a checksum that fits: it keeps its own and its version, so that
// Claim finds it and sets it aside.
func (tx *transaction) renew(c content, r *row) (bool, error) {
	if r.state != done {
		return false, nil
	}
	tx.ledger.update(c.Kind, func(t *totals) { t.resending++ })
	tx.touch(c.Key, false)
	tx.wake = true
	if !c.intact {
		return false, tx.store.mark(r)
	}
	return true, tx.renumber(c, r, 0)
}

// renumber gives what a row holds a new version, above after.
func (tx *transaction) renumber(c content, r *row, after report.Version) error {
	origin, err := tx.origin(r)
	if err != nil {
		return err
	}
	if c.Version, err = tx.store.nextVersion(after); err != nil {
		return err
	}
	if err := tx.store.renew(r, c.Version, checksum(c.Change)); err != nil {
		return err
	}
	return tx.store.keepOrigin(c.Key, origin)
}

// Pass implements Journal.
func (j *requests) Pass(ctx context.Context, list []report.Ahead) (int, error) {
	stamps := make([]report.Stamp, len(list))
	index := make(map[report.Key]report.Version, len(list))
	for i, a := range list {
		stamps[i], index[a.Key] = a.Stamp, max(index[a.Key], a.Index)
	}
	n, err := j.forEach(ctx, stamps, needDisk, func(tx *transaction, c content, r *row) (bool, error) {
		return tx.pass(c, r, index[c.Key])
	})
	if err != nil {
		return n, fmt.Errorf("pass what an index has of %d documents of the journal: %w", len(list), err)
	}
	return n, nil
}

// pass gives a document that waits a version above the one that an index has. It is the
// same change, and is counted as before. A damaged record is left for Claim to find.
func (tx *transaction) pass(c content, r *row, index report.Version) (bool, error) {
	waits := r.state == pending || r.state == resend
	if !waits || r.foreign || !c.intact || !index.InReach(tx.now) {
		return false, nil
	}
	tx.touch(c.Key, false)
	tx.wake = true
	return true, tx.renumber(c, r, index)
}
