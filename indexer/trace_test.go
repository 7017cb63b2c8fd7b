package indexer_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// traced makes a rig that keeps its spans, which are complete once it has stopped.
func traced(t *testing.T) (*rig, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	cfg := indexertest.Quick()
	cfg.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)).Tracer("riskdex")
	return assemble(t, cfg), spans
}

// delivery is the traceparent of the nth delivery.
func delivery(n int) string { return fmt.Sprintf("00-%032x-%016x-01", n, n) }

func from(trace string, c report.Change) report.Change {
	c.Trace = trace
	return c
}

// isFrom reports whether a span belongs to the nth delivery.
func isFrom(n int, c trace.SpanContext) bool {
	return delivery(n) == fmt.Sprintf("00-%s-%s-01", c.TraceID(), c.SpanID())
}

func linked(s tracetest.SpanStub, to trace.SpanContext) bool {
	return slices.ContainsFunc(s.Links, func(l sdktrace.Link) bool { return l.SpanContext.SpanID() == to.SpanID() })
}

func named(spans tracetest.SpanStubs, prefix string) (some tracetest.SpanStubs) {
	for _, s := range spans {
		if strings.HasPrefix(s.Name, prefix) {
			some = append(some, s)
		}
	}
	return some
}

func attribute(s tracetest.SpanStub, key string) string {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

func TestDeliveriesAndTheirBulkAreLinked(t *testing.T) {
	t.Parallel()
	r, exporter := traced(t)
	r.Append(indexertest.Index(report.Cities, "4", `{"id":4}`)) // so that there is something to delete
	there, err := r.Journal.Claim(t.Context(), report.Cities, 1, 1<<20)
	require.NoError(t, err)
	require.NoError(t, r.Journal.Settle(t.Context(), []report.Settlement{{Key: there[0].Key, Version: there[0].Version, Outcome: report.Indexed}}))
	r.Append(
		from(delivery(1), indexertest.Index(report.Cities, "1", `{"id":1}`)), from(delivery(1), indexertest.Index(report.Cities, "2", `{"id":2}`)),
		indexertest.Index(report.Cities, "3", `{"id":3}`), from(delivery(2), indexertest.Delete(report.Cities, "4")),
		indexertest.Index(report.Advisories, "1", `{"id":1}`),
	)
	waiting, err := r.Journal.Claim(t.Context(), report.Cities, 100, 1<<20)
	require.NoError(t, err)
	for _, c := range waiting {
		require.NoError(t, r.Journal.Settle(t.Context(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: report.Retry}}))
	}
	r.Run()
	r.Drained()
	r.Stop()
	spans := exporter.GetSpans()
	bulks, settled := named(spans, "bulk "), named(spans, "settle ")
	if len(bulks) != 1 || len(settled) != 3 || len(spans) != 4 {
		t.Fatalf("%d bulks and %d settlements in %d spans", len(bulks), len(settled), len(spans))
	}
	bulk := bulks[0]
	if len(bulk.Links) != 2 || !isFrom(1, bulk.Links[0].SpanContext) || !isFrom(2, bulk.Links[1].SpanContext) || !isFrom(1, bulk.Parent) {
		t.Errorf("the bulk is under %v and has the links %v", bulk.Parent, bulk.Links)
	}
	if got := attribute(bulk, "riskdex.changes") + attribute(bulk, "db.system.name"); got != "4elasticsearch" || bulk.SpanKind != trace.SpanKindClient || bulk.Status.Code != codes.Unset {
		t.Errorf("the bulk is %+v", bulk)
	}
	for _, c := range waiting {
		i := slices.IndexFunc(settled, func(s tracetest.SpanStub) bool { return attribute(s, "riskdex.id") == string(c.ID) })
		if (i < 0) != (c.Trace == "") {
			t.Fatalf("%q of the trace %q has the span %d", c.ID, c.Trace, i)
		}
		if i < 0 {
			continue
		}
		s, n, outcome := settled[i], 1, "indexed"
		if c.ID == "4" {
			n, outcome = 2, "deleted"
		}
		if !isFrom(n, s.Parent) || len(s.Links) != 1 || !linked(s, bulk.SpanContext) || !s.StartTime.Equal(c.AcceptedAt) || s.EndTime.Before(bulk.EndTime) {
			t.Errorf("%q: under %v, linked to %v, from %v to %v", c.ID, s.Parent, s.Links, s.StartTime, s.EndTime)
		}
		if got := attribute(s, "riskdex.outcome"); got != outcome || attribute(s, "riskdex.version") != fmt.Sprint(int64(c.Version)) {
			t.Errorf("the span of %q has %v, want the outcome and the version of its settlement", c.ID, s.Attributes)
		}
	}
}

