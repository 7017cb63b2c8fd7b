package indexer_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/internal/postgres/postgrestest"
	"riskdex/report"
)

// inDays is a version that a clock would give out in so many days.
func inDays(n int) report.Version {
	return report.Version(time.Now().AddDate(0, 0, n).UnixMicro())
}

// lastVersion gives a document out that shows where the versions of the journal are.
func (r *rig) lastVersion() report.Version {
	r.t.Helper()
	stamps, err := r.journal.Append(r.t.Context(), report.Delivery{Changes: []report.Change{index(report.Advisories, "last", `{}`)}})
	must(r.t, err)
	return stamps[0].Version
}

// TestIndexAheadOfTheJournal: what the publisher sent last takes effect, whatever
// version the index has of it.
func TestIndexAheadOfTheJournal(t *testing.T) {
	for name, p := range map[string]parts{"SQLite": {}, "PostgreSQL": {postgres: "start"}} {
		t.Run(name, func(t *testing.T) {
			if p.postgres != "" {
				p.postgres = postgrestest.Schema(t, postgrestest.URL(t))
			}
			r := assembleOf(t, quick(), p)
			r.run()
			r.append(many(report.Cities, 5, "text")...)
			r.drained()
			if n := r.metric("riskdex_versions_overtaken_total"); n != 0 {
				t.Fatalf("%v overtaken before anything was", n)
			}
			planted := inDays(30)
			r.change("PUT", r.doc("1", external(planted)), `{"source":{"text":"planted"}}`)
			r.append(index(report.Cities, "1", `{"text":"corrected"}`))
			r.drained()
			if d := r.document(report.Cities, "1"); d["text"] != "corrected" {
				t.Errorf("after a correction: %v", d)
			}
			if got := r.inIndex("1"); got <= planted || got != r.entry("1").Version {
				t.Errorf("version %d in the index and %d in the journal, want above %d", got, r.entry("1").Version, planted)
			}
			r.append(remove(report.Cities, "1"))
			r.change("PUT", r.doc("2", external(inDays(60))), `{"source":{"text":"planted"}}`)
			r.append(remove(report.Cities, "2"))
			r.change("PUT", r.doc("new", external(inDays(90))), `{"source":{"text":"planted"}}`)
			r.append(index(report.Cities, "new", `{"text":"delivered"}`))
			r.drained()
			if d := r.document(report.Cities, "new"); d["text"] != "delivered" {
				t.Errorf("a new one: %v", d)
			}
			r.sameAsJournal()
			if n := r.metric("riskdex_versions_overtaken_total", "kind", "cities"); n != 3 {
				t.Errorf("%v overtaken, want 3", n)
			}
			if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 || k.Settled[report.Superseded] != 0 {
				t.Errorf("%+v", k)
			}
			if v := r.lastVersion(); v <= inDays(89) {
				t.Errorf("a later version is %d", v)
			}
		})
	}
}

// TestDeletedAheadOfTheJournal: Elasticsearch remembers the version of a delete, too.
func TestDeletedAheadOfTheJournal(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 5, "text")...)
	r.drained()
	r.change("DELETE", r.doc("1", external(inDays(30))), "")
	r.append(index(report.Cities, "1", `{"text":"corrected"}`))
	r.drained()
	if d := r.document(report.Cities, "1"); d["text"] != "corrected" {
		t.Errorf("%v", d)
	}
	r.sameAsJournal()
}

