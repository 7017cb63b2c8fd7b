package indexer_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// inDays is a version that a clock would give in so many days.
func inDays(n int) report.Version {
	return report.Version(time.Now().AddDate(0, 0, n).UnixMicro())
}

// lastVersion appends a document, and returns its version.
func (r *rig) lastVersion() report.Version {
	r.T.Helper()
	stamps, err := r.Journal.Append(r.T.Context(), report.Delivery{Changes: []report.Change{indexertest.Index(report.Advisories, "last", `{}`)}})
	require.NoError(r.T, err)
	return stamps[0].Version
}

// TestIndexAheadOfTheJournal: what the publisher sent last takes effect, whatever version
// the index has of it.
func TestIndexAheadOfTheJournal(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]indexertest.Parts{"SQLite": {}, "PostgreSQL": {Postgres: "start"}} {
		t.Run(name, func(t *testing.T) {
			if p.Postgres != "" {
				p.Postgres = postgrestest.Schema(t, postgrestest.URL(t))
			}
			r := assembleOf(t, indexertest.Quick(), p)
			r.Run()
			r.Append(indexertest.Many(report.Cities, 5, "text")...)
			r.Drained()
			if n := r.Metric("riskdex_versions_overtaken_total"); n != 0 {
				t.Fatalf("%v overtaken before anything was", n)
			}
			planted := inDays(30)
			r.Change("PUT", r.Path("1", indexertest.External(planted)), `{"source":{"text":"planted"}}`)
			r.Append(indexertest.Index(report.Cities, "1", `{"text":"corrected"}`))
			r.Drained()
			if d := r.Document(report.Cities, "1"); d["text"] != "corrected" {
				t.Errorf("after a correction the document is %v, want the text corrected", d)
			}
			if got := r.InIndex("1"); got <= planted || got != r.Entry("1").Version {
				t.Errorf("version %d in the index and %d in the journal, want above %d", got, r.Entry("1").Version, planted)
			}
			r.Append(indexertest.Delete(report.Cities, "1"))
			r.Change("PUT", r.Path("2", indexertest.External(inDays(60))), `{"source":{"text":"planted"}}`)
			r.Append(indexertest.Delete(report.Cities, "2"))
			r.Change("PUT", r.Path("new", indexertest.External(inDays(90))), `{"source":{"text":"planted"}}`)
			r.Append(indexertest.Index(report.Cities, "new", `{"text":"delivered"}`))
			r.Drained()
			if d := r.Document(report.Cities, "new"); d["text"] != "delivered" {
				t.Errorf("a new document is %v, want the text delivered", d)
			}
			r.SameAsJournal()
			if n := r.Metric("riskdex_versions_overtaken_total", "kind", "cities"); n != 3 {
				t.Errorf("%v overtaken, want 3", n)
			}
			if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 || k.Settled[report.Superseded] != 0 {
				t.Errorf("totals %+v, want no dead letter and nothing superseded", k)
			}
			if v := r.lastVersion(); v <= inDays(89) {
				t.Errorf("a later version is %d", v)
			}
			// Documents that somebody else wrote, with a version of their own in the field of ours, are
			// no evidence that this journal was set back: neither when all of an index are compared, nor
			// when one is in the way.
			for id, version := range map[string]report.Version{"mine": 1, "in days": inDays(120), "out of reach": 1 << 62} {
				for kind, received := range map[string]string{"": "", " received": `,"received_at":"2200-01-01T00:00:00Z"`, " never": `,"received_at":null`} {
					path := r.Path(id+kind, indexertest.External(version))
					r.Change("PUT", path+"&refresh", fmt.Sprintf(`{"version":%d%s}`, version, received))
				}
			}
			r.Append(indexertest.Index(report.Cities, "in days", `{"text":"delivered"}`))
			r.Drained()
			r.restart(indexertest.Quick(), nil, nil)
			r.Append(indexertest.Index(report.Cities, "mine", `{"text":"delivered"}`))
			r.Drained()
			if loss := r.Stats().Loss; loss.Lost() {
				t.Errorf("the journal is said to lack %+v", loss)
			}
		})
	}
}

// TestDeletedAheadOfTheJournal: Elasticsearch remembers the version of a delete as well.
func TestDeletedAheadOfTheJournal(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 5, "text")...)
	r.Drained()
	r.Change("DELETE", r.Path("1", indexertest.External(inDays(30))), "")
	r.Append(indexertest.Index(report.Cities, "1", `{"text":"corrected"}`))
	r.Drained()
	if d := r.Document(report.Cities, "1"); d["text"] != "corrected" {
		t.Errorf("the document is %v, want the text corrected", d)
	}
	r.SameAsJournal()
}

