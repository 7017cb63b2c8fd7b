package verify

import (
	"context"

	"riskdex/report"
)

// indexToJournal looks up the documents of the index in the journal. Those that the journal
// knows have been compared before, so this finds unknown ones only.
//
// It counts unknown documents before it removes any: a journal that knows little of the index
// must not decide what to delete.
func (r *verification) indexToJournal(ctx context.Context) error {
	if r.opt.Repair {
		unknown := 0
		err := r.walk(ctx, PhaseCount, func(ctx context.Context, ids []report.ID) error {
			of, err := r.unknown(ctx, ids)
			unknown += len(of)
			return err
		})
		if err != nil || unknown == 0 {
			return err
		}
		r.report.WrongJournal = mostlyUnknown(unknown, r.report.Indexed)
	}
	err := r.walk(ctx, PhaseIndex, r.findUnknown)
	if !r.opt.Repair {
		r.report.WrongJournal = mostlyUnknown(r.report.Unknown, r.report.Indexed)
	}
	return err
}

// mostlyUnknown reports whether the journal is not the one that filled the index. A handful of
// unknown documents proves nothing.
func mostlyUnknown(unknown, indexed int) bool { return unknown > 10 && 2*unknown > indexed }

// unknown returns those of ids that the journal does not know. Whatever riskdex writes to the
// index is in the journal before, and stays there at least as a tombstone. So a document that
// was in the index first, and is not in the journal afterwards, was written by somebody else.
func (r *verification) unknown(ctx context.Context, ids []report.ID) ([]report.ID, error) {
	known, err := r.lookup(ctx, ids)
	if err != nil {
		return nil, err
	}
	var unknown []report.ID
	for _, id := range ids {
		if _, ok := known[id]; !ok {
			unknown = append(unknown, id)
		}
	}
	return unknown, nil
}

// findUnknown finds the unknown documents of a page. The page shows the index as of the start
// of the walk, which may have been corrected since. So it asks the index itself, and then the
// journal again.
func (r *verification) findUnknown(ctx context.Context, page []report.ID) error {
	ids, err := r.unknown(ctx, page)
	if err != nil || len(ids) == 0 {
		return err
	}
	have, err := r.versions(ctx, ids)
	if err != nil {
		return err
	}
	if ids, err = r.unknown(ctx, ids); err != nil {
		return err
	}
	var found []report.VerifyFinding
	for _, id := range ids {
		if have[id].Found {
			found = append(found, report.VerifyFinding{
				Kind: r.kind, ID: id, Problem: report.Foreign, IndexVersion: have[id].Version,
			})
		}
	}
	return r.conclude(ctx, found)
}
