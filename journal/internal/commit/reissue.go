package commit

import (
	"context"
	"errors"
	"fmt"

	"riskdex/report"
)

// Reissue implements Journal.
func (j *Requests) Reissue(ctx context.Context, stamps []report.Stamp) (int, error) {
	n, err := j.forEach(ctx, stamps, DiskQuota, (*Transaction).Reissue)
	if err != nil {
		return n, fmt.Errorf("reissue %d documents of the journal: %w", len(stamps), err)
	}
	return n, nil
}

// Reissue sends a settled document once more under a new version. A damaged record
// must not get a checksum that fits: it keeps its own and its version, so that
// Claim finds it and sets it aside.
func (tx *Transaction) Reissue(c Content, r *Row) (bool, error) {
	if r.State != StateDone {
		return false, nil
	}
	if err := tx.checkHeld(r.Version); err != nil {
		return false, err
	}
	tx.ledger.Update(c.Kind, func(t *Totals) { t.Resending++ })
	tx.touch(c.Key, false)
	tx.Wake = true
	if !c.Intact {
		r.State = StateResend
		tx.change(r)
		return false, nil
	}
	return true, tx.renumber(c, r, 0)
}

// renumber gives the content of a row a new version, above after.
func (tx *Transaction) renumber(c Content, r *Row, after report.Version) (err error) {
	if c.Version, err = tx.Store.NextVersion(after); err != nil {
		return err
	}
	r.renumber(c.Version, int64(Checksum(c.Change)))
	tx.change(r)
	return nil
}

// RaiseVersions implements Journal.
func (j *Requests) RaiseVersions(ctx context.Context, list []report.Ahead) (int, error) {
	stamps := make([]report.Stamp, len(list))
	index := make(raising, len(list))
	for i, a := range list {
		stamps[i], index[a.Key] = a.Stamp, max(index[a.Key], a.Index)
	}
	n, err := j.forEach(ctx, stamps, DiskQuota, index.change)
	if err != nil {
		return n, fmt.Errorf("raise the versions of %d documents of the journal: %w", len(list), err)
	}
	return n, nil
}

// raising has the versions of an index that is ahead.
type raising map[report.Key]report.Version

func (x raising) change(tx *Transaction, c Content, r *Row) (bool, error) {
	return tx.raise(c, r, x[c.Key])
}

// raise gives a pending document a version above the one that an index has. It is the same
// change, so it is not counted again. A damaged record is left for Claim to find.
func (tx *Transaction) raise(c Content, r *Row, index report.Version) (bool, error) {
	if !Waits(r.State) || r.ClaimedElsewhere || !c.Intact || !index.InReach(tx.Now) {
		return false, nil
	}
	if err := tx.checkHeld(r.Version); err != nil {
		if errors.Is(err, report.ErrLossOpen) { // it was claimed before the loss was known
			err = nil
		}
		return false, err
	}
	tx.touch(c.Key, false)
	tx.Wake = true
	return true, tx.renumber(c, r, index)
}
