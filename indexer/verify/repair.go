package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/report"
)

// conclude counts and reports findings. It repairs them before, if asked to.
func (r *verification) conclude(ctx context.Context, found []report.VerifyFinding) error {
	var err error
	if r.opt.Repair && len(found) > 0 {
		err = r.repair(ctx, found)
	}
	for _, f := range found {
		r.report.count(f, r.cfg.MaxFindings)
		if r.opt.Found != nil {
			r.telling.Lock()
			r.opt.Found(f)
			r.telling.Unlock()
		}
	}
	return err
}

// repair gives findings to the journal, which has them sent like any other change, and waits for
// the result. Nothing bypasses the journal, so a repair cannot overtake a delivery.
func (r *verification) repair(ctx context.Context, found []report.VerifyFinding) error {
	var renew []report.Stamp
	var remove []report.Change
	var ids []report.ID
	for _, f := range found {
		switch {
		case r.kept(f):
			r.report.Kept++
			continue
		case f.JournalVersion > 0:
			// A new version, because Elasticsearch remembers the version of a manual
			// delete and would refuse the same one.
			renew = append(renew, report.Stamp{Key: f.Key(), Version: f.JournalVersion})
		default:
			remove = append(remove, report.Change{Key: f.Key(), Op: report.Delete, ExactID: true})
		}
		ids = append(ids, f.ID)
	}
	if len(renew) > 0 {
		n, err := r.journal.Reissue(ctx, renew)
		if err != nil {
			return fmt.Errorf("have %d documents sent again: %w", len(renew), err)
		}
		r.report.Ordered += n
	}
	if len(remove) > 0 {
		stamps, err := r.journal.Append(ctx, report.Delivery{Changes: remove})
		if err != nil {
			return fmt.Errorf("have %d unknown documents deleted: %w", len(remove), err)
		}
		for _, s := range stamps {
			if s.Version > 0 { // otherwise the publisher has just delivered it
				r.report.Ordered++
			}
		}
	}
	r.waited = true
	repaired, err := r.await(ctx, ids)
	for i := range found {
		found[i].Repaired = repaired[found[i].ID]
	}
	return err
}

// kept reports whether a repair leaves f alone.
func (r *verification) kept(f report.VerifyFinding) bool {
	uncertain := ofAnotherJournal(f) || r.report.WrongJournal && f.JournalVersion == 0
	return uncertain && !r.opt.RemoveForeign
}

// await waits until the index has ids right, and returns those that are. It gives up after a
// while, for this page and all later ones: what delays one delays the others.
func (r *verification) await(ctx context.Context, ids []report.ID) (map[report.ID]bool, error) {
	repaired := make(map[report.ID]bool, len(ids))
	pause := r.newBackOff(r.cfg.RepairWithin)
	for len(ids) > 0 && !r.tired {
		var err error
		if ids, err = r.stillWrong(ctx, ids, repaired); err != nil || len(ids) == 0 {
			return repaired, err
		}
		wait := pause.NextBackOff()
		if wait == backoff.Stop {
			r.tired = true
			break
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return repaired, ctx.Err()
		case <-timer.C:
		}
	}
	return repaired, nil
}

// stillWrong marks those of ids that are right by now, and returns those that may still
// become so.
func (r *verification) stillWrong(ctx context.Context, ids []report.ID, repaired map[report.ID]bool) ([]report.ID, error) {
	known, err := r.lookup(ctx, ids)
	if err != nil {
		return nil, err
	}
	var settled, rest []report.ID
	for _, id := range ids {
		switch known[id].State {
		case report.StateSettled:
			settled = append(settled, id)
		case report.StatePending, report.StateResending:
			rest = append(rest, id)
		}
	}
	have, err := r.versions(ctx, settled)
	if err != nil {
		return nil, err
	}
	for _, id := range settled {
		if problem(known[id], have[id]) == "" {
			repaired[id] = true
		} else {
			rest = append(rest, id)
		}
	}
	return rest, nil
}
