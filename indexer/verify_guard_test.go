package indexer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/report"
)

// TestRepairTrustsNoWrongJournal: a journal that knows little of the index must
// not decide what goes.
func TestRepairTrustsNoWrongJournal(t *testing.T) {
	for _, c := range []struct {
		known, unknown int
		wrong          bool
	}{{0, 10, false}, {0, 11, true}, {11, 11, false}, {11, 12, true}} {
		t.Run(fmt.Sprintf("%d known and %d unknown", c.known, c.unknown), func(t *testing.T) {
			r := start(t, quick())
			r.append(many(report.Cities, c.known, "text")...)
			r.append(index(report.Cities, "gone", `{}`), remove(report.Cities, "gone"))
			r.drained()
			for i := range c.unknown {
				r.change("PUT", r.doc(fmt.Sprint("unknown ", i), ""), `{}`)
			}
			if got := r.verify(verify.Options{}); got.WrongJournal != c.wrong || got.Unknown != c.unknown || c.wrong != strings.Contains(got.Advice, "fresh journal") {
				t.Errorf("without a repair: %+v %s", got, got.Advice)
			}
			got := r.verify(verify.Options{Repair: true})
			if c.wrong && (!got.WrongJournal || got.Ordered != 0 || got.Kept != c.unknown || r.count(report.Cities) != c.known+c.unknown) ||
				!c.wrong && (got.WrongJournal || got.Mended != c.unknown || got.Kept != 0 || r.count(report.Cities) != c.known) {
				t.Errorf("%+v, %d documents are left", got, r.count(report.Cities))
			}
			if !c.wrong {
				return
			}
			if got := r.verify(verify.Options{Repair: true, RemoveForeign: true}); got.Mended != c.unknown || got.Kept != 0 {
				t.Errorf("with the removal of foreign documents: %+v", got)
			}
			r.sameAsJournal()
		})
	}
}

// TestRepairRollsNothingBack: where the journal is older than the index, as after
// a restore, what only the index has may be a correction.
func TestRepairRollsNothingBack(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 30, "text")...)
	r.append(remove(report.Cities, "29"))
	r.drained()
	later := report.Version(time.Now().Add(1500 * time.Millisecond).UnixMicro())
	for _, id := range []string{"1", "29", "unknown"} {
		r.change("PUT", r.doc(id, external(later)), `{"source":{"text":"newer"}}`)
	}
	r.change("PUT", r.doc("2", ""), `{"source":{"text":"by hand"}}`)
	got := r.verify(verify.Options{Repair: true})
	if got.Foreign != 4 || got.Kept != 3 || got.OtherJournal != 3 || got.Ordered != 1 || got.Mended != 1 || got.WrongJournal ||
		!strings.Contains(got.Advice, "another journal") {
		t.Errorf("%+v %s", got, got.Advice)
	}
	for _, id := range []string{"1", "29", "unknown"} {
		if v := r.inIndex(id); v != later {
			t.Errorf("%s has version %d now", id, v)
		}
	}
	r.eventually("the clock is past those versions", func() bool { return time.Now().UnixMicro() > int64(later) })
	if got := r.verify(verify.Options{Repair: true, RemoveForeign: true}); got.Mended != 3 || got.Kept != 0 {
		t.Errorf("with the removal of foreign documents: %+v", got)
	}
	r.sameAsJournal()
}
