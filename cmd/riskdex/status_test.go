package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestStatusCommand brings a riskdex into trouble and out of it.
func TestStatusCommand(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--mappings", narrowMappings(t), "--journal-max-bytes", "1GiB")
	p.start()
	const hostile = `&lt;script>alert(1)&lt;/script> \u001b[31m`
	p.send("POST", "/cities", `[{"id":1,"title":"well <em>`+hostile+`"},{"id":2,"title":"two"}]`)
	p.indicesReady()
	p.drained()
	eventually(t, "the documents can be searched", func() bool { return len(p.search("well")) == 1 })
	eventually(t, "the search of apps has been tried again", func() bool { return p.status().Well }) // where the indices were made slowly
	p.expect(exitDone, "", words("status"), "all is well", "DOCUMENTS", "cities", "2 accepted", "202", "Elasticsearch is up", "limit of 1.0 GiB")
	var st admin.Status
	require.NoError(t, json.Unmarshal([]byte(p.expect(exitDone, "", words("status --json")).out), &st))
	if k := st.Kinds[0]; !st.Well || k.Kind != report.Cities || k.Documents == nil || *k.Documents != 2 || len(k.History) == 0 {
		t.Errorf("the status is %+v, want all well, with 2 cities and a history", st)
	}

	// No text in hits becomes HTML.
	page := p.page("/search?q=" + url.QueryEscape("well"))
	if strings.Contains(page, "<script>alert") || !strings.Contains(page, "&lt;script&gt;") || !strings.Contains(page, "cities / ") {
		t.Errorf("the search page: %s", page)
	}

	p.send("PUT", "/advisories/x"+url.PathEscape("\x1b[31m"), `{"risk_label":"`+hostile+`"}`)
	p.send("POST", "/nowhere", `{}`)
	p.drained()
	shown := p.expect(exitWarning, "", words("status"), "warning: something needs attention", "  warning, dead_letters: Dead letters of", "riskdex dead list", `$'x\u001b[31m'`, "unknown_path", "404", "1 refused delivery is kept")
	if strings.Contains(shown.out, "\x1b") {
		t.Errorf("a control character in %q", shown.out)
	}
	p.expect(exitDone, "", words("dead drop --all --yes"))
	p.expect(exitDone, "", words("refused drop --all --yes"))
	p.expect(exitDone, "", words("status"), "all is well")

	p.ask("PUT", "/"+p.prefix+"cities-v1/_settings", `{"index.blocks.write":true}`, nil)
	p.send("PUT", "/cities/1", `{"title":"waits"}`)
	eventually(t, "the index is held", func() bool { return p.command("", "status").status == exitNegative })
	p.expect(exitNegative, "", words("status"), "critical: something is wrong", "held: index_blocked", p.prefix+"cities", "cluster_block_exception")
	if page := p.page("/"); !strings.Contains(page, "held: index_blocked") {
		t.Errorf("the page does not show that the index is held: %s", page)
	}
	p.ask("PUT", "/"+p.prefix+"cities-v1/_settings", `{"index.blocks.write":null}`, nil)
	p.drained()
	p.expect(exitDone, "", words("status"), "all is well")

	p.expect(exitDone, "", words("rebuild cities"))
	p.expect(exitDone, "", words("status"), "REBUILDS")
	if status := p.terminate(); status != exitDone {
		t.Errorf("stopped with %d", status)
	}
	p.expect(exitFailed, "", words("status"), "no riskdex answers")
}

func TestStatusOfSomethingElse(t *testing.T) {
	p := process{t: t, admin: strings.TrimPrefix(elastictest.URL(t), "http://")}
	p.expect(exitFailed, "", words("status"), "not riskdex's admin listener")
}

// TestStatusWhileElasticsearchIsAway: the status is still answered.
func TestStatusWhileElasticsearchIsAway(t *testing.T) {
	p := newProcess(t, "http://127.0.0.1:1")
	p.start()
	p.send("PUT", "/cities/1", `{"title":"waits"}`)
	p.says(admin.TroubleElasticsearch)
	p.expect(exitNegative, "", words("status"), "Elasticsearch is away", "not known")
	if page := p.page("/"); !strings.Contains(page, "not known") {
		t.Errorf("the page: %s", page)
	}
}

// page gets a page of the admin listener.
func (p *process) page(path string) string {
	p.t.Helper()
	res, err := http.Get("http://" + p.admin + path)
	require.NoError(p.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	if res.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s %s", path, res.Status, text)
	}
	return string(text)
}

func TestLagLine(t *testing.T) {
	at := func(minute int, lag float64) admin.Sample {
		return admin.Sample{Minute: time.Unix(int64(minute)*60, 0), LagSeconds: lag}
	}
	for want, history := range map[string][]admin.Sample{
		"":       nil,
		"▁▁":     {at(0, 0), at(1, .9)},
		"▁▄█":    {at(0, 0), at(1, 5), at(2, 10)},
		"▁█":     {at(0, 10), at(1, 3600)},
		"▁··▁":   {at(0, 0), at(3, 0)},
		"▁▁▁▁▁█": {at(0, 0), at(1, 0), at(2, 0), at(3, 0), at(4, 0), at(5, 60)},
	} {
		if got := lagLine(history); got != want {
			t.Errorf("%v: %s, want %s", history, got, want)
		}
	}
}

// TestStatusSaysWhyARebuildFailed on its line.
func TestStatusSaysWhyARebuildFailed(t *testing.T) {
	var out bytes.Buffer
	printStatus(&out, admin.Status{Rebuilds: []report.Rebuild{
		{Kind: report.Cities, Phase: "failed", Reason: "no room"},
		{Kind: report.Advisories, Phase: "swapping"},
	}})
	for _, want := range []string{"\n  cities: failed: no room\n", "\n  advisories: swapping\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the status does not contain %q: %s", want, out.String())
		}
	}
}
