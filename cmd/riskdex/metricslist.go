package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// metric is one of riskdex's own metrics, as /metrics exposes it.
type metric struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`  // counter, gauge or histogram
	Scope  string  `json:"scope"` // global or local
	Labels []label `json:"labels"`
	Help   string  `json:"help"`
	Series int     `json:"series"` // label combinations
}

// Scopes of metrics. Metrics that are read from the journal are global: all processes that
// share it expose the same values, and one of them is enough. All others are local: what one
// process has seen or done.
const (
	global = "global"
	local  = "local"
)

// label is a label with the values that occur, sorted.
type label struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// describe describes riskdex's own metrics among families, in their order. Those that are in
// shared too are global. No label value is missed, because every series exists from the
// start.
func describe(families, shared []*dto.MetricFamily) []metric {
	scopes := map[string]string{}
	for _, f := range shared {
		scopes[f.GetName()] = global
	}
	var all []metric
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "riskdex_") {
			continue
		}
		m := metric{Name: f.GetName(), Type: strings.ToLower(f.GetType().String()), Scope: cmp.Or(scopes[f.GetName()], local), Labels: []label{}, Help: f.GetHelp(), Series: len(f.GetMetric())}
		for _, series := range f.GetMetric() {
			for _, pair := range series.GetLabel() {
				m.note(pair.GetName(), pair.GetValue())
			}
		}
		for i := range m.Labels {
			slices.Sort(m.Labels[i].Values)
		}
		all = append(all, m)
	}
	return all
}

func (m *metric) note(name, value string) {
	i := slices.IndexFunc(m.Labels, func(l label) bool { return l.Name == name })
	if i < 0 {
		i = len(m.Labels)
		m.Labels = append(m.Labels, label{Name: name})
	}
	if l := &m.Labels[i]; !slices.Contains(l.Values, value) {
		l.Values = append(l.Values, value)
	}
}

func (m *metric) labelNames() []string {
	var names []string
	for _, l := range m.Labels {
		names = append(names, l.Name)
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
