package indexer_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/report"
)

func quickVerify() verify.Config {
	cfg := verify.DefaultConfig()
	cfg.Page = 7 // so that everything takes several pages
	cfg.FirstBackoff, cfg.LongestBackoff = 2*time.Millisecond, 50*time.Millisecond
	cfg.MendWithin = 30 * time.Second
	return cfg
}

func (r *rig) verifier(cfg verify.Config) *verify.Verifier {
	r.t.Helper()
	v, err := verify.New(cfg, r.journal, r.indices, r.indices.Client)
	must(r.t, err)
	return v
}

// verify compares the cities.
func (r *rig) verify(opt verify.Options) verify.Report {
	r.t.Helper()
	got, err := r.verifier(quickVerify()).Verify(r.t.Context(), report.Cities, opt)
	must(r.t, err)
	return got
}

// doc is the path of a city in the index.
func (r *rig) doc(id, parameters string) string {
	return "/" + r.indices.Alias(report.Cities) + "/_doc/" + url.PathEscape(id) + parameters
}

// external makes a write of that version, as riskdex does.
func external(v report.Version) string { return fmt.Sprintf("?version_type=external&version=%d", v) }

// entry returns what the journal knows of a city.
func (r *rig) entry(id string) report.Entry {
	r.t.Helper()
	entries, err := r.journal.Lookup(r.t.Context(), report.Cities, []report.ID{report.ID(id)})
	must(r.t, err)
	if len(entries) != 1 {
		r.t.Fatalf("the journal knows %d documents %q", len(entries), id)
	}
	return entries[0]
}

// inIndex returns the version of a city in the index, or 0.
func (r *rig) inIndex(id string) report.Version {
	r.t.Helper()
	if status, _ := r.ask("HEAD", r.doc(id, ""), ""); status != http.StatusOK {
		return 0
	}
	_, answer := r.ask("GET", r.doc(id, "?_source=false"), "")
	return report.Version(answer["_version"].(float64))
}

// problems lists what was found, by id.
func problems(found []report.VerifyFinding) map[string]report.Difference {
	all := map[string]report.Difference{}
	for _, f := range found {
		all[string(f.ID)] = f.Problem
	}
	return all
}

// sameAsJournal checks that the index has exactly what the journal says.
func (r *rig) sameAsJournal() {
	r.t.Helper()
	entries, err := r.journal.Entries(r.t.Context(), report.Cities, "", 1_000_000)
	must(r.t, err)
	live := 0
	for _, e := range entries {
		want := e.Version
		if e.Op == report.Delete {
			want = 0
		} else {
			live++
		}
		if got := r.inIndex(string(e.ID)); got != want {
			r.t.Errorf("%q has version %d in the index, want %d", e.ID, got, want)
		}
	}
	if n := r.count(report.Cities); n != live {
		r.t.Errorf("%d documents in the index, want %d", n, live)
	}
}

