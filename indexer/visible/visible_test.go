package visible_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/indexer"
	"riskdex/indexer/visible"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// rig is an indexer whose indices show changes only when the test refreshes them.
type rig struct{ *indexertest.Rig }

func start(t *testing.T, parts indexertest.Parts) *rig {
	t.Helper()
	r := &rig{indexertest.AssembleOf(t, indexertest.Quick(), parts)}
	r.Run()
	r.Eventually("every kind can be searched", func() bool {
		for _, kind := range report.Kinds() {
			if r.Visible(kind) < 0 {
				return false
			}
		}
		return true
	})
	r.Change("PUT", "/"+r.Indices.Prefix+"*/_settings?expand_wildcards=all", `{"index.refresh_interval":"-1"}`)
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if strings.HasSuffix(req.URL.Path, "/_refresh") {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, req)
	})
	return r
}

func (r *rig) waiter() *visible.Waiter {
	return visible.New(r.Journal, r.Indices.Client, r.Indices.Alias)
}

func (r *rig) append(changes ...report.Change) []report.Stamp {
	r.T.Helper()
	stamps, err := r.Journal.Append(r.T.Context(), report.Delivery{Changes: changes})
	require.NoError(r.T, err)
	return stamps
}

func (r *rig) refresh() {
	r.T.Helper()
	r.Change("POST", "/"+r.Indices.Alias(report.Cities)+"/_refresh", "")
}

// shown checks that Wait for stamps returns only after a refresh, and that searches then show
// that many documents.
func (r *rig) shown(documents int, stamps []report.Stamp) {
	r.T.Helper()
	before := r.Visible(report.Cities)
	done := make(chan int)
	go func() { done <- r.waiter().Wait(r.T.Context(), report.Cities, stamps) }()
	r.Drained(report.Cities)
	select {
	case n := <-done:
		r.T.Fatalf("Wait returned %d of %d before the refresh, when searches showed %d documents", n, len(stamps), before)
	case <-time.After(50 * time.Millisecond): // several rounds
	}
	r.refresh()
	if n := <-done; n != len(stamps) {
		r.T.Errorf("after the refresh Wait returned %d, want %d", n, len(stamps))
	}
	if n := r.Visible(report.Cities); n != documents {
		r.T.Errorf("when Wait returned, searches showed %d documents, want %d", n, documents)
	}
}

// TestWaitEndsWithTheRefresh waits for documents that are new, corrected and deleted, and for many
// at once, with both journal engines.
func TestWaitEndsWithTheRefresh(t *testing.T) {
	for _, engine := range []string{"SQLite", "PostgreSQL"} {
		t.Run(engine, func(t *testing.T) {
			parts := indexertest.Parts{}
			if engine == "PostgreSQL" {
				parts.Postgres = postgrestest.URL(t)
			}
			r := start(t, parts)
			first := r.append(indexertest.Index(report.Cities, "1", `{"id":1}`), indexertest.Index(report.Cities, "2", `{"id":2}`))
			r.shown(2, first)
			r.shown(2, r.append(indexertest.Index(report.Cities, "1", `{"id":1,"title":"corrected"}`)))
			if n := r.waiter().Wait(t.Context(), report.Cities, first); n != 2 {
				t.Errorf("for two shown documents, one of them newer by now, Wait returned %d, want 2", n)
			}
			deleted := r.append(indexertest.Delete(report.Cities, "1"), indexertest.Delete(report.Cities, "2"))
			again := r.append(indexertest.Delete(report.Cities, "1"), indexertest.Delete(report.Cities, "2"), indexertest.Delete(report.Cities, "never"))
			if again[0].Effect != report.Unknown {
				t.Fatalf("the second deletes are stamped %+v", again)
			}
			r.shown(0, append(deleted, again...))
			if n := r.waiter().Wait(t.Context(), report.Cities, first); n != 2 {
				t.Errorf("for two documents that were shown and then deleted, Wait returned %d, want 2", n)
			}
			var many []report.Change
			for i := range 2500 { // three batches
				many = append(many, indexertest.Index(report.Cities, fmt.Sprint(i), `{"title":"x"}`))
			}
			r.shown(2500, r.append(many...))
		})
	}
}

// TestWaitDoesNotWaitForDeadLetters: of two documents one is a dead letter, so Wait returns.
func TestWaitDoesNotWaitForDeadLetters(t *testing.T) {
	r := &rig{indexertest.Assemble(t, indexer.DefaultConfig())} // not running: the test settles
	stamps := r.append(indexertest.Index(report.Cities, "1", `{"id":1}`), indexertest.Index(report.Cities, "2", `{"id":2}`))
	claimed, err := r.Journal.Claim(t.Context(), report.Cities, 10, 1<<20)
	require.NoError(t, err)
	if len(claimed) != 2 {
		t.Fatalf("claimed %d changes, want 2", len(claimed))
	}
	r.Change("PUT", r.Path("2", indexertest.External(claimed[1].Version)+"&refresh=true"), `{"title":"2"}`)
	require.NoError(t, r.Journal.Settle(t.Context(), []report.Settlement{
		{Key: claimed[0].Key, Version: claimed[0].Version, Outcome: report.Dead, ErrorType: "x", Reason: "a test"},
		{Key: claimed[1].Key, Version: claimed[1].Version, Outcome: report.Indexed},
	}))
	if n := r.waiter().Wait(t.Context(), report.Cities, stamps); n != 1 {
		t.Errorf("for one shown document and one dead letter, Wait returned %d, want 1", n)
	}
}

// TestWaitOutlastsAnOutage: while Elasticsearch is away nothing counts as shown, and Wait goes on
// until Elasticsearch is back.
func TestWaitOutlastsAnOutage(t *testing.T) {
	r := start(t, indexertest.Parts{})
	r.Fail(indexertest.AnswerWith(http.StatusServiceUnavailable, "away"))
	stamps := r.append(indexertest.Index(report.Cities, "1", `{"id":1}`))
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if n := r.waiter().Wait(short, report.Cities, stamps); n != 0 || short.Err() == nil {
		t.Errorf("during the outage Wait returned %d (context: %v), want 0 after its deadline", n, short.Err())
	}
	done := make(chan int)
	go func() { done <- r.waiter().Wait(t.Context(), report.Cities, stamps) }()
	r.Heal()
	if n := <-done; n != 1 || r.Visible(report.Cities) != 1 {
		t.Errorf("after the outage Wait returned %d, and searches show %d; want 1 and 1", n, r.Visible(report.Cities))
	}
}
