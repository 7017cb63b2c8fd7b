package verify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// TestRepairTrustsNoWrongJournal: a journal that knows few documents of the index must
// not decide what is deleted.
func TestRepairTrustsNoWrongJournal(t *testing.T) {
	for _, c := range []struct {
		known, unknown int
		wrong          bool
	}{{0, 10, false}, {0, 11, true}, {11, 11, false}, {11, 12, true}} {
		t.Run(fmt.Sprintf("%d known and %d unknown", c.known, c.unknown), func(t *testing.T) {
			r := indexertest.Start(t, indexertest.Quick())
			r.Append(indexertest.Many(report.Cities, c.known, "text")...)
			r.Append(indexertest.Index(report.Cities, "gone", `{}`), indexertest.Delete(report.Cities, "gone"))
			r.Drained()
			for i := range c.unknown {
				r.Change("PUT", r.Path(fmt.Sprint("unknown ", i), ""), `{}`)
			}
			if got := r.Verify(verify.Options{}); got.WrongJournal != c.wrong || got.Unknown != c.unknown || c.wrong != strings.Contains(got.Advice, "fresh journal") {
				t.Errorf("without a repair: %+v %s", got, got.Advice)
			}
			got := r.Verify(verify.Options{Repair: true})
			if c.wrong && (!got.WrongJournal || got.Ordered != 0 || got.Kept != c.unknown || r.Count(report.Cities) != c.known+c.unknown) ||
				!c.wrong && (got.WrongJournal || got.Repaired != c.unknown || got.Kept != 0 || r.Count(report.Cities) != c.known) {
				t.Errorf("%+v, %d documents are left", got, r.Count(report.Cities))
			}
			if !c.wrong {
				return
			}
			if got := r.Verify(verify.Options{Repair: true, RemoveForeign: true}); got.Repaired != c.unknown || got.Kept != 0 {
				t.Errorf("with the removal of foreign documents: %+v", got)
			}
			r.SameAsJournal()
		})
	}
}

// TestRepairRollsNothingBack: if the journal is older than the index, as after a restore,
// what only the index has may be a correction.
func TestRepairRollsNothingBack(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 30, "text")...)
	r.Append(indexertest.Delete(report.Cities, "29"))
	r.Drained()
	later := report.Version(time.Now().Add(1500 * time.Millisecond).UnixMicro())
	for _, id := range []string{"1", "29", "unknown"} {
		r.Change("PUT", r.Path(id, indexertest.External(later)), `{"source":{"text":"newer"}}`)
	}
	r.Change("PUT", r.Path("2", ""), `{"source":{"text":"by hand"}}`)
	got := r.Verify(verify.Options{Repair: true})
	if got.Foreign != 4 || got.Kept != 3 || got.OtherJournal != 3 || got.Ordered != 1 || got.Repaired != 1 || got.WrongJournal ||
		!strings.Contains(got.Advice, "another journal") {
		t.Errorf("found %+v with advice %q, want three documents of another journal kept, and one repaired", got, got.Advice)
	}
	for _, id := range []string{"1", "29", "unknown"} {
		if v := r.InIndex(id); v != later {
			t.Errorf("%s has version %d now", id, v)
		}
	}
	r.Eventually("the clock is past those versions", func() bool { return time.Now().UnixMicro() > int64(later) })
	if got := r.Verify(verify.Options{Repair: true, RemoveForeign: true}); got.Repaired != 3 || got.Kept != 0 {
		t.Errorf("with the removal of foreign documents: %+v", got)
	}
	r.SameAsJournal()
}
