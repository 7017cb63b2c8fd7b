package dashboards

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/dashboards"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Replacements for Grafana's variables that differ from everything that is written out in a
// query.
const (
	rateInterval  = 11 * time.Minute
	shownInterval = 13 * time.Hour
)

var grafana = strings.NewReplacer(
	"$__rate_interval", "11m", "$__range", "13h",
	"$job", "JOB", "$instance", "INSTANCE", "$kind", "KIND",
)

// located is a query with its location, for messages.
type located struct {
	where string
	expr  string
}

func boardQueries(t *testing.T) []located {
	t.Helper()
	b := board(t)
	var out []located
	for _, p := range b.graphs() {
		for _, q := range p.Targets {
			out = append(out, located{fmt.Sprintf("panel %d %q, query %s", p.ID, p.Title, q.RefID), q.Expr})
		}
	}
	for _, a := range b.Annotations.List {
		out = append(out, located{"annotation " + a.Name, a.Expr})
	}
	selector := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	for _, v := range b.Templating.List {
		if v.Type != "query" {
			continue
		}
		text := v.Query.(map[string]any)["query"].(string)
		m := selector.FindStringSubmatch(text)
		if m == nil || m[2] != v.Name {
			t.Fatalf("variable %s does not list the values of its label: %s", v.Name, text)
		}
		out = append(out, located{"variable " + v.Name, m[1]})
	}
	return out
}

func parse(t *testing.T, q located) parser.Expr {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(grafana.Replace(q.expr))
	if err != nil {
		t.Fatalf("%s: %v", q.where, err)
	}
	return expr
}

// inspect calls see with every selector of expr and the nodes around it, the outermost first.
func inspect(expr parser.Expr, see func(s *parser.VectorSelector, around []parser.Node)) {
	parser.Inspect(expr, func(n parser.Node, around []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			see(s, around)
		}
		return nil
	})
}

// function returns the function that is applied to a range selector, and the range, or ""
// for other selectors.
func function(around []parser.Node) (string, time.Duration) {
	if len(around) < 2 {
		return "", 0
	}
	m, ok := around[len(around)-1].(*parser.MatrixSelector)
	if !ok {
		return "", 0
	}
	call, ok := around[len(around)-2].(*parser.Call)
	if !ok {
		return "", 0
	}
	return call.Func.Name, m.Range
}

func TestBoardQueriesKeepToTheChoices(t *testing.T) {
	for _, q := range boardQueries(t) {
		inspect(parse(t, q), func(s *parser.VectorSelector, _ []parser.Node) {
			want := map[string][]string{"job": {"JOB"}, "instance": {"INSTANCE"}}
			if s.Name == "ALERTS" { // some alerts have no instance, or no job
				want = map[string][]string{"job": {"JOB|"}, "instance": {"INSTANCE|"}, "kind": {"KIND|"}}
			}
			switch q.where { // these are the choices
			case "variable job":
				want = nil
			case "variable instance":
				delete(want, "instance")
			}
			if known := metrics(t)[s.Name]; slices.Contains(known, "kind") && s.Name != "ALERTS" && q.where != "variable kind" &&
				!slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == "kind" && m.Value == "none" || m.Name == "sender" }) {
				want["kind"] = []string{"KIND"}
			} else if slices.Contains(known, "index") && s.Name != "ALERTS" {
				want["index"] = []string{".*KIND"}
			}
			for label, values := range want {
				if !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool {
					return m.Name == label && m.Type == labels.MatchRegexp && slices.Contains(values, m.Value)
				}) {
					t.Errorf("%s: %s does not keep to the chosen %s", q.where, s, label)
				}
			}
		})
	}
}

// A rate over a fixed window has gaps or misses peaks when the time range changes; a raw
// counter falls to 0 with every restart.
func TestBoardQueriesUseRatesRightly(t *testing.T) {
	for _, q := range boardQueries(t) {
		inspect(parse(t, q), func(s *parser.VectorSelector, around []parser.Node) {
			name, window := function(around)
			if (name == "rate" || name == "irate" || name == "deriv") && window != rateInterval {
				t.Errorf("%s: %s is not over $__rate_interval", q.where, name)
			}
			if isCounter(s.Name) && name != "rate" && name != "increase" && !strings.HasPrefix(q.where, "variable") {
				t.Errorf("%s: the counter %s is not under rate or increase", q.where, s.Name)
			}
			if !isCounter(s.Name) && (name == "rate" || name == "increase") {
				t.Errorf("%s: %s is no counter, and is under %s", q.where, s.Name, name)
			}
		})
	}
}

// isCounter reports whether name is that of a counter by Prometheus' conventions.
func isCounter(name string) bool {
	return slices.ContainsFunc([]string{"_total", "_bucket", "_count", "_sum"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// Legends only show labels that the query keeps.
func TestBoardLegends(t *testing.T) {
	used := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, p := range board(t).graphs() {
		for _, q := range p.Targets {
			left := labelsOf(t, parse(t, located{p.Title, q.Expr}))
			for _, m := range used.FindAllStringSubmatch(q.LegendFormat, -1) {
				if !slices.Contains(left, m[1]) {
					t.Errorf("%q: the legend %q has the label %s; the query leaves %v", p.Title, q.LegendFormat, m[1], left)
				}
			}
		}
	}
}

// Queries, which other tests send to a real Prometheus, returns the queries of the dashboard.
func TestQueriesAreThoseOfTheBoard(t *testing.T) {
	listed := map[string]bool{}
	for _, q := range dashboards.Queries(dashboards.Values{Job: "JOB", Instance: "INSTANCE", Kind: "KIND", Window: "11m"}) {
		listed[strings.ReplaceAll(q.Expr, "13h", "11m")] = true
		if left := strings.ReplaceAll(q.Expr, "@ end()", ""); strings.ContainsAny(left, "$@") {
			t.Errorf("%s: a variable is left in %s", q.Title, q.Expr)
		}
	}
	for _, q := range boardQueries(t) {
		if expr := strings.ReplaceAll(grafana.Replace(q.expr), "13h", "11m"); !listed[expr] {
			t.Errorf("%s is not listed: %s", q.where, expr)
		}
	}
}
