package indexer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"riskdex/report"
)

func TestChangesReachTheIndex(t *testing.T) {
	r := start(t, quick())
	r.append(index(report.Cities, "130", `{"id":130,"title":"one"}`))
	r.append(index(report.Advisories, "a/b c", `{"title":"two"}`), index(report.SpecialReports, `"\`, `{"title":"three"}`))
	r.drained()
	if d := r.document(report.Cities, "130"); d["title"] != "one" {
		t.Errorf("%v", d)
	}
	if d := r.document(report.Advisories, "a/b c"); d["title"] != "two" {
		t.Errorf("%v", d)
	}
	if d := r.document(report.SpecialReports, `"\`); d["title"] != "three" {
		t.Errorf("%v", d)
	}
	r.append(index(report.Cities, "130", `{"id":130,"title":"corrected"}`))
	r.append(remove(report.Advisories, "a/b c"), remove(report.Advisories, "never seen"))
	r.drained()
	if d := r.document(report.Cities, "130"); d["title"] != "corrected" {
		t.Errorf("after an update: %v", d)
	}
	if d := r.document(report.Advisories, "a/b c"); d != nil {
		t.Errorf("after a delete: %v", d)
	}
	if n := r.stats().Kinds[report.Advisories].Settled[report.Deleted]; n != 1 {
		t.Errorf("%d deleted, want 1: a delete of what was never there is none", n)
	}
	if r.metric("riskdex_elasticsearch_up") != 1 || !r.indexer.ElasticsearchUp() {
		t.Error("Elasticsearch is not shown as up")
	}
}

func TestEveryIDThatTheDoorLetsInIsTaken(t *testing.T) {
	r := start(t, quick())
	ids := []string{
		"a/b", "..", ".", " ", "a b", "\x00", "a\nb", "\u2028", "é", "日本", "😀", `"`, `\`, "<&>", "_", "_doc", "%2F", "+", "a:b*c?",
		strings.Repeat("x", report.MaxIDBytes), strings.Repeat("é", report.MaxIDBytes/2), strings.Repeat("\x01", report.MaxIDBytes),
	}
	for _, id := range ids {
		r.append(index(report.Cities, id, `{"title":"x"}`))
	}
	r.drained()
	r.cities(len(ids), 0)
}

func TestWhatPassesTheReceiverPassesElasticsearch(t *testing.T) {
	// The limits of receiver/jsonscan, at their very edge.
	r := start(t, quick())
	deep := strings.Repeat(`{"a":`, 998) + `"x"` + strings.Repeat("}", 998)
	r.append(
		index(report.Cities, "deep", `{"d":`+deep+`}`),
		index(report.Cities, "deep array", strings.Repeat("[", 999)+strings.Repeat("]", 999)),
		index(report.Cities, "number", `{"n":1`+strings.Repeat("0", 999)+`}`),
		index(report.Cities, "fraction", `{"n":0.`+strings.Repeat("3", 999)+`}`),
		index(report.Cities, "exponent", `{"n":1e`+strings.Repeat("9", 900)+`}`),
		index(report.Cities, "name", `{"`+strings.Repeat("n", 50_000)+`":1}`),
		index(report.Cities, "names", `{"":1," ":2,".":3,"a.b":4,"..":5,"a":{"b":6}}`),
		index(report.Cities, "half a surrogate", `{"t":"\ud800","\udc00":1}`),
		index(report.Cities, "scalar", `"all is calm"`),
		index(report.Cities, "number alone", `1.50`),
		index(report.Cities, "array", `[{"a":1},{"b":"text"}]`),
		index(report.Cities, "text", `{"t":"`+strings.Repeat("word ", 1_000_000)+`"}`),
		index(report.Cities, "one word", `{"title":"`+strings.Repeat("w", 1_000_000)+`"}`),
	)
	r.drained()
	if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 || k.Settled[report.Indexed] != 13 {
		t.Errorf("%d dead letters, %v", k.DeadLetters, k.Settled)
	}
}

func TestElasticsearchComesUpAfterRiskdex(t *testing.T) {
	r := assemble(t, quick())
	r.fail(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { panic(http.ErrAbortHandler) })
	r.run()
	r.append(many(report.Cities, 50, "text")...)
	r.eventually("some attempts fail", func() bool { return r.metric("riskdex_failures_total", "reason", "unreachable") > 5 })
	if r.indexer.ElasticsearchUp() {
		t.Error("Elasticsearch is shown as up")
	}
	r.heal()
	r.drained()
	if n := r.count(report.Cities); n != 50 {
		t.Errorf("%d documents of 50", n)
	}
}

func TestHotDocumentEndsNewest(t *testing.T) {
	cfg := quick()
	cfg.BulkChanges = 3
	r := start(t, cfg)
	const rounds = 300
	for i := range rounds {
		r.append(index(report.Cities, "hot", fmt.Sprintf(`{"n":%d}`, i)))
		if i%3 == 0 {
			r.append(remove(report.Cities, "hot"))
			r.append(index(report.Cities, "hot", fmt.Sprintf(`{"n":%d}`, i)))
		}
	}
	r.drained()
	if d := r.document(report.Cities, "hot"); d["n"] != float64(rounds-1) {
		t.Errorf("%v", d)
	}
	r.append(remove(report.Cities, "hot"))
	r.drained()
	if d := r.document(report.Cities, "hot"); d != nil {
		t.Errorf("deleted, yet %v", d)
	}
}

func TestLostIndexComesBackComplete(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 300, "text")...)
	r.append(remove(report.Cities, "7"))
	r.drained()
	r.change("DELETE", "/"+r.indices.Index(report.Cities, 1), "")
	// Nothing is delivered: it is noticed all the same.
	r.eventually("all are back", func() bool {
		status, _ := r.ask("GET", "/"+r.indices.Alias(report.Cities), "")
		return status == http.StatusOK && r.count(report.Cities) == 299
	})
	r.drained()
	// The next delivery meets a missing index: neither it nor the others are
	// lost, and no index is guessed, not by a delete either.
	for _, c := range []report.Change{index(report.Cities, "new", `{"title":"new"}`), remove(report.Cities, "new")} {
		r.change("DELETE", "/"+r.indices.Index(report.Cities, 1), "")
		r.append(c)
		r.drained()
		want := 299
		if c.Op == report.Index {
			want = 300
		}
		r.eventually("all are back again", func() bool { return r.count(report.Cities) == want })
	}
	if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 {
		t.Errorf("%d dead letters", k.DeadLetters)
	}
}

func TestIndexFromThePastBringsNothingBack(t *testing.T) {
	r := start(t, quick())
	r.append(index(report.Cities, "gone", `{"title":"old"}`), index(report.Cities, "corrected", `{"title":"old"}`))
	r.drained()
	r.append(remove(report.Cities, "gone"), index(report.Cities, "corrected", `{"title":"new"}`))
	r.drained()
	// The index is replaced by what a snapshot would restore: without the alias,
	// and as it was before the delete and the correction.
	v1 := "/" + r.indices.Index(report.Cities, 1)
	_, state := r.ask("GET", v1, "")
	mapping, err := json.Marshal(state[v1[1:]].(map[string]any)["mappings"])
	must(t, err)
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) { panic(http.ErrAbortHandler) })
	r.change("DELETE", v1, "")
	r.change("PUT", v1, `{"mappings":`+string(mapping)+`}`)
	for _, id := range []string{"gone", "corrected"} {
		r.change("PUT", v1+"/_doc/"+id+"?version=1&version_type=external", `{"source":{"title":"old"}}`)
	}
	r.heal()
	r.eventually("the alias is back", func() bool {
		status, _ := r.ask("GET", "/_alias/"+r.indices.Alias(report.Cities), "")
		return status == http.StatusOK
	})
	r.eventually("the deleted document is gone again", func() bool { return r.document(report.Cities, "gone") == nil })
	r.drained()
	if d := r.document(report.Cities, "corrected"); d["title"] != "new" {
		t.Errorf("%v", d)
	}
}

func TestStoppedIndexerLeavesTheRestToTheNext(t *testing.T) {
	r := start(t, quick())
	r.drained()
	r.stop()
	r.append(many(report.Cities, 10, "text")...)
	if n := r.stats().Kinds[report.Cities].Pending; n != 10 {
		t.Errorf("%d pending, want 10", n)
	}
}