func TestVerifyFindsNothingWhereAllIsWell(t *testing.T) {
	r := assemble(t, quick())
	r.append(index(report.Cities, "dead", `{}`), index(report.Cities, "dropped", `{}`))
	changes, err := r.journal.Claim(t.Context(), report.Cities, 10, 1<<20)
	must(t, err)
	for _, c := range changes {
		must(t, r.journal.Settle(t.Context(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: report.Dead}}))
	}
	r.run()
	r.append(many(report.Cities, 50, "text")...)
	r.append(index(report.Cities, strings.Repeat("\x01", report.MaxIDBytes), `{}`), index(report.Cities, `"<é\`, `{}`), index(report.Advisories, "x", `{}`))
	r.append(remove(report.Cities, "7"), remove(report.Cities, "never seen"))
	r.drained()
	r.change("PUT", r.doc("dead", external(1)), `{}`) // an older version of a dead letter may be there
	var phases []string
	got := r.verify(verify.Options{Progress: func(p report.VerifyProgress) {
		if !slices.Contains(phases, p.Phase) {
			phases = append(phases, p.Phase)
		}
		if p.Kind != report.Cities || p.Done == 0 || p.Found != 0 || p.Phase == verify.PhaseIndex && p.Total != 52 {
			t.Errorf("progress %+v", p)
		}
	}})
	if got.Found() != 0 || len(got.Findings) != 0 || got.Documents != 54 || got.Live != 53 || got.Deleted != 1 || got.Refused != 2 || got.Indexed != 52 || got.UnderWay != 0 || got.Advice != "" {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(phases, []string{verify.PhaseJournal, verify.PhaseIndex}) {
		t.Errorf("phases %v", phases)
	}
}

func TestVerifyFindsAndMendsEveryDamage(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 40, "text")...)
	r.append(remove(report.Cities, "30"), remove(report.Cities, "31"), remove(report.Cities, "32"), remove(report.Cities, "33"))
	r.drained()
	if got := r.verify(verify.Options{}); got.Found() != 0 {
		t.Fatalf("before any damage: %+v", got)
	}
	before := r.entry("3").Version

	r.change("DELETE", r.doc("1", ""), "")
	r.change("DELETE", r.doc("2", ""), "")
	r.change("PUT", r.doc("2", external(r.entry("2").Version+5)), `{"title":"planted"}`)
	r.change("DELETE", r.doc("2", ""), "")
	r.change("PUT", r.doc("30", ""), `{"title":"brought back by hand"}`)
	for _, id := range []string{"3", "31", "33"} {
		// What an old snapshot of the index would restore. Elasticsearch keeps the
		// version of a delete for a while, and has to forget it first.
		r.forget(id)
	}
	r.change("PUT", r.doc("3", external(before-1000)), `{"title":"older"}`)
	r.change("PUT", r.doc("31", external(before-1000)), `{"title":"older"}`)
	r.change("PUT", r.doc("33", external(r.entry("33").Version)), `{"title":"brought back as the very version of its delete"}`)
	r.change("PUT", r.doc("4", ""), `{"title":"changed by hand"}`)
	r.change("PUT", r.doc("32", external(r.entry("32").Version+1)), `{"title":"brought back by hand"}`)
	r.change("PUT", r.doc("unknown", ""), `{"title":"never delivered"}`)
	r.change("PUT", r.doc("a/b c", ""), `{"title":"never delivered"}`)
	r.change("DELETE", r.doc("39", ""), "") // immediately before the look

	want := map[string]report.Difference{
		"1": report.Missing, "2": report.Missing, "39": report.Missing,
		"3": report.Stale, "31": report.Stale,
		"4": report.Foreign, "30": report.Foreign, "32": report.Foreign, "33": report.Foreign, "unknown": report.Foreign, "a/b c": report.Foreign,
	}
	var told []report.VerifyFinding
	got := r.verify(verify.Options{Found: func(f report.VerifyFinding) { told = append(told, f) }})
	if !maps.Equal(problems(got.Findings), want) || len(got.Findings) != len(want) || !slices.Equal(told, got.Findings) {
		t.Errorf("found %v\ntold %v\nwant %v", got.Findings, told, want)
	}
	if got.Missing != 3 || got.Stale != 2 || got.Foreign != 6 || got.Unknown != 2 || got.Wrong() != 11 || got.UnderWay != 0 {
		t.Errorf("%+v", got)
	}
	for _, f := range got.Findings {
		if f.IndexVersion != r.inIndex(string(f.ID)) || f.Mended {
			t.Errorf("%+v, the index has version %d", f, r.inIndex(string(f.ID)))
		}
		if known := f.ID != "unknown" && f.ID != "a/b c"; known != (f.JournalVersion > 0) ||
			known && (f.JournalVersion != r.entry(string(f.ID)).Version || f.Deleted != (r.entry(string(f.ID)).Op == report.Delete)) {
			t.Errorf("%+v", f)
		}
	}

	got = r.verify(verify.Options{Repair: true})
	if !maps.Equal(problems(got.Findings), want) || got.Ordered != 11 || got.Mended != 11 || got.Wrong() != 0 || got.Kept != 0 {
		t.Errorf("repaired: %+v", got)
	}
	r.drained()
	r.sameAsJournal()
	for _, id := range []string{"3", "4"} {
		if d := r.document(report.Cities, id); d["text"] != "text" {
			t.Errorf("%s: %v", id, d)
		}
	}
	if got := r.verify(verify.Options{Repair: true}); got.Found() != 0 || got.Ordered != 0 {
		t.Errorf("once more: %+v", got)
	}
	if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 {
		t.Errorf("%d dead letters", k.DeadLetters)
	}
}

// forget removes a document such that Elasticsearch does not remember its
// version.
func (r *rig) forget(id string) {
	r.t.Helper()
	alias := "/" + r.indices.Alias(report.Cities)
	r.ask("DELETE", r.doc(id, external(r.entry(id).Version+1)), "")
	r.change("PUT", alias+"/_settings", `{"index.gc_deletes":"0ms"}`)
	r.change("POST", alias+"/_flush?force=true", "")
	r.eventually("the version of "+id+" is forgotten", func() bool {
		r.change("POST", alias+"/_refresh", "")
		status, _ := r.ask("PUT", r.doc(id, external(1)), `{}`)
		return status < 300
	})
	r.change("PUT", alias+"/_settings", `{"index.gc_deletes":"1h"}`)
}

func TestVerifyRemovesAnUnknownCityAndNotTheOneWithThatCode(t *testing.T) {
	r := start(t, quick())
	berlin := index(report.Cities, "130", `{"id":130,"code":"BER","title":"Berlin"}`)
	berlin.Code = "BER"
	r.append(berlin)
	r.append(many(report.Cities, 20, "text")...)
	r.drained()
	r.change("PUT", r.doc("BER", ""), `{"title":"never delivered"}`)
	got := r.verify(verify.Options{Repair: true})
	if got.Unknown != 1 || got.Mended != 1 {
		t.Errorf("%+v", got)
	}
	if d := r.document(report.Cities, "130"); d["title"] != "Berlin" {
		t.Errorf("Berlin: %v", d)
	}
	if v := r.inIndex("BER"); v != 0 {
		t.Errorf("the unknown document is still there, as version %d", v)
	}
}

func TestVerifyKeepsTheFirstFindingsOnly(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 60, "text")...)
	r.drained()
	for i := range 30 {
		r.change("DELETE", r.doc(fmt.Sprint(i), ""), "")
	}
	cfg := quickVerify()
	cfg.MaxFindings = 5
	told := 0
	got, err := r.verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{Found: func(report.VerifyFinding) { told++ }})
	must(t, err)
	if len(got.Findings) != 5 || got.Missing != 30 || told != 30 {
		t.Errorf("%d kept, %d missing, %d told", len(got.Findings), got.Missing, told)
	}
}

// TestRepairTellsWhatIsNotMendedYet: without a worker that sends them, documents
// are not mended, and the report says so.
func TestRepairTellsWhatIsNotMendedYet(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 40, "text")...)
	r.drained()
	r.stop()
	for _, id := range []string{"1", "2", "39"} {
		r.change("DELETE", r.doc(id, ""), "")
	}
	cfg := quickVerify()
	cfg.MendWithin = 20 * time.Millisecond
	got, err := r.verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{Repair: true})
	must(t, err)
	if got.Missing != 3 || got.Ordered != 3 || got.Mended != 0 || got.Wrong() != 3 {
		t.Errorf("%+v", got)
	}
	got = r.verify(verify.Options{})
	if got.Found() != 0 || got.UnderWay != 3 {
		t.Errorf("what is being sent again is under way: %+v", got)
	}
}

// TestRepairClaimsNothingThatItHasNotSeen: Elasticsearch refuses every version
// below one that is far ahead, so nothing can mend such a document in place.
func TestRepairClaimsNothingThatItHasNotSeen(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 20, "text")...)
	r.drained()
	r.change("PUT", r.doc("1", external(9_000_000_000_000_000_000)), `{"title":"from the future"}`)
	cfg := quickVerify()
	cfg.MendWithin = 100 * time.Millisecond
	got, err := r.verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{Repair: true, RemoveForeign: true})
	must(t, err)
	if got.Foreign != 1 || got.Ordered != 1 || got.Mended != 0 || got.Wrong() != 1 || got.Advice == "" {
		t.Errorf("%+v", got)
	}
}