// TestVersionOutOfReach: a version with none above it is not followed. Only that document
// is set aside, until its index is rebuilt.
func TestVersionOutOfReach(t *testing.T) {
	t.Parallel()
	r := start(t, rebuilding())
	r.Append(indexertest.Many(report.Cities, 10, "text")...)
	r.Drained()
	for i, version := range map[string]report.Version{"1": 9_223_372_036_854_775_807, "2": 9_200_000_000_000_000_000, "3": inDays(365 * 200)} {
		r.Change("PUT", r.Path(i, indexertest.External(version)), `{"source":{"text":"planted"}}`)
	}
	r.Append(indexertest.Many(report.Cities, 10, "corrected")...)
	r.Append(indexertest.Delete(report.Cities, "2"))
	r.Drained()
	r.WantCities(10, 3)
	for _, id := range []string{"1", "2", "3"} {
		letter, err := r.Journal.DeadLetter(t.Context(), report.Key{Kind: report.Cities, ID: report.ID(id)})
		require.NoError(t, err)
		if letter.ErrorType != "version_out_of_reach" || !strings.Contains(letter.Reason, "rebuild") {
			t.Errorf("dead letter %s has %s: %s; want version_out_of_reach and advice to rebuild", id, letter.ErrorType, letter.Reason)
		}
	}
	if d := r.Document(report.Cities, "4"); d["text"] != "corrected" {
		t.Errorf("another document is %v, want the text corrected", d)
	}
	if v := r.lastVersion(); v > inDays(1) {
		t.Errorf("a later version is %d", v)
	}
	if n := r.Metric("riskdex_failures_total", "kind", "cities", "reason", "version_out_of_reach"); n < 3 {
		t.Errorf("%v failures", n)
	}

	require.NoError(t, r.Indexer.Rebuild(report.Cities))
	r.reaches(report.PhaseDone)
	letters, err := r.Journal.DeadLetters(t.Context(), report.Cities, "", 10)
	require.NoError(t, err)
	var stamps []report.Stamp
	for _, l := range letters {
		stamps = append(stamps, report.Stamp{Key: l.Key, Version: l.Version})
	}
	_, err = r.Journal.RetryDead(t.Context(), stamps)
	require.NoError(t, err)
	r.Drained()
	r.WantCities(9, 0)
	r.SameAsJournal()
}

// TestNewIndexAheadOfTheJournal: the same in the new index of a rebuild.
func TestNewIndexAheadOfTheJournal(t *testing.T) {
	t.Parallel()
	r := start(t, rebuilding())
	r.Append(indexertest.Many(report.Cities, 30, "text")...)
	r.Drained()
	next := "/" + r.Indices.Index(report.Cities, 2)
	var once sync.Once
	r.Fail(func(w http.ResponseWriter, req *http.Request, proxied http.Handler) {
		if req.URL.Path == next+"/_bulk" {
			once.Do(func() {
				r.Change("PUT", next+"/_doc/7"+indexertest.External(inDays(30)), `{"source":{"text":"planted"}}`)
				r.Append(indexertest.Index(report.Cities, "8", `{"text":"corrected"}`))
				r.Change("PUT", next+"/_doc/8"+indexertest.External(inDays(30)), `{"source":{"text":"planted"}}`)
			})
		}
		proxied.ServeHTTP(w, req)
	})
	require.NoError(t, r.Indexer.Rebuild(report.Cities))
	r.reaches(report.PhaseDone)
	r.Drained()
	for id, want := range map[string]string{"7": "text", "8": "corrected"} {
		if d := r.Document(report.Cities, id); d["text"] != want {
			t.Errorf("document %s is %v, want %q", id, d, want)
		}
	}
	r.SameAsJournal()
	if n := r.Metric("riskdex_versions_overtaken_total", "kind", "cities"); n != 2 {
		t.Errorf("%v overtaken, want 2", n)
	}
}

// TestVerifyRepairsWhatIsAheadOfTheClock: a version that no journal with a right clock
// can have written does not come from another journal.
func TestVerifyRepairsWhatIsAheadOfTheClock(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 5, "text")...)
	r.Append(indexertest.Delete(report.Cities, "4"))
	r.Drained()
	for _, id := range []string{"1", "4", "unknown"} {
		r.Change("PUT", r.Path(id, indexertest.External(inDays(30))), `{"source":{"text":"planted"}}`)
	}
	if got := r.Verify(verify.Options{}); got.Foreign != 3 || got.OtherJournal != 0 {
		t.Errorf("found %+v", got)
	}
	if got := r.Verify(verify.Options{Repair: true}); got.Repaired != 3 || got.Kept != 0 {
		t.Errorf("repaired %+v", got)
	}
	r.SameAsJournal()
}

// TestOvertakenIsLoggedRarely: thousands of documents that are ahead make one line.
func TestOvertakenIsLoggedRarely(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var mu sync.Mutex
	r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Log: slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(p)
	}), nil))})
	r.Run()
	r.Append(indexertest.Many(report.Cities, 5, "text")...)
	r.Drained()
	for _, id := range []string{"1", "2", "3"} {
		r.Change("PUT", r.Path(id, indexertest.External(inDays(30))), `{}`)
		r.Append(indexertest.Index(report.Cities, id, `{"text":"corrected"}`))
		r.Drained()
	}
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "ahead of the journal") {
		t.Errorf("%d warnings: %s", n, log.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
