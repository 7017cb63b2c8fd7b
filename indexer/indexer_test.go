package indexer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

func TestChangesReachTheIndex(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Append(indexertest.Index(report.Cities, "130", `{"id":130,"title":"one"}`))
	r.Append(indexertest.Index(report.Advisories, "a/b c", `{"title":"two"}`), indexertest.Index(report.SpecialReports, `"\`, `{"title":"three"}`))
	r.Drained()
	if d := r.Document(report.Cities, "130"); d["title"] != "one" {
		t.Errorf("the city is %v, want the title one", d)
	}
	if d := r.Document(report.Advisories, "a/b c"); d["title"] != "two" {
		t.Errorf("the advisory is %v, want the title two", d)
	}
	if d := r.Document(report.SpecialReports, `"\`); d["title"] != "three" {
		t.Errorf("the special report is %v, want the title three", d)
	}
	r.Append(indexertest.Index(report.Cities, "130", `{"id":130,"title":"corrected"}`))
	r.Append(indexertest.Delete(report.Advisories, "a/b c"), indexertest.Delete(report.Advisories, "never seen"))
	r.Drained()
	if d := r.Document(report.Cities, "130"); d["title"] != "corrected" {
		t.Errorf("after an update the city is %v, want the title corrected", d)
	}
	if d := r.Document(report.Advisories, "a/b c"); d != nil {
		t.Errorf("after a delete the advisory is %v, want none", d)
	}
	if n := r.Stats().Kinds[report.Advisories].Settled[report.Deleted]; n != 1 {
		t.Errorf("%d deleted, want 1: the delete of an unknown document does not count", n)
	}
	if r.Metric("riskdex_elasticsearch_up") != 1 || !r.Indexer.ElasticsearchUp() {
		t.Error("Elasticsearch is not shown as up")
	}
}

func TestEveryIDThatTheReceiverAcceptsIsIndexed(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	ids := []string{
		"a/b", "..", ".", " ", "a b", "\x00", "a\nb", "\u2028", "é", "日本", "😀", `"`, `\`, "<&>", "_", "_doc", "%2F", "+", "a:b*c?",
		strings.Repeat("x", report.MaxIDBytes), strings.Repeat("é", report.MaxIDBytes/2), strings.Repeat("\x01", report.MaxIDBytes),
	}
	for _, id := range ids {
		r.Append(indexertest.Index(report.Cities, id, `{"title":"x"}`))
	}
	r.Drained()
	r.WantCities(len(ids), 0)
}

func TestWhatPassesTheReceiverPassesElasticsearch(t *testing.T) {
	t.Parallel()
	// The limits of receiver/jsonscan, at their very edge.
	r := start(t, indexertest.Quick())
	deep := strings.Repeat(`{"a":`, 998) + `"x"` + strings.Repeat("}", 998)
	r.Append(
		indexertest.Index(report.Cities, "deep", `{"d":`+deep+`}`),
		indexertest.Index(report.Cities, "deep array", strings.Repeat("[", 999)+strings.Repeat("]", 999)),
		indexertest.Index(report.Cities, "number", `{"n":1`+strings.Repeat("0", 999)+`}`),
		indexertest.Index(report.Cities, "fraction", `{"n":0.`+strings.Repeat("3", 999)+`}`),
		indexertest.Index(report.Cities, "exponent", `{"n":1e`+strings.Repeat("9", 900)+`}`),
		indexertest.Index(report.Cities, "name", `{"`+strings.Repeat("n", 50_000)+`":1}`),
		indexertest.Index(report.Cities, "names", `{"":1," ":2,".":3,"a.b":4,"..":5,"a":{"b":6}}`),
		indexertest.Index(report.Cities, "half a surrogate", `{"t":"\ud800","\udc00":1}`),
		indexertest.Index(report.Cities, "scalar", `"all is calm"`),
		indexertest.Index(report.Cities, "number alone", `1.50`),
		indexertest.Index(report.Cities, "array", `[{"a":1},{"b":"text"}]`),
		indexertest.Index(report.Cities, "text", `{"t":"`+strings.Repeat("word ", 1_000_000)+`"}`),
		indexertest.Index(report.Cities, "one word", `{"title":"`+strings.Repeat("w", 1_000_000)+`"}`),
	)
	r.Drained()
	if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 || k.Settled[report.Indexed] != 13 {
		t.Errorf("%d dead letters, %v", k.DeadLetters, k.Settled)
	}
}

func TestElasticsearchComesUpAfterRiskdex(t *testing.T) {
	t.Parallel()
	r := assemble(t, indexertest.Quick())
	r.Fail(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { panic(http.ErrAbortHandler) })
	r.Run()
	r.Append(indexertest.Many(report.Cities, 50, "text")...)
	r.Eventually("some attempts fail", func() bool { return r.Metric("riskdex_failures_total", "reason", "unreachable") > 5 })
	if r.Indexer.ElasticsearchUp() {
		t.Error("Elasticsearch is shown as up")
	}
	r.Heal()
	r.Drained()
	if n := r.Count(report.Cities); n != 50 {
		t.Errorf("%d documents of 50", n)
	}
}

func TestHotDocumentEndsNewest(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.BulkChanges = 3
	r := start(t, cfg)
	const rounds = 300
	for i := range rounds {
		r.Append(indexertest.Index(report.Cities, "hot", fmt.Sprintf(`{"n":%d}`, i)))
		if i%3 == 0 {
			r.Append(indexertest.Delete(report.Cities, "hot"))
			r.Append(indexertest.Index(report.Cities, "hot", fmt.Sprintf(`{"n":%d}`, i)))
		}
	}
	r.Drained()
	if d := r.Document(report.Cities, "hot"); d["n"] != float64(rounds-1) {
		t.Errorf("the document is %v, want the last update", d)
	}
	r.Append(indexertest.Delete(report.Cities, "hot"))
	r.Drained()
	if d := r.Document(report.Cities, "hot"); d != nil {
		t.Errorf("deleted, yet %v", d)
	}
}

func TestLostIndexComesBackComplete(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 300, "text")...)
	r.Append(indexertest.Delete(report.Cities, "7"))
	r.Drained()
	r.Change("DELETE", "/"+r.Indices.Index(report.Cities, 1), "")
	// Nothing is delivered, and yet the loss is noticed.
	r.Eventually("all are back", func() bool {
		status, _ := r.Ask("GET", "/"+r.Indices.Alias(report.Cities), "")
		return status == http.StatusOK && r.Count(report.Cities) == 299
	})
	r.Drained()
	// The next delivery finds no index: neither it nor the others are lost, and
	// Elasticsearch does not create an index by itself, not for a delete either.
	for _, c := range []report.Change{indexertest.Index(report.Cities, "new", `{"title":"new"}`), indexertest.Delete(report.Cities, "new")} {
		r.Change("DELETE", "/"+r.Indices.Index(report.Cities, 1), "")
		r.Append(c)
		r.Drained()
		want := 299
		if c.Op == report.Index {
			want = 300
		}
		r.Eventually("all are back again", func() bool { return r.Count(report.Cities) == want })
	}
	if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 {
		t.Errorf("%d dead letters", k.DeadLetters)
	}
}

func TestRestoredIndexBringsNothingBack(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Append(indexertest.Index(report.Cities, "gone", `{"title":"old"}`), indexertest.Index(report.Cities, "corrected", `{"title":"old"}`))
	r.Drained()
	r.Append(indexertest.Delete(report.Cities, "gone"), indexertest.Index(report.Cities, "corrected", `{"title":"new"}`))
	r.Drained()
	// Replace the index by what a snapshot would restore: without the alias, and as it
	// was before the delete and the correction.
	v1 := "/" + r.Indices.Index(report.Cities, 1)
	made := r.made(v1[1:])
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) { panic(http.ErrAbortHandler) })
	r.Change("DELETE", v1, "")
	r.Change("PUT", v1, made)
	for _, id := range []string{"gone", "corrected"} {
		r.Change("PUT", v1+"/_doc/"+id+"?version=1&version_type=external", `{"source":{"title":"old"}}`)
	}
	r.Heal()
	r.Eventually("the alias is back", func() bool {
		status, _ := r.Ask("GET", "/_alias/"+r.Indices.Alias(report.Cities), "")
		return status == http.StatusOK
	})
	r.Eventually("the deleted document is gone again", func() bool { return r.Document(report.Cities, "gone") == nil })
	r.Drained()
	if d := r.Document(report.Cities, "corrected"); d["title"] != "new" {
		t.Errorf("the document is %v, want the correction", d)
	}
}

func TestStoppedIndexerLeavesTheRestToTheNext(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Drained()
	r.Stop()
	r.Append(indexertest.Many(report.Cities, 10, "text")...)
	if n := r.Stats().Kinds[report.Cities].Pending; n != 10 {
		t.Errorf("%d pending, want 10", n)
	}
}
