package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"riskdex/internal/testkit/require"
)

// listed runs riskdex metrics.
func listed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(t.Context(), append([]string{"metrics"}, args...), streams{&out, &errs}); status != exitDone || errs.Len() > 0 {
		t.Fatalf("metrics %v: exit status %d, %s", args, status, errs.String())
	}
	return out.String()
}

func listedMetrics(t *testing.T) []metric {
	t.Helper()
	var all []metric
	for line := range strings.Lines(listed(t, "--json")) {
		var m metric
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		all = append(all, m)
	}
	return all
}

func TestMetricsCommand(t *testing.T) {
	all := listedMetrics(t)
	if len(all) < 20 {
		t.Fatalf("%d metrics", len(all))
	}
	table := listed(t)
	for _, m := range all {
		if !strings.HasSuffix(m.Help, ".") || m.Series == 0 {
			t.Errorf("%s means %q, and has %d series", m.Name, m.Help, m.Series)
		}
		row := regexp.MustCompile(`(?m)^` + m.Name + ` +` + m.Type + ` +` + m.Scope + ` +` + strings.Join(m.labelNames(), ", ") + ` +` + regexp.QuoteMeta(m.Help) + `$`)
		if !row.MatchString(table) {
			t.Errorf("the table has no row for %s", m.Name)
		}
	}
	i := slices.IndexFunc(all, func(m metric) bool { return m.Name == "riskdex_deliveries_total" })
	if i < 0 || all[i].Type != "counter" || !slices.Equal(all[i].labelNames(), []string{"code", "kind", "method"}) || !slices.Contains(all[i].Labels[0].Values, "503") {
		t.Errorf("the description of riskdex_deliveries_total is wrong: %+v", all)
	}
}

// TestEveryMetricHasItsScope names the global metrics. A new metric that comes from the
// journal has to be added here; all others are local.
func TestEveryMetricHasItsScope(t *testing.T) {
	var got []string
	for _, m := range listedMetrics(t) {
		switch m.Scope {
		case "global":
			got = append(got, strings.TrimPrefix(m.Name, "riskdex_"))
		case "local":
		default:
			t.Errorf("%s has the scope %q", m.Name, m.Scope)
		}
	}
	want := []string{
		"changes_accepted_total", "changes_pending", "changes_settled_total", "clock_behind_seconds", "dead_letters", "delivery_expected_timestamp_seconds", "documents_resending",
		"history_bytes", "history_dropped_total", "history_entries",
		"journal_backup_timestamp_seconds", "journal_bytes", "journal_free_bytes", "journal_limit_bytes", "journal_lost_seconds", "journal_min_free_bytes", "journal_used_bytes", "lag_seconds", "last_accepted_timestamp_seconds", "processes", "rebuild_failed", "refusals_kept", "refused_documents", "several_clusters", "tombstones", "tombstones_dropped_total", "verify_differences",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the global metrics are\n%q, want\n%q", got, want)
	}
}

// TestMetricsCommandTouchesNothing runs the command although its addresses are taken and
// the folder of its journal cannot be created.
func TestMetricsCommandTouchesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("RISKDEX_LISTEN", l.Addr().String())
	t.Setenv("RISKDEX_ADMIN_LISTEN", l.Addr().String())
	t.Setenv("ELASTICSEARCH_URL", "http://"+l.Addr().String())
	t.Setenv("RISKDEX_JOURNAL", filepath.Join(file, "riskdex.db"))
	listed(t)
	own, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer own.Close()
	first, err := l.Accept()
	require.NoError(t, err)
	defer first.Close()
	if first.RemoteAddr().String() != own.LocalAddr().String() {
		t.Error("the command has sent a request")
	}
}