// Every attempt is a bulk with a span of its own; the end comes once, after the last.
func TestRetriedBulksAreSpans(t *testing.T) {
	t.Parallel()
	r, exporter := traced(t)
	fails := 3
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) && fails > 0 {
			fails--
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, req)
	})
	r.Append(from(delivery(1), indexertest.Index(report.Cities, "1", `{"id":1}`)))
	r.Run()
	r.Drained()
	r.Stop()
	bulks, settled := named(exporter.GetSpans(), "bulk "), named(exporter.GetSpans(), "settle ")
	if len(bulks) != 4 || len(settled) != 1 {
		t.Fatalf("%d bulks and %d settlements", len(bulks), len(settled))
	}
	for i, b := range bulks {
		if failed := b.Status.Code == codes.Error; failed != (i < 3) || failed && attribute(b, "error.type") == "" || !isFrom(1, b.Parent) {
			t.Errorf("bulk %d: %+v", i, b)
		}
	}
	if s := settled[0]; len(s.Links) != 1 || !linked(s, bulks[3].SpanContext) {
		t.Errorf("the settlement is linked to %v, want the last bulk", s.Links)
	}
}

// A bulk that is sent in halves has several spans, and each change is linked to all that
// carried it.
func TestHalvedBulksAreSpans(t *testing.T) {
	t.Parallel()
	r, exporter := traced(t)
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) && req.ContentLength > 3500 {
			http.Error(w, "{}", http.StatusRequestEntityTooLarge)
			return
		}
		next.ServeHTTP(w, req)
	})
	text := strings.Repeat("x", 1000)
	r.Append(from(delivery(1), indexertest.Index(report.Cities, "1", `{"id":1,"body":"`+text+`"}`)), from(delivery(2), indexertest.Index(report.Cities, "2", `{"id":2,"body":"`+text+`"}`)),
		from(delivery(3), indexertest.Index(report.Cities, "3", `{"id":3,"body":"`+text+`"}`)))
	r.Run()
	r.Drained()
	r.Stop()
	bulks, settled := named(exporter.GetSpans(), "bulk "), named(exporter.GetSpans(), "settle ")
	if len(bulks) < 3 || len(settled) != 3 {
		t.Fatalf("%d bulks and %d settlements", len(bulks), len(settled))
	}
	for _, s := range settled {
		if len(s.Links) < 2 || attribute(s, "riskdex.outcome") != "indexed" {
			t.Errorf("%s: outcome %s, links %v", attribute(s, "riskdex.id"), attribute(s, "riskdex.outcome"), s.Links)
		}
		for _, l := range s.Links {
			n := 0
			for _, b := range bulks {
				if b.SpanContext.SpanID() == l.SpanContext.SpanID() && linked(b, s.Parent) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: the link %v leads to %d bulks that have one back", attribute(s, "riskdex.id"), l, n)
			}
		}
	}
}

func TestLinksOfABulkAreBounded(t *testing.T) {
	t.Parallel()
	r, exporter := traced(t)
	var changes []report.Change
	for i, c := range indexertest.Many(report.Cities, 300, "x") {
		changes = append(changes, from(delivery(i+1), c))
	}
	r.Append(changes...)
	r.Run()
	r.Drained()
	r.Stop()
	bulks, settled := named(exporter.GetSpans(), "bulk "), named(exporter.GetSpans(), "settle ")
	if len(settled) != 300 {
		t.Errorf("%d settlements of 300", len(settled))
	}
	most := 0
	for _, b := range bulks {
		most = max(most, len(b.Links)+b.DroppedLinks)
	}
	if most != 128 {
		t.Errorf("a bulk has %d links", most)
	}
}

// What is not recorded, and what is not a trace, costs no span and delays nothing.
func TestNothingIsTracedThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	r, exporter := traced(t)
	unsampled := delivery(1)[:53] + "00"
	r.Append(from(unsampled, indexertest.Index(report.Cities, "1", `{"id":1}`)), from("nonsense", indexertest.Index(report.Cities, "2", `{"id":2}`)))
	r.Run()
	r.Drained()
	r.Stop()
	if spans := exporter.GetSpans(); len(spans) != 0 || r.Count(report.Cities) != 2 {
		t.Errorf("%d spans, %d documents", len(spans), r.Count(report.Cities))
	}
}
