package dashboards

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// globals returns the metrics that are the same from every instance of a job, according to
// the table in docs/metrics.md, and the recorded one that is derived only from such.
func globals(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{"job_instance_kind:riskdex_changes_unaccounted:diff": true}
	scope := regexp.MustCompile("(?m)^\\| `(riskdex_[a-z_]+)` \\| [a-z]+ \\| (global|local) \\|")
	for _, m := range scope.FindAllStringSubmatch(string(read(t, "../docs/metrics.md")), -1) {
		if m[2] == "global" {
			out[m[1]] = true
		}
	}
	if len(out) < 10 {
		t.Fatalf("the scopes in docs/metrics.md cannot be read: %v", out)
	}
	return out
}

// With several processes on a journal, nothing is counted twice and nothing is left out:
// global metrics are taken once, and local ones added up.
func TestNothingIsCountedTwice(t *testing.T) {
	instances := map[string]string{ // queries about each instance by itself, and why
		"rule job_instance_kind:riskdex_changes_unaccounted:diff": "what is compared must be from one scrape",
		"rule RiskdexJournalUnreadable":                           "which instance lacks them",
		"rule RiskdexJournalDiskFilling":                          "only a journal of one process knows its disk",
		"rule RiskdexClockOff":                                    "each goes by the clock of its own machine",
	}
	global, seen := globals(t), map[string]bool{}
	for _, q := range everyQuery(t) {
		inspect(parse(t, q), func(s *parser.VectorSelector, around []parser.Node) {
			if strings.HasPrefix(q.where, "variable") {
				return
			}
			op, over := aggregation(around)
			switch {
			case instances[q.where] != "":
				seen[q.where] = true
			case global[s.Name]:
				if slices.Contains(over, "instance") || !slices.Contains(over, "job") && op != "max" ||
					op != "max" && op != "min" && s.Name != "riskdex_processes" {
					t.Errorf("%s: %s is the same from each instance, and is under %q by %q", q.where, s.Name, op, over)
				}
			case strings.HasPrefix(s.Name, "riskdex_") && isCounter(s.Name) && op != "sum" && op != "":
				t.Errorf("%s: %s is of one instance, and is under %q", q.where, s.Name, op)
			}
		})
	}
	for where := range instances {
		if !seen[where] {
			t.Errorf("there is no %s", where)
		}
	}
}

// aggregation returns the innermost aggregation around a selector, and the labels that it
// keeps.
func aggregation(around []parser.Node) (op string, labels []string) {
	for _, n := range slices.Backward(around) {
		if a, ok := n.(*parser.AggregateExpr); ok {
			return a.Op.String(), a.Grouping
		}
	}
	return "", nil
}

// Alerts that can be about one instance while the others are well name that instance. All
// other alerts are raised once, however many instances there are.
func TestAlertsAreRaisedOnce(t *testing.T) {
	want := []string{
		"RiskdexClockOff warning", "RiskdexElasticsearchAway warning", "RiskdexJournalDiskFilling critical", "RiskdexJournalDiskFilling warning",
		"RiskdexJournalSlow warning", "RiskdexJournalUnreadable critical", "RiskdexLogUnread warning", "RiskdexRestarting warning",
	}
	var got []string
	for name, r := range alerts(t) {
		if slices.Contains(labelsOf(t, parse(t, located{name, r.Expr})), "instance") {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("of instances are\n%q, want\n%q", got, want)
	}
}
