package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"riskdex/internal/require"
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
		"journal_backup_timestamp_seconds", "journal_bytes", "journal_free_bytes", "journal_limit_bytes", "journal_lost_seconds", "journal_used_bytes", "lag_seconds", "last_accepted_timestamp_seconds", "processes", "rebuild_failed", "refusals_kept", "refused_documents", "several_clusters", "tombstones", "tombstones_dropped_total", "verify_differences",
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
	text, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	if want := listed(t, "--markdown"); string(text) != want {
		t.Error("docs/metrics.md is out of date: run make metrics")
	}
	var names []string
	for _, m := range listedMetrics(t) {
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
