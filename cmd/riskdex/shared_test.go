package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/prometheus"
	"riskdex/internal/testkit/prometheus/prometheustest"
	"riskdex/internal/testkit/require"
)

// cuttableProxy returns the address of a proxy to Elasticsearch, which aborts every request
// while cut is true.
func cuttableProxy(t *testing.T, elasticsearch string) (address string, cut *atomic.Bool) {
	t.Helper()
	target, err := url.Parse(elasticsearch)
	require.NoError(t, err)
	way, cut := httputil.NewSingleHostReverseProxy(target), new(atomic.Bool)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if cut.Load() {
			panic(http.ErrAbortHandler)
		}
		way.ServeHTTP(rw, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL, cut
}

// TestPrometheusSeesTwoProcessesAsOneJournal: a real Prometheus scrapes two processes that
// share a journal. It counts global metrics once and attributes local ones to their
// process, and each process answers for the whole journal.
func TestPrometheusSeesTwoProcessesAsOneJournal(t *testing.T) {
	prometheustest.Need(t)
	home := postgrestest.Start(t)
	cuttable, cut := cuttableProxy(t, elastictest.URL(t))
	mapped := []string{"--mappings", narrowMappings(t), "--probe-every", "1s"}
	one, other := newProcess(t, elastictest.URL(t), mapped...), newProcess(t, cuttable, mapped...)
	other.prefix = one.prefix
	for _, p := range []*process{one, other} {
		p.journal = home.URL()
		p.start()
	}
	w := &watched{process: one, open: map[string]string{}, server: prometheustest.Start(t, prometheus.Options{
		Home: t.TempDir(), Config: "../../dashboards/prometheus.yml", Rules: hastyRules(t),
		Target: one.admin, Others: []string{other.admin}, Port: freePort(t), Interval: 500 * time.Millisecond,
	})}
	finds := func(query string, want ...float64) {
		t.Helper()
		eventually(t, query, func() bool { return slices.Equal(values(t, w.server, query), want) })
	}
	finds(`count(up == 1)`, 2)
	finds(`max by (job) (riskdex_processes)`, 2)

	// Deliver some to each: both count what was accepted, and each its own requests.
	for i, p := range []*process{one, other, other} {
		p.send("POST", "/cities", `[{"id":`+string(rune('1'+2*i))+`,"title":"a"},{"id":`+string(rune('2'+2*i))+`,"title":"b"}]`)
	}
	one.drained()
	finds(`sum(max by (job, kind, op) (riskdex_changes_accepted_total{kind!="probe"}))`, 6)
	finds(`sum(max by (job, kind, outcome) (riskdex_changes_settled_total{kind!="probe"}))`, 6)
	finds(`sum(riskdex_deliveries_total{code="202"})`, 3)
	finds(`sum(riskdex_settle_seconds_count{kind="cities"})`, 6)

	one.send("POST", "/advisories", `{"title":"without an id"}`)
	other.send("PUT", "/special-reports/7", `{"title":"refused","risk_label":"high"}`)
	firing := func(alert, severity string) []float64 {
		return values(t, w.server, fmt.Sprintf(`count(ALERTS{alertname=%q, severity=%q, alertstate="firing"})`, alert, severity))
	}
	w.fires("RiskdexDeadLetters", func() {
		if n := firing("RiskdexDeadLetters", "warning"); !slices.Equal(n, []float64{1}) {
			t.Errorf("the alert was raised %v times, want once", n)
		}
		theSame(t, one, other)
		other.expect(exitDone, "", words("dead drop --all --yes"))
	})

	cut.Store(true)
	w.fires("RiskdexElasticsearchAway", func() {
		if n := values(t, w.server, `ALERTS{alertname="RiskdexElasticsearchAway", severity="warning", instance="`+other.admin+`", alertstate="firing"}`); len(n) != 1 {
			t.Errorf("the alert does not name %s", other.admin)
		}
		other.send("PUT", "/cities/1", `{"title":"found through the other"}`)
		one.drained()
		if n := firing("RiskdexElasticsearchAway", "critical"); len(n) > 0 {
			t.Error("Elasticsearch is shown as away")
		}
		cut.Store(false)
	})

	other.kill()
	w.until("it is missed", func() bool { return len(firing("RiskdexDown", "warning")) == 1 })
	if len(firing("RiskdexDown", "critical")) > 0 {
		t.Error("one of two that is down wakes somebody")
	}
	finds(`max by (job) (riskdex_processes)`, 1)
	finds(`sum(max by (job, kind, op) (riskdex_changes_accepted_total{kind!="probe", op="index"}))`, 8)
}

// theSame checks that both processes say the same about the journal.
func theSame(t *testing.T, one, other *process) {
	t.Helper()
	status := func(p *process) (st admin.Status) {
		t.Helper()
		require.NoError(t, json.Unmarshal(p.administer("/api/status"), &st))
		for i := range st.Kinds {
			st.Kinds[i].History, st.Kinds[i].LagSeconds = nil, 0
		}
		return st
	}
	a, b := status(one), status(other)
	if !reflect.DeepEqual(a.Kinds, b.Kinds) || !reflect.DeepEqual(a.Dead, b.Dead) || !reflect.DeepEqual(a.Refused, b.Refused) ||
		a.DeadTotal != 1 || b.DeadTotal != 1 || a.RefusedTotal != 1 || b.RefusedTotal != 1 {
		t.Errorf("one process reports\n%+v, the other\n%+v", a, b)
	}
	if a.Process == b.Process || !slices.Equal(a.Processes, b.Processes) || !slices.Equal(a.Processes, []string{a.Process, b.Process}) {
		t.Errorf("one process is %q of %q, the other %q of %q", a.Process, a.Processes, b.Process, b.Processes)
	}
	for _, command := range []string{"dead list --json", "refused list --json"} { // not as lists for people, whose ages grow between the two calls
		if a, b := one.command("", words(command)...), other.command("", words(command)...); a.out != b.out || strings.Count(a.out, "\n") != 1 {
			t.Errorf("%s: one process reports\n%s, the other\n%s", command, a.out, b.out)
		}
	}
	one.expect(exitWarning, "", words("status"), "LAST DELIVERIES, FOR THIS PROCESS", "shared by", b.Process)
}
