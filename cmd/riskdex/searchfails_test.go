package main

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/mappings"
	"riskdex/report"
	"riskdex/search"
)

// TestDocumentsTellAppsToAskWhatRiskdexAsks compares the addresses that apps are told.
func TestDocumentsTellAppsToAskWhatRiskdexAsks(t *testing.T) {
	path := search.Path("cities", "advisories", "special-reports")
	if !strings.Contains(readme(t), `"$ELASTICSEARCH_URL`+path+"&filter_path=") {
		t.Errorf("README.md has no request to %s", path)
	}
	if !strings.Contains(documents(t)["../../docs/search.md"], "`"+path+"`") {
		t.Errorf("docs/search.md does not send apps to %s", path)
	}
}

// asApp searches as the documents tell apps to.
func (p *process) asApp(words string) (status int, answer string) {
	p.t.Helper()
	set, err := mappings.Builtin()
	require.NoError(p.t, err)
	body, err := set.SearchBody(words, search.Query{})
	require.NoError(p.t, err)
	path := search.Path(p.prefix+"cities", p.prefix+"advisories", p.prefix+"special-reports")
	res, err := http.Post(p.elasticsearch+path, "application/json", bytes.NewReader(body))
	require.NoError(p.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	return res.StatusCode, string(text)
}

func (p *process) status() (st admin.Status) {
	p.t.Helper()
	require.NoError(p.t, json.Unmarshal([]byte(p.command("", "status", "--json").out), &st))
	return st
}

// says waits until status shows a trouble, and returns it.
func (p *process) says(what string) (found admin.Trouble) {
	p.t.Helper()
	eventually(p.t, "status says "+what, func() bool {
		all := p.status().Troubles
		i := slices.IndexFunc(all, func(t admin.Trouble) bool { return t.What == what })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// TestClosedIndexFailsTheSearchOfAll: apps and riskdex search get the same error, and
// nothing says that all is well or that there are no documents.
func TestClosedIndexFailsTheSearchOfAll(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "100ms")
	p.start()
	p.send("POST", "/cities", `[{"id":1,"title":"Sydney"}]`)
	p.send("POST", "/advisories", `[{"id":2,"title":"Protests in Sydney"}]`)
	p.indicesReady()
	p.drained()
	eventually(t, "both are found", func() bool { return len(p.search("sydney")) == 2 })
	if status, answer := p.asApp("sydney"); status != http.StatusOK {
		t.Fatalf("an app gets %d: %s", status, answer)
	}
	eventually(t, "all is well", func() bool { return p.status().Well && p.metrics()["riskdex_search_failing_seconds"] == 0 })

	p.ask("POST", "/"+p.prefix+"cities-v1/_close", "", nil)
	if status, answer := p.asApp("sydney"); status != http.StatusBadRequest || !strings.Contains(answer, "index_closed_exception") {
		t.Errorf("an app gets %d: %s", status, answer)
	}
	searched := p.command("", "search", "--elasticsearch-url", p.elasticsearch, "--index-prefix", p.prefix, "sydney")
	if searched.status != exitFailed || !strings.Contains(searched.errs, "index_closed_exception") || !strings.Contains(searched.errs, "an app that searches gets the same answer") {
		t.Errorf("riskdex search: %+v", searched)
	}
	trouble := p.says(admin.TroubleSearch)
	if trouble.Severity != admin.Critical || !strings.Contains(trouble.Detail, "index_closed_exception") || !strings.Contains(trouble.Remedy, "/"+p.prefix+"cities-v1/_open") {
		t.Errorf("the trouble is %+v, want a critical one with index_closed_exception that says to open it", trouble)
	}
	if p.metrics()["riskdex_search_failing_seconds"] == 0 {
		t.Error("the metric shows that search is answered")
	}
	if held := p.says(admin.TroubleHeld); held.Kind != report.Cities || !strings.Contains(held.Remedy, "_open") {
		t.Errorf("the trouble is %+v, want one that says to open the index", held)
	}
	st := p.status()
	if st.Kinds[0].Kind != report.Cities || st.Kinds[0].Documents != nil || st.SearchFails == nil {
		t.Errorf("the status is %+v, want a failing search and no number of cities", st)
	}
	p.expect(exitNegative, "", words("status"), "Search fails for apps", "not known")
	if page := p.page("/"); !strings.Contains(page, "Search fails for apps") {
		t.Errorf("the page does not show the failing search: %s", page)
	}
	p.ask("POST", "/"+p.prefix+"cities-v1/_open", "", nil)
	eventually(t, "all is well again", func() bool { return p.status().Well && len(p.search("sydney")) == 2 })
	if log := p.log.String(); !strings.Contains(log, "search fails for apps") || !strings.Contains(log, "search answers apps again") {
		t.Error("the log does not mention the failing search")
	}
}

// TestLostAliasIsReportedAndRestored: until riskdex has restored the alias, status does not say
// that all is well.
func TestLostAliasIsReportedAndRestored(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "100ms")
	p.start()
	p.send("POST", "/advisories", `[{"id":2,"title":"Protests in Sydney"}]`)
	p.indicesReady()
	p.drained()
	eventually(t, "all is well", func() bool { return p.status().Well && len(p.search("sydney")) == 1 })
	p.ask("DELETE", "/"+p.prefix+"cities-v1/_alias/"+p.prefix+"cities", "", nil)
	if status, answer := p.asApp("sydney"); status != http.StatusNotFound {
		t.Errorf("an app gets %d: %s", status, answer)
	}
	eventually(t, "the metric says so", func() bool { return p.metrics()["riskdex_search_failing_seconds"] > 0 })
	eventually(t, "it recovers by itself", func() bool { return p.status().Well && p.metrics()["riskdex_search_failing_seconds"] == 0 })
	if status, answer := p.asApp("sydney"); status != http.StatusOK {
		t.Errorf("an app gets %d: %s", status, answer)
	}
}

// TestARefusedSearchIsToldWithItsReason: the cluster refuses expensive queries, which the bodies need. A
// completion fails alike.
func TestARefusedSearchIsToldWithItsReason(t *testing.T) {
	server := elastictest.Start(t, elasticserver.Options{})
	p := newSearched(t, elastictest.URL(t), "--probe-every", "100ms")
	p.elasticsearch, p.prefix = server.URL(), "mine-"
	p.start()
	p.indicesReady()
	p.check().says(t, exitDone, "fine the searches of apps are answered by mine-cities, mine-advisories, mine-special-reports")

	const reason, remedy = "'search.allow_expensive_queries' is set to false", "If it names a setting of Elasticsearch, change that"
	allow := func(is string) {
		t.Helper()
		p.ask("PUT", "/_cluster/settings", `{"persistent":{"search.allow_expensive_queries":`+is+`}}`, nil)
	}
	allow("false")
	checked := p.check()
	checked.says(t, exitNegative, "wrong searches of apps fail: with search.json: ")
	searched := p.command("", "search", "--elasticsearch-url", p.elasticsearch, "--index-prefix", p.prefix, "sydney")
	trouble := p.says(admin.TroubleSearch)
	eventually(t, "the log mentions it", func() bool { return strings.Contains(p.log.String(), "search fails for apps") })
	for what, said := range map[string]string{
		"check": checked.out, "search": searched.errs + remedy, "trouble": trouble.Detail + trouble.Remedy, "page": html.UnescapeString(p.page("/")), "log": p.log.String() + remedy,
	} {
		if !strings.Contains(said, reason) || !strings.Contains(said, remedy) || strings.Contains(said, "all shards failed") || strings.Contains(said, "_open") {
			t.Errorf("%s: %s", what, said)
		}
	}
	allow("null")
	eventually(t, "all is well again", func() bool { return p.status().Well })
}

// TestACompletionThatFailsIsTold: apps complete, too.
func TestACompletionThatFailsIsTold(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "mappings")
	require.NoError(t, os.CopyFS(folder, mappings.Files()))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "complete.json"), []byte(`{"query": {"no_query": {"title": "{{words}}"}}}`), 0o644))
	p := newProcess(t, elastictest.URL(t), "--probe-every", "100ms", "--mappings", folder)
	p.start()
	p.indicesReady()
	for _, said := range []string{p.says(admin.TroubleSearch).Detail, p.check("--mappings", folder).out} {
		if !strings.Contains(said, "with complete.json: ") || !strings.Contains(said, "[no_query]") {
			t.Errorf("it says %s", said)
		}
	}
}
