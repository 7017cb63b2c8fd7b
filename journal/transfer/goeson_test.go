package transfer_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"riskdex/journal"
	"riskdex/journal/transfer"
	"riskdex/report"
)

// goesOn uses a copy that was opened once.
func goesOn(t *testing.T, name string, made transfer.Report) {
	t.Helper()
	j := openNamedTest(t, name)
	defer closeTest(t, j)
	ctx, f := context.Background(), filler{t, j}
	refusals, err := j.Refusals(ctx, 0, 10)
	if err != nil || len(refusals) != 2 {
		t.Fatal(refusals, err)
	}
	retry := func(r report.Refusal, id report.ID) report.Version {
		return f.append(report.Delivery{RetryOf: r.Seq, Changes: []report.Change{{
			Key: report.Key{Kind: report.Advisories, ID: id}, Op: report.Index, Body: []byte("{}")}}})[0].Version
	}
	if v := retry(refusals[0], "dead"); v != 0 {
		t.Errorf("a retry overtook what was delivered later: version %d", v)
	}
	// Renewed since, but delivered before what was refused.
	if v := retry(refusals[1], "a\x00b"); v <= made.LastVersion {
		t.Errorf("a retry has version %d; %d was given out before", v, made.LastVersion)
	}
	f.append(report.Delivery{Refusals: []report.Refusal{refused("new", "{")}})
	now, err := j.Refusals(ctx, 0, 1)
	if err != nil || len(now) != 1 || now[0].Seq != 4 {
		t.Errorf("the number of the next refusal: %+v, %v, want 4", now, err)
	}
	_, err = j.Append(ctx, report.Delivery{
		Changes: []report.Change{{Key: report.Key{Kind: report.Cities, ID: "130"}, Op: report.Delete}},
		Receipt: &report.Receipt{Sender: "s\x00", ID: "1", Digest: []byte{0}},
	})
	if _, repeated := errors.AsType[*report.RepeatedError](err); !repeated {
		t.Errorf("a repeated delivery returned %v, want a RepeatedError", err)
	}
	for _, k := range report.AllKinds() {
		f.settle(k, func(report.Change) report.Outcome { return report.Indexed })
	}
	stats, err := j.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range stats.Kinds {
		sum := uint64(s.Pending)
		for _, n := range s.Settled {
			sum += n
		}
		if s.Pending+s.Resending != 0 || sum != s.Accepted[report.Index]+s.Accepted[report.Delete] {
			t.Errorf("%s: totals %+v, want everything settled", k, s)
		}
	}
}

// TestCopiedRefusals: deliveries clear the refusals of a copy, and these count for the
// bounds.
func TestCopiedRefusals(t *testing.T) {
	from := filled(t, filepath.Join(t.TempDir(), "journal.db"))
	for engine, where := range engines() {
		to := where(t)
		if _, err := copyJournal(t.Context(), from, to, nil); err != nil {
			t.Fatal(err)
		}
		j := openWith(t, to, journal.Options{MaxRefusals: 2})
		f := filler{t, j}
		numbers := func() (all []int64) {
			list, err := j.Refusals(t.Context(), 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				all = append(all, r.Seq)
			}
			return all
		}
		f.append(report.Delivery{Refusals: []report.Refusal{refused("new", "{")}})
		if got := numbers(); !slices.Equal(got, []int64{4, 2}) {
			t.Errorf("%s: refusals %v, want the newest two", engine, got)
		}
		closeTest(t, j)

		to = where(t)
		if _, err := copyJournal(t.Context(), from, to, nil); err != nil {
			t.Fatal(err)
		}
		j = openWith(t, to, journal.Options{})
		f = filler{t, j}
		f.put(report.Advisories, "kept", "{}")
		if got := numbers(); !slices.Equal(got, []int64{2}) {
			t.Errorf("%s: refusals after a delivery of the first document: %v", engine, got)
		}
		closeTest(t, j)
	}
}
