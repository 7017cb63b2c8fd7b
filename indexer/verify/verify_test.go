package verify_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// problems lists the findings, by id.
func problems(found []report.VerifyFinding) map[string]report.Difference {
	all := map[string]report.Difference{}
	for _, f := range found {
		all[string(f.ID)] = f.Problem
	}
	return all
}

func TestVerifyFindsNothingWhereAllIsWell(t *testing.T) {
	r := indexertest.Assemble(t, indexertest.Quick())
	r.Append(indexertest.Index(report.Cities, "dead", `{}`), indexertest.Index(report.Cities, "dropped", `{}`))
	changes, err := r.Journal.Claim(t.Context(), report.Cities, 10, 1<<20)
	require.NoError(t, err)
	for _, c := range changes {
		require.NoError(t, r.Journal.Settle(t.Context(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: report.Dead}}))
	}
	r.Run()
	r.Append(indexertest.Many(report.Cities, 50, "text")...)
	r.Append(indexertest.Index(report.Cities, strings.Repeat("\x01", report.MaxIDBytes), `{}`), indexertest.Index(report.Cities, `"<é\`, `{}`), indexertest.Index(report.Advisories, "x", `{}`))
	r.Append(indexertest.Delete(report.Cities, "7"), indexertest.Delete(report.Cities, "never seen"))
	r.Drained()
	r.Change("PUT", r.Path("dead", indexertest.External(1)), `{}`) // an older version of a dead letter may be there
	var phases []string
	got := r.Verify(verify.Options{Progress: func(p report.VerifyProgress) {
		if !slices.Contains(phases, p.Phase) {
			phases = append(phases, p.Phase)
		}
		if p.Kind != report.Cities || p.Done == 0 || p.Found != 0 || p.Phase == verify.PhaseIndex && p.Total != 52 {
			t.Errorf("progress %+v", p)
		}
	}})
	if got.Found() != 0 || len(got.Findings) != 0 || got.Documents != 54 || got.Live != 53 || got.Deleted != 1 || got.Refused != 2 || got.Indexed != 52 || got.UnderWay != 0 || got.Advice != "" {
		t.Errorf("found %+v, want nothing wrong and all documents counted", got)
	}
	if !slices.Equal(phases, []string{verify.PhaseJournal, verify.PhaseIndex}) {
		t.Errorf("phases %v", phases)
	}
}

func TestVerifyFindsAndRepairsEveryDamage(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 40, "text")...)
	r.Append(indexertest.Delete(report.Cities, "30"), indexertest.Delete(report.Cities, "31"), indexertest.Delete(report.Cities, "32"), indexertest.Delete(report.Cities, "33"))
	r.Drained()
	if got := r.Verify(verify.Options{}); got.Found() != 0 {
		t.Fatalf("before any damage: %+v", got)
	}
	before := r.Entry("3").Version

	r.Change("DELETE", r.Path("1", ""), "")
	r.Change("DELETE", r.Path("2", ""), "")
	r.Change("PUT", r.Path("2", indexertest.External(r.Entry("2").Version+5)), `{"title":"planted"}`)
	r.Change("DELETE", r.Path("2", ""), "")
	r.Change("PUT", r.Path("30", ""), `{"title":"brought back by hand"}`)
	for _, id := range []string{"3", "31", "33"} {
		// What an old snapshot of the index would restore. Elasticsearch keeps the
		// version of a delete for a while, and has to forget it first.
		forget(r, id)
	}
	r.Change("PUT", r.Path("3", indexertest.External(before-1000)), `{"title":"older"}`)
	r.Change("PUT", r.Path("31", indexertest.External(before-1000)), `{"title":"older"}`)
	r.Change("PUT", r.Path("33", indexertest.External(r.Entry("33").Version)), `{"title":"brought back as the very version of its delete"}`)
	r.Change("PUT", r.Path("4", ""), `{"title":"changed by hand"}`)
	r.Change("PUT", r.Path("32", indexertest.External(r.Entry("32").Version+1)), `{"title":"brought back by hand"}`)
	r.Change("PUT", r.Path("unknown", ""), `{"title":"never delivered"}`)
	r.Change("PUT", r.Path("a/b c", ""), `{"title":"never delivered"}`)
	r.Change("DELETE", r.Path("39", ""), "") // immediately before the read

	want := map[string]report.Difference{
		"1": report.Missing, "2": report.Missing, "39": report.Missing,
		"3": report.Stale, "31": report.Stale,
		"4": report.Foreign, "30": report.Foreign, "32": report.Foreign, "33": report.Foreign, "unknown": report.Foreign, "a/b c": report.Foreign,
	}
	var told []report.VerifyFinding
	got := r.Verify(verify.Options{Found: func(f report.VerifyFinding) { told = append(told, f) }})
	if !maps.Equal(problems(got.Findings), want) || len(got.Findings) != len(want) || !slices.Equal(told, got.Findings) {
		t.Errorf("found %v\nreported %v\nwant %v", got.Findings, told, want)
	}
	if got.Missing != 3 || got.Stale != 2 || got.Foreign != 6 || got.Unknown != 2 || got.Wrong() != 11 || got.UnderWay != 0 {
		t.Errorf("found %+v, want 3 missing, 2 stale, 6 foreign, 2 unknown", got)
	}
	for _, f := range got.Findings {
		if f.IndexVersion != r.InIndex(string(f.ID)) || f.Repaired {
			t.Errorf("%+v, the index has version %d", f, r.InIndex(string(f.ID)))
		}
		if known := f.ID != "unknown" && f.ID != "a/b c"; known != (f.JournalVersion > 0) ||
			known && (f.JournalVersion != r.Entry(string(f.ID)).Version || f.Deleted != (r.Entry(string(f.ID)).Op == report.Delete)) {
			t.Errorf("finding %+v does not match the journal's entry", f)
		}
	}

	got = r.Verify(verify.Options{Repair: true})
	if !maps.Equal(problems(got.Findings), want) || got.Ordered != 11 || got.Repaired != 11 || got.Wrong() != 0 || got.Kept != 0 {
		t.Errorf("repaired: %+v", got)
	}
	r.Drained()
	r.SameAsJournal()
	for _, id := range []string{"3", "4"} {
		if d := r.Document(report.Cities, id); d["text"] != "text" {
			t.Errorf("document %s is %v, want it repaired", id, d)
		}
	}
	if got := r.Verify(verify.Options{Repair: true}); got.Found() != 0 || got.Ordered != 0 {
		t.Errorf("once more: %+v", got)
	}
	if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 {
		t.Errorf("%d dead letters", k.DeadLetters)
	}
}

// forget removes a document so that Elasticsearch does not remember its version.
func forget(r *indexertest.Rig, id string) {
	r.T.Helper()
	alias := "/" + r.Indices.Alias(report.Cities)
	r.Ask("DELETE", r.Path(id, indexertest.External(r.Entry(id).Version+1)), "")
	r.Change("PUT", alias+"/_settings", `{"index.gc_deletes":"0ms"}`)
	r.Change("POST", alias+"/_flush?force=true", "")
	r.Eventually("the version of "+id+" is forgotten", func() bool {
		r.Change("POST", alias+"/_refresh", "")
		status, _ := r.Ask("PUT", r.Path(id, indexertest.External(1)), `{}`)
		return status < 300
	})
	r.Change("PUT", alias+"/_settings", `{"index.gc_deletes":"1h"}`)
}

func TestVerifyRemovesAnUnknownCityAndNotTheOneWithThatCode(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	berlin := indexertest.Index(report.Cities, "130", `{"id":130,"code":"BER","title":"Berlin"}`)
	berlin.Code = "BER"
	r.Append(berlin)
	r.Append(indexertest.Many(report.Cities, 20, "text")...)
	r.Drained()
	r.Change("PUT", r.Path("BER", ""), `{"title":"never delivered"}`)
	got := r.Verify(verify.Options{Repair: true})
	if got.Unknown != 1 || got.Repaired != 1 {
		t.Errorf("found %+v, want one unknown document, removed", got)
	}
	if d := r.Document(report.Cities, "130"); d["title"] != "Berlin" {
		t.Errorf("Berlin: %v", d)
	}
	if v := r.InIndex("BER"); v != 0 {
		t.Errorf("the unknown document is still there, as version %d", v)
	}
}

func TestVerifyKeepsTheFirstFindingsOnly(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 60, "text")...)
	r.Drained()
	for i := range 30 {
		r.Change("DELETE", r.Path(fmt.Sprint(i), ""), "")
	}
	cfg := indexertest.QuickVerify()
	cfg.MaxFindings = 5
	told := 0
	got, err := r.Verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{Found: func(report.VerifyFinding) { told++ }})
	require.NoError(t, err)
	if len(got.Findings) != 5 || got.Missing != 30 || told != 30 {
		t.Errorf("%d kept, %d missing, %d told", len(got.Findings), got.Missing, told)
	}
}

// TestRepairTellsWhatIsNotRepairedYet: without a worker that sends them, documents are
// not repaired, and the report says so.
func TestRepairTellsWhatIsNotRepairedYet(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 40, "text")...)
	r.Drained()
	r.Stop()
	for _, id := range []string{"1", "2", "39"} {
		r.Change("DELETE", r.Path(id, ""), "")
	}
	cfg := indexertest.QuickVerify()
	cfg.RepairWithin = 20 * time.Millisecond
	got, err := r.Verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{Repair: true})
	require.NoError(t, err)
	if got.Missing != 3 || got.Ordered != 3 || got.Repaired != 0 || got.Wrong() != 3 {
		t.Errorf("found %+v, want three missing, ordered, and not repaired yet", got)
	}
	got = r.Verify(verify.Options{})
	if got.Found() != 0 || got.UnderWay != 3 {
		t.Errorf("found %+v, want the three that are being sent again under way", got)
	}
}

// TestRepairClaimsNothingThatItHasNotSeen: Elasticsearch refuses every version below one
// that is far ahead, so that such a document cannot be repaired in place.
func TestRepairClaimsNothingThatItHasNotSeen(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 20, "text")...)
	r.Drained()
	r.Change("PUT", r.Path("1", indexertest.External(9_000_000_000_000_000_000)), `{"title":"from the future"}`)
	cfg := indexertest.QuickVerify()
	cfg.RepairWithin = 100 * time.Millisecond
	got, err := r.Verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{Repair: true, RemoveForeign: true})
	require.NoError(t, err)
	if got.Foreign != 1 || got.Ordered != 1 || got.Repaired != 0 || got.Wrong() != 1 || got.Advice == "" {
		t.Errorf("found %+v, want one foreign document, not repaired, and advice", got)
	}
}

// TestRepairJudgesWhatSettledMeanwhile: a page that was read while the one before waited for its
// repair is compared as it is then.
func TestRepairJudgesWhatSettledMeanwhile(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 20, "text")...)
	r.Drained()
	entries, err := r.Journal.Entries(t.Context(), report.Cities, "", 20)
	require.NoError(t, err)
	first, second := string(entries[0].ID), string(entries[9].ID) // in the first and second page
	r.Change("DELETE", r.Path(first, ""), "")
	var compared atomic.Bool // the first page has been, and the second is read by the time that a bulk may pass
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsLookup(req) {
			compared.Store(true)
		}
		for held := 0; indexertest.IsBulk(req) && held < 50 && req.Context().Err() == nil; {
			if pause(); compared.Load() {
				held++
			}
		}
		next.ServeHTTP(w, req)
	})
	r.Append(indexertest.Index(report.Cities, second, `{"title":"under way"}`))
	lost := false
	got := r.Verify(verify.Options{Repair: true, Found: func(f report.VerifyFinding) {
		if string(f.ID) != first {
			return
		}
		// The first page's repair has ended, and the second page was read before.
		r.Drained()
		r.Change("DELETE", r.Path(second, ""), "")
		lost = true
	}})
	if !lost || got.Found() != 2 || got.Repaired != 2 {
		t.Errorf("found %+v, want both documents repaired", got)
	}
}
