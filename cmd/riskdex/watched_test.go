package main

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.yaml.in/yaml/v3"

	"riskdex/admin"
	"riskdex/dashboards"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestPrometheusSeesRiskdexWork brings a riskdex into trouble and out of it while real
// Prometheus servers scrape it. Every alert that is tried is raised and cleared, every
// query of the dashboard and every recording rule finds data, and the open panels show each
// trouble.
func TestPrometheusSeesRiskdexWork(t *testing.T) {
	searches := freeAddress(t)
	w := watch(t, elastictest.URL(t), "--mappings", narrowMappings(t), "--journal-max-bytes", "64MiB", "--probe-every", "1s", "--backup-every", "1h", "--history", "1d",
		"--search-listen", searches)
	w.searches = searches
	exposed := w.families()
	if names := notNative(exposed); len(names) > 0 {
		t.Fatalf("histograms that are not made with internal/histogram: %v", names)
	}
	w.openQueries(exposed)
	defer func() {
		for query, title := range w.open {
			t.Errorf("%s: the query %s finds nothing", title, query)
		}
	}()
	w.says(admin.TroubleBackup)
	w.fires("RiskdexBackupOverdue", func() {
		w.expect(exitDone, "", []string{"backup", filepath.Join(t.TempDir(), "copy.db")})
	})
	if st := w.status(); slices.ContainsFunc(st.Troubles, func(t admin.Trouble) bool { return t.What == admin.TroubleBackup }) {
		t.Errorf("after a backup: %+v", st.Troubles)
	}

	w.fill(200)
	w.incident("what is refused, by the receiver and by Elasticsearch", w.traffic,
		append(panels(101, 113, 108), sign{311, "refused"}, sign{311, "accepted"})...)
	if n, err := w.server.Rules(t.Context()); n == 0 || err != nil {
		t.Errorf("%d rules, %v", n, err)
	}

	w.fires("RiskdexDeadLetters", func() { w.expect(exitDone, "", words("dead drop --all --yes")) })

	w.incident("an index that is held", func() {
		w.ask("PUT", "/"+w.prefix+"cities-v1/_settings", `{"index.blocks.write":true}`, nil)
		w.send("PUT", "/cities/1", `{"title":"waits"}`)
	}, panels(405, 201, 104)...)
	w.fires("RiskdexIndexHeld", func() {
		w.ask("PUT", "/"+w.prefix+"cities-v1/_settings", `{"index.blocks.write":null}`, nil)
	})

	w.incident("an alias with a filter", func() {
		w.ask("POST", "/_aliases", fmt.Sprintf(`{"actions":[{"add":{"index":%q,"alias":%q,"filter":{"term":{"_id":"1"}}}}]}`, w.prefix+"cities-v1", w.prefix+"cities"), nil)
	}, sign{405, "{{kind}}: alias_wrong"})
	w.fires("RiskdexAliasWrong", func() { w.remedy(w.says(admin.TroubleAlias).Remedy) })

	w.incident("that Elasticsearch is away", func() {
		w.cut.Store(true)
		for _, kind := range report.Kinds() {
			w.send("PUT", "/"+string(kind)+"/1", `{"title":"waits again"}`)
		}
	}, panels(103, 201, 104, 105)...)
	w.fires("RiskdexElasticsearchAway", func() { w.cut.Store(false) })
	w.drained()
	w.nativeIsTaken()

	var large int
	w.incident("a journal without room", func() { large = w.full() }, sign{311, "not accepted now"})
	w.empty(large)

	w.incident("that riskdex is down", func() {
		if status := w.terminate(); status != exitDone {
			w.t.Errorf("stopped with %d", status)
		}
	}, panels(102)...)
	w.fires("RiskdexDown", w.start)

	w.incident("an address that leads to two clusters by turns", func() { w.another.Store(true) }, sign{405, "several_clusters"})
	w.fires("RiskdexSeveralClusters", func() {
		w.another.Store(false)
		w.terminate()
		w.passTurns()
		w.start()
	})

	// The rebuild stands still for long enough to be scraped.
	w.cutBulks.Store(true)
	w.expect(exitDone, "", words("rebuild cities --detach"), "started")
	w.until("the rebuild is seen", func() bool { return len(values(t, w.server, "riskdex_documents_resending > 0")) > 0 })
	w.cutBulks.Store(false)

	w.until("every query has found data", func() bool {
		w.traffic()
		return len(w.open) == 0
	})
	const unaccounted = "job_instance_kind:riskdex_changes_unaccounted:diff"
	if wrong := values(t, w.server, fmt.Sprintf("max_over_time(%s[1h]) != 0 or min_over_time(%[1]s[1h]) != 0", unaccounted)); len(wrong) > 0 {
		t.Errorf("at some time the sums did not agree: %v", wrong)
	}
	w.everythingAtAGlance()
	w.isAsListed()
}

