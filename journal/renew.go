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
	origin, err := tx.origin(r)
	if err != nil {
		return false, err
	}
	if c.Version, err = tx.store.nextVersion(); err != nil {
		return false, err
	}
	if err := tx.store.renew(r, c.Version, checksum(c.Change)); err != nil {
		return false, err
	}
	return true, tx.store.keepOrigin(c.Key, origin)
}
