package verify

import (
	"context"
	"fmt"

	"riskdex/elastic"
	"riskdex/report"
)

// journalToIndex looks up the documents of the journal in the index.
func (r *verification) journalToIndex(ctx context.Context) error {
	var after report.ID
	next := func(ctx context.Context) ([]report.Entry, bool, error) {
		wait := r.beginWait(report.WaitsForJournal)
		entries, err := r.journal.Entries(ctx, r.kind, after, r.cfg.Page)
		wait.end(err)
		if err != nil {
			return nil, false, fmt.Errorf("read the journal after %q: %w", after, err)
		}
		if len(entries) == 0 {
			return nil, false, nil
		}
		after = entries[len(entries)-1].ID
		return entries, true, nil
	}
	return eachPage(ctx, next, func(entries []report.Entry) error {
		if r.waited { // what was under way when these were read could not be judged
			ids := make([]report.ID, 0, len(entries))
			for _, e := range entries {
				ids = append(ids, e.ID)
			}
			var err error
			if entries, err = r.entriesOf(ctx, ids); err != nil {
				return err
			}
			r.waited = false
		}
		if err := r.comparePage(ctx, entries); err != nil {
			return err
		}
		r.report.countKnown(entries)
		r.progress(report.VerifyProgress{Phase: PhaseJournal, Done: r.report.Documents})
		return nil
	})
}

// entriesOf returns the entries of ids, in their order, without those that the journal does not
// know: it may have forgotten a tombstone.
func (r *verification) entriesOf(ctx context.Context, ids []report.ID) ([]report.Entry, error) {
	known, err := r.lookup(ctx, ids)
	if err != nil {
		return nil, err
	}
	entries := make([]report.Entry, 0, len(known))
	for _, id := range ids {
		if e, ok := known[id]; ok {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// comparePage finds what differs in a page of the journal, while both sides keep changing. It
// reads the journal, the index, the journal, the index, the journal: J1 I1 J2 I2 J3. A
// document is a finding only if the journal says the same three times, settled at some version
// v, and the index differs from that both times. The indexer itself never causes that:
//
//   - A row becomes settled at v only after Elasticsearch has answered that every copy
//     that it reads from has v, or, for a delete, lacks the document. So from J1 on the
//     index has v, or something later.
//   - A newer version w may be in the index before it is settled, but never
//     before the journal has it. Once it has, the row is not what J1 saw, and
//     never is again, since versions only grow.
//   - The same version can be settled twice if it was marked to be sent again in
//     between, such as after the index was lost. One such round may lie between J1 and J2
//     and hide that I1 saw an index that was still empty. But then I2 sees the filled one.
//     To deceive both reads, the index would have to be lost and filled twice within two
//     requests.
//
// A document that is right at either read is right. Any other one was under way: it is counted
// and not judged.
func (r *verification) comparePage(ctx context.Context, entries []report.Entry) error {
	suspects, err := r.differing(ctx, entries)
	if err != nil || len(suspects) == 0 {
		return err
	}
	ids := make([]report.ID, 0, len(suspects))
	first := make(map[report.ID]report.Entry, len(suspects))
	for _, s := range suspects {
		ids = append(ids, s.ID)
		first[s.ID] = s.entry
	}
	again, err := r.entriesOf(ctx, ids)
	if err != nil {
		return err
	}
	if suspects, err = r.differing(ctx, again); err != nil {
		return err
	}
	third, err := r.lookup(ctx, ids)
	if err != nil {
		return err
	}
	var found []report.VerifyFinding
	for _, s := range suspects {
		if first[s.ID] != s.entry || third[s.ID] != s.entry {
			r.report.UnderWay++
			continue
		}
		found = append(found, s.VerifyFinding)
	}
	return r.conclude(ctx, found)
}

// suspect is a document that differs, with the journal's entry.
type suspect struct {
	report.VerifyFinding
	entry report.Entry
}

// differing returns the documents that differ in the index from entries. It counts those under
// way, and leaves them out.
func (r *verification) differing(ctx context.Context, entries []report.Entry) ([]suspect, error) {
	judged := make([]report.Entry, 0, len(entries))
	ids := make([]report.ID, 0, len(entries))
	for _, e := range entries {
		if e.State == report.StatePending || e.State == report.StateResending {
			r.report.UnderWay++
			continue
		}
		judged = append(judged, e)
		ids = append(ids, e.ID)
	}
	have, err := r.versions(ctx, ids)
	if err != nil {
		return nil, err
	}
	var suspects []suspect
	for _, e := range judged {
		if p := problem(e, have[e.ID]); p != "" {
			suspects = append(suspects, suspect{report.VerifyFinding{
				Kind: e.Kind, ID: e.ID, Problem: p, IndexVersion: have[e.ID].Version, JournalVersion: e.Version, Deleted: e.Op == report.Delete,
			}, e})
		}
	}
	return suspects, nil
}

// problem compares the state of a document in the index with its entry. It is empty if the
// index is right. Of a refused document, the index may have any older version, or none.
func problem(e report.Entry, have elastic.Indexed) report.Difference {
	switch {
	case have.Version > e.Version:
		return report.Foreign
	case e.Refused():
		return ""
	case e.Op == report.Delete && have.Found && have.Version == e.Version:
		return report.Foreign // that version is a delete
	case e.Op == report.Delete && !have.Found, e.Op == report.Index && have.Version == e.Version:
		return ""
	case !have.Found:
		return report.Missing
	}
	return report.Stale
}