func TestDocumentedMetricsAreThoseOfTheProgram(t *testing.T) {
	all := listedMetrics(t)
	want := metricsMarkdown(all)
	if *updatePages {
		require.NoError(t, os.WriteFile("../../docs/metrics.md", []byte(want), 0o644))
	}
	text, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	if string(text) != want {
		t.Error("docs/metrics.md is out of date: run make metrics")
	}
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	for path, text := range documents(t) {
		for _, name := range regexp.MustCompile("`(riskdex_[a-z_]+)[`{]").FindAllStringSubmatch(text, -1) {
			if !slices.Contains(names, name[1]) && name[1] != "riskdex_elasticsearch_died" { // that is a type of error
				t.Errorf("%s has %s, which riskdex does not expose", path, name[1])
			}
		}
	}
}

// notNative returns the histograms that lack native buckets, or classic ones.
func notNative(families []*dto.MetricFamily) (names []string) {
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); h != nil && (h.Schema == nil || len(h.GetBucket()) == 0) {
				names = append(names, f.GetName())
				break
			}
		}
	}
	return names
}

// metricsMarkdown returns the content of docs/metrics.md.
func metricsMarkdown(all []metric) string {
	var b strings.Builder
	b.WriteString("# The metrics of riskdex\n\n" +
		"<!-- Written by `make metrics` from the program; a test fails while the two differ. -->\n\n" +
		"For whoever writes queries, rules or dashboards. `/metrics` of the admin listener serves these metrics, and `riskdex metrics` prints the same table. " +
		"Every series exists from the start, at 0. The metrics `go_…` and `process_…` are those of Prometheus' Go client.\n\n" +
		"A `global` metric comes from the journal, and is the same from every process that shares it: take the largest, not the sum. " +
		"A `local` metric is about one process: add up counters and histograms.\n\n" +
		"| metric | type | scope | labels | what |\n| --- | --- | --- | --- | --- |\n")
	series := 0
	for _, m := range all {
		series += m.Series
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Type, m.Scope, strings.Join(m.labelNames(), ", "), strings.ReplaceAll(m.Help, "|", `\|`))
	}
	fmt.Fprintf(&b, "\nThese are %d label combinations; a histogram has several series for each.\n\n"+
		"Histograms have native buckets as well. A Prometheus that takes those drops the classic ones (`…_bucket`), which dashboard and alerts use, "+
		"unless the job sets `always_scrape_classic_histograms` (`scrape_classic_histograms` from 2.45 to 2.55).\n\n"+
		"## Values of labels\n\n| label | values | in |\n| --- | --- | --- |\n", series)
	rows := labelRows(all)
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.name, quoted(row.values), metricsWith(rows, i))
	}
	return b.String()
}

// metricsWith says which metrics have the values of a row: all with this label, or those that are
// named, the most common values excepted.
func metricsWith(rows []labelRow, i int) string {
	only, most := true, true
	for j, other := range rows {
		if j == i || other.name != rows[i].name {
			continue
		}
		only = false
		if n := len(other.metrics) - len(rows[i].metrics); n > 0 || n == 0 && j < i {
			most = false
		}
	}
	switch {
	case only:
		return "all"
	case most:
		return "all others"
	}
	return quoted(rows[i].metrics)
}

// labelRow is a label with the metrics in which it has the same values.
type labelRow struct {
	name            string
	values, metrics []string
}

func labelRows(all []metric) []labelRow {
	var rows []labelRow
	for _, m := range all {
		if m.Name == buildInfo {
			continue // its values change with every commit
		}
		for _, l := range m.Labels {
			i := slices.IndexFunc(rows, func(r labelRow) bool { return r.name == l.Name && slices.Equal(r.values, l.Values) })
			if i < 0 {
				i = len(rows)
				rows = append(rows, labelRow{name: l.Name, values: l.Values})
			}
			rows[i].metrics = append(rows[i].metrics, m.Name)
		}
	}
	slices.SortStableFunc(rows, func(a, b labelRow) int { return strings.Compare(a.name, b.name) })
	return rows
}

func quoted(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, "`"+w+"`")
	}
	return strings.Join(out, ", ")
}
