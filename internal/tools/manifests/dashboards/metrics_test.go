package dashboards

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/prometheus/promql/parser"
)

// metrics returns every metric and its labels: riskdex's own from the table in
// docs/metrics.md, which another test compares with what is exposed; those of the runtime
// and the process; those that Prometheus adds; and recorded ones.
func metrics(t *testing.T) map[string][]string {
	t.Helper()
	known := map[string][]string{
		"up": nil, "scrape_duration_seconds": nil,
		"ALERTS": {"alertname", "alertstate", "severity", "kind", "index", "reason"},
	}
	for name, labels := range documentedMetrics(t) {
		known[name] = labels
		if !strings.HasSuffix(name, "_total") {
			for _, part := range []string{"_bucket", "_count", "_sum"} {
				known[name+part] = append(slices.Clone(labels), "le")
			}
		}
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		known[f.GetName()] = nil
		if f.GetName() == "go_gc_duration_seconds" {
			known[f.GetName()] = []string{"quantile"}
		}
	}
	for _, g := range rules(t).Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				level, _, _ := strings.Cut(r.Record, ":")
				known[r.Record] = strings.Split(level, "_")
			}
		}
	}
	return known
}

// documentedMetrics returns the names and labels of the table in docs/metrics.md.
func documentedMetrics(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	row := regexp.MustCompile("(?m)^\\| `(riskdex_[a-z_]+)` \\| [a-z]+ \\| [a-z]+ \\| ([a-z, ]*) ?\\|")
	for _, m := range row.FindAllStringSubmatch(string(read(t, "../docs/metrics.md")), -1) {
		var labels []string
		for label := range strings.SplitSeq(m[2], ",") {
			if label = strings.TrimSpace(label); label != "" {
				labels = append(labels, label)
			}
		}
		out[m[1]] = labels
	}
	if len(out) < 15 {
		t.Fatalf("the table in docs/metrics.md cannot be read: %v", out)
	}
	return out
}

func everyQuery(t *testing.T) []located {
	t.Helper()
	all := boardQueries(t)
	for _, g := range rules(t).Groups {
		for _, r := range g.Rules {
			all = append(all, located{"rule " + r.Record + r.Alert, r.Expr})
		}
	}
	return all
}

func TestQueriesAskForMetricsAndLabelsThatExist(t *testing.T) {
	known := metrics(t)
	exists := func(labels []string, label string) bool {
		return slices.Contains([]string{"job", "instance", "__name__"}, label) || slices.Contains(labels, label)
	}
	for _, q := range everyQuery(t) {
		expr := parse(t, q)
		inspect(expr, func(s *parser.VectorSelector, around []parser.Node) {
			labels, is := known[s.Name]
			if !is {
				t.Errorf("%s: there is no metric %q", q.where, s.Name)
				return
			}
			for _, m := range s.LabelMatchers {
				if !exists(labels, m.Name) {
					t.Errorf("%s: %s has no label %q", q.where, s.Name, m.Name)
				}
			}
			for _, n := range around {
				if a, ok := n.(*parser.AggregateExpr); ok {
					for _, label := range a.Grouping {
						if !exists(labels, label) {
							t.Errorf("%s: %s has no label %q to group by", q.where, s.Name, label)
						}
					}
				}
			}
		})
	}
}

func TestEveryMetricIsShownOrWatched(t *testing.T) {
	used := map[string]bool{}
	for _, q := range everyQuery(t) {
		inspect(parse(t, q), func(s *parser.VectorSelector, _ []parser.Node) {
			used[s.Name] = true
			used[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(s.Name, "")] = true
		})
	}
	for name := range documentedMetrics(t) {
		if !used[name] {
			t.Errorf("no panel and no rule uses %s", name)
		}
	}
}

// labelsOf returns the labels that the result of expr may have.
func labelsOf(t *testing.T, expr parser.Expr) []string {
	t.Helper()
	switch e := expr.(type) {
	case *parser.AggregateExpr:
		if e.Without {
			t.Fatalf("%s: write down which labels stay", e)
		}
		return e.Grouping
	case *parser.ParenExpr:
		return labelsOf(t, e.Expr)
	case *parser.UnaryExpr:
		return labelsOf(t, e.Expr)
	case *parser.BinaryExpr:
		if e.LHS.Type() == parser.ValueTypeScalar {
			return labelsOf(t, e.RHS)
		}
		return labelsOf(t, e.LHS)
	case *parser.Call:
		switch {
		case e.Func.Name == "absent":
			return nil
		case len(e.Args) == 0:
			return nil
		}
		return labelsOf(t, e.Args[len(e.Args)-1])
	case *parser.MatrixSelector:
		return labelsOf(t, e.VectorSelector)
	case *parser.VectorSelector:
		if strings.Contains(e.Name, ":") { // recorded, with these labels only
			return metrics(t)[e.Name]
		}
		return append([]string{"job", "instance"}, metrics(t)[e.Name]...)
	}
	return nil
}