// openQueries records which queries have to find data: those of the dashboard and of all
// recording rules.
func (w *watched) openQueries(exposed []*dto.MetricFamily) {
	w.t.Helper()
	for _, q := range dashboards.Queries(dashboards.Values{Window: "20s"}) {
		if q.Panel == 601 && q.Legend == "still waiting" {
			continue // no disk hangs here, as in TestStopsOnAFrozenDisk
		}
		if strings.Contains(q.Expr, "riskdex_clock_differs") {
			continue // no clock is off here, as in TestProbeComparesTheClocks
		}
		if q.Panel == 313 {
			continue // no TLS here, as in TestCertificateThatIsNotReplacedIsTold
		}
		if q.Panel == 314 && q.Legend == "from {{sender}}" {
			continue // no sender has a name here
		}
		if strings.Contains(q.Expr, "offset 1w") || q.Panel == 208 {
			continue // this Prometheus is not a week old, nor five minutes
		}
		w.open[q.Expr] = fmt.Sprintf("panel %d %q", q.Panel, q.Title)
	}
	text, err := os.ReadFile("../../dashboards/rules.yml")
	require.NoError(w.t, err)
	var file struct {
		Groups []struct{ Rules []struct{ Record string } }
	}
	require.NoError(w.t, yaml.Unmarshal(text, &file))
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				w.open[r.Record] = "recording rule"
			}
		}
	}
	has := map[string]bool{}
	for _, f := range exposed {
		has[f.GetName()] = true
	}
	own := regexp.MustCompile(`(?:^|[^:\w])(riskdex_\w+)`)
	part := regexp.MustCompile(`_(bucket|sum|count)$`)
	for query, title := range w.open {
		for _, m := range own.FindAllStringSubmatch(query, -1) {
			if name := m[1]; !has[name] && !has[part.ReplaceAllString(name, "")] {
				w.t.Errorf("%s: riskdex does not expose %s", title, name)
			}
		}
	}
}