// TestVersionOutOfReach: a version that leaves none above it is not followed. The
// document is set aside, alone, until its index is made anew.
func TestVersionOutOfReach(t *testing.T) {
	r := start(t, rebuilding())
	r.append(many(report.Cities, 10, "text")...)
	r.drained()
	for i, version := range map[string]report.Version{"1": 9_223_372_036_854_775_807, "2": 9_200_000_000_000_000_000, "3": inDays(365 * 200)} {
		r.change("PUT", r.doc(i, external(version)), `{"source":{"text":"planted"}}`)
	}
	r.append(many(report.Cities, 10, "corrected")...)
	r.append(remove(report.Cities, "2"))
	r.drained()
	r.cities(10, 3)
	for _, id := range []string{"1", "2", "3"} {
		letter, err := r.journal.DeadLetter(t.Context(), report.Key{Kind: report.Cities, ID: report.ID(id)})
		must(t, err)
		if letter.ErrorType != "version_out_of_reach" || !strings.Contains(letter.Reason, "rebuild") {
			t.Errorf("%s: %s: %s", id, letter.ErrorType, letter.Reason)
		}
	}
	if d := r.document(report.Cities, "4"); d["text"] != "corrected" {
		t.Errorf("a neighbour: %v", d)
	}
	if v := r.lastVersion(); v > inDays(1) {
		t.Errorf("a later version is %d", v)
	}
	if n := r.metric("riskdex_failures_total", "kind", "cities", "reason", "version_out_of_reach"); n < 3 {
		t.Errorf("%v failures", n)
	}

	must(t, r.indexer.Rebuild(report.Cities))
	r.reaches(report.PhaseDone)
	letters, err := r.journal.DeadLetters(t.Context(), report.Cities, "", 10)
	must(t, err)
	var stamps []report.Stamp
	for _, l := range letters {
		stamps = append(stamps, report.Stamp{Key: l.Key, Version: l.Version})
	}
	_, err = r.journal.RetryDead(t.Context(), stamps)
	must(t, err)
	r.drained()
	r.cities(9, 0)
	r.sameAsJournal()
}

// TestNewIndexAheadOfTheJournal: the index of a rebuild is looked at as well.
func TestNewIndexAheadOfTheJournal(t *testing.T) {
	r := start(t, rebuilding())
	r.append(many(report.Cities, 30, "text")...)
	r.drained()
	next := "/" + r.indices.Index(report.Cities, 2)
	var once sync.Once
	r.fail(func(w http.ResponseWriter, req *http.Request, proxied http.Handler) {
		if req.URL.Path == next+"/_bulk" {
			once.Do(func() {
				r.change("PUT", next+"/_doc/7"+external(inDays(30)), `{"source":{"text":"planted"}}`)
				r.append(index(report.Cities, "8", `{"text":"corrected"}`))
				r.change("PUT", next+"/_doc/8"+external(inDays(30)), `{"source":{"text":"planted"}}`)
			})
		}
		proxied.ServeHTTP(w, req)
	})
	must(t, r.indexer.Rebuild(report.Cities))
	r.reaches(report.PhaseDone)
	r.drained()
	for id, want := range map[string]string{"7": "text", "8": "corrected"} {
		if d := r.document(report.Cities, id); d["text"] != want {
			t.Errorf("%s: %v", id, d)
		}
	}
	r.sameAsJournal()
	if n := r.metric("riskdex_versions_overtaken_total", "kind", "cities"); n != 2 {
		t.Errorf("%v overtaken, want 2", n)
	}
}

// TestVerifyMendsWhatIsAheadOfTheClock: what no journal with a right clock can have
// written is no other journal's.
func TestVerifyMendsWhatIsAheadOfTheClock(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 5, "text")...)
	r.append(remove(report.Cities, "4"))
	r.drained()
	for _, id := range []string{"1", "4", "unknown"} {
		r.change("PUT", r.doc(id, external(inDays(30))), `{"source":{"text":"planted"}}`)
	}
	if got := r.verify(verify.Options{}); got.Foreign != 3 || got.OtherJournal != 0 {
		t.Errorf("found %+v", got)
	}
	if got := r.verify(verify.Options{Repair: true}); got.Mended != 3 || got.Kept != 0 {
		t.Errorf("repaired %+v", got)
	}
	r.sameAsJournal()
}

// TestOvertakenIsSaidSeldom: thousands of documents that are ahead are one line.
func TestOvertakenIsSaidSeldom(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	r := assembleOf(t, quick(), parts{log: slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(p)
	}), nil))})
	r.run()
	r.append(many(report.Cities, 5, "text")...)
	r.drained()
	for _, id := range []string{"1", "2", "3"} {
		r.change("PUT", r.doc(id, external(inDays(30))), `{}`)
		r.append(index(report.Cities, id, `{"text":"corrected"}`))
		r.drained()
	}
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "ahead of the journal") {
		t.Errorf("%d warnings: %s", n, log.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