// traffic makes deliveries of every sort, good and bad.
func (w *watched) traffic() {
	w.t.Helper()
	for _, d := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/cities", `[{"id":1,"code":"SYD","title":"Sydney"},{"id":2,"title":true}]`, http.StatusAccepted},
		{"PUT", "/cities/1", `{"title":"Sydney, corrected"}`, http.StatusAccepted},
		{"PUT", "/cities/1", `{"id":"another","title":"Sydney, with another id"}`, http.StatusAccepted},
		{"DELETE", "/cities/of-nothing", "", http.StatusAccepted},
		{"PUT", "/advisories/3", `{"title":"Harbour closed"}`, http.StatusAccepted},
		{"DELETE", "/advisories/3", "", http.StatusAccepted},
		{"PUT", "/special-reports/4", `{"title":"Elections"}`, http.StatusAccepted},
		{"PUT", "/special-reports/5", `{"title":"refused","risk_label":"high"}`, http.StatusAccepted}, // a dead letter, see narrowMappings
		{"PUT", "/cities/6", `{"title":`, http.StatusBadRequest},
		{"POST", "/advisories", `{"title":"without an id"}`, http.StatusUnprocessableEntity},
		{"POST", "/countries", `{"id":7}`, http.StatusNotFound},
	} {
		if status := w.send(d.method, d.path, d.body); status != d.status {
			w.t.Fatalf("%s %s: %d, want %d", d.method, d.path, status, d.status)
		}
	}
	if status, _, err := w.waitFor(1, "PUT", "/special-reports/4", `{"title":"Elections, corrected"}`); err != nil || status/100 != 2 {
		w.t.Fatalf("a delivery that waits for the search: %d, %v", status, err)
	}
	for _, path := range []string{"search?q=sydney", "search?q=nowhereatall", "complete?q=syd"} {
		if status, text := elastictest.Ask(w.t, "GET", "http://"+w.searches+"/v1/"+path, ""); status != http.StatusOK {
			w.t.Fatalf("%s: %d %s", path, status, text)
		}
	}
}

// families returns /metrics as protobuf, which has native histograms.
func (w *watched) families() (all []*dto.MetricFamily) {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+w.admin+"/metrics", nil)
	require.NoError(w.t, err)
	req.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	res, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer res.Body.Close()
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || kind != "application/vnd.google.protobuf" {
		w.t.Fatalf("a request for protobuf is answered with %q", res.Header.Get("Content-Type"))
	}
	decoder := expfmt.NewDecoder(res.Body, expfmt.ResponseFormat(res.Header))
	for {
		f := new(dto.MetricFamily)
		err := decoder.Decode(f)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(w.t, err)
		all = append(all, f)
	}
}

// nativeIsTaken checks that the Prometheus that stores native histograms has all of them,
// with everything that was observed.
func (w *watched) nativeIsTaken() {
	w.t.Helper()
	asked := 0
	for _, f := range w.families() {
		if f.GetType() != dto.MetricType_HISTOGRAM || !strings.HasPrefix(f.GetName(), "riskdex_") {
			continue
		}
		asked++
		want, _ := w.metrics().Sum(f.GetName() + "_count") // the probe adds more meanwhile
		if want == 0 {
			w.t.Errorf("nothing is observed in %s", f.GetName())
		}
		eventually(w.t, f.GetName()+" is taken as a native histogram", func() bool {
			got := values(w.t, w.native, fmt.Sprintf("sum(histogram_count(%s))", f.GetName()))
			return len(got) == 1 && got[0] >= want
		})
	}
	if asked < 4 {
		w.t.Errorf("only %d histograms are exposed", asked)
	}
}

// isAsListed checks that riskdex metrics lists exactly what this riskdex exposes.
func (w *watched) isAsListed() {
	w.t.Helper()
	exposed := describe(w.families(), nil)
	for _, m := range exposed {
		for _, l := range m.Labels {
			if l.Name == "index" {
				for i := range l.Values {
					l.Values[i] = strings.TrimPrefix(l.Values[i], w.prefix)
				}
			}
		}
	}
	listed := listedMetrics(w.t)
	for _, m := range exposed {
		i := slices.IndexFunc(listed, func(other metric) bool { return other.Name == m.Name })
		if i >= 0 {
			m.Scope = listed[i].Scope // /metrics does not tell it
		}
		switch {
		case i < 0:
			w.t.Errorf("riskdex metrics does not list %s: register it in newComponents", m.Name)
		case !reflect.DeepEqual(m, listed[i]):
			w.t.Errorf("riskdex metrics lists\n%+v, /metrics has\n%+v", listed[i], m)
		}
	}
	if len(exposed) < len(listed) {
		w.t.Errorf("of %d metrics that are listed, %d are exposed", len(listed), len(exposed))
	}
}
