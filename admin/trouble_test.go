package admin_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// tableIn returns the rows of the table of docs/operations.md that begins with a header.
func tableIn(t *testing.T, header string) (rows []string) {
	t.Helper()
	runbook, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(runbook), "\n"+header+"\n")
	if !found {
		t.Fatalf("docs/operations.md has no table with the header %s", header)
	}
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		rows = append(rows, strings.TrimSpace(line))
	}
	return rows[1:]
}

// TestRunbookHasEveryTrouble compares the table in docs/operations.md with the causes.
func TestRunbookHasEveryTrouble(t *testing.T) {
	var want []string
	for _, c := range admin.Causes() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %g s | %s | [%s](#%s) | %s |",
			c.Name, c.Severity, c.Within.Seconds(), c.Message, c.Alert, strings.ToLower(c.Alert), c.Remedy))
	}
	if got := tableIn(t, "| trouble | severity | said within | what status says | alert | what to do |"); !slices.Equal(got, want) {
		t.Errorf("docs/operations.md has\n%s\nand the table is to be\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRunbookHasEveryReasonOfAHeldIndex compares the remedies for each reason.
func TestRunbookHasEveryReasonOfAHeldIndex(t *testing.T) {
	rows := tableIn(t, "| reason | the index | what to do |")
	for _, reason := range admin.HeldReasons() {
		is, remedy := admin.Held(reason)
		if want := fmt.Sprintf("| `%s` | %s | %s |", reason, is, remedy); !slices.Contains(rows, want) {
			t.Errorf("docs/operations.md lacks the row\n%s", want)
		}
	}
	if len(rows) != len(admin.HeldReasons())+1 { // one more is another_journal, which is a trouble of its own
		t.Errorf("docs/operations.md has %d reasons", len(rows))
	}
}

// alert is a rule of dashboards/rules.yml.
type alert struct {
	Alert  string            `yaml:"alert"`
	Expr   string            `yaml:"expr"`
	For    string            `yaml:"for"`
	Labels map[string]string `yaml:"labels"`
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text, err := os.ReadFile("../dashboards/rules.yml")
	require.NoError(t, err)
	var rules struct {
		Groups []struct {
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	require.NoError(t, yaml.Unmarshal(text, &rules))
	for _, g := range rules.Groups {
		all = append(all, g.Rules...)
	}
	return slices.DeleteFunc(all, func(a alert) bool { return a.Alert == "" }) // what is only recorded
}

var (
	windowOf  = regexp.MustCompile(`(?:increase|rate|changes|delta|predict_linear|m(?:in|ax)_over_time)\([a-z][^[]*\[(\w+)\]`)
	limitOf   = regexp.MustCompile(`(?m)^\s*(?:\)|\S*_seconds(?::max)?) > (\d+)$`)
	nothingIn = regexp.MustCompile(`\[\w+\]\)+ (?:==|>=) 0`)
)

// windows returns how long the alert looks back: for that nothing happened, which has to last as long
// before it fires, and for what happened, which may outlast its cause as long. Of several conditions that
// one ends first which looks back least. What silences an alert does not count.
func (a alert) windows(t *testing.T) (before, after time.Duration) {
	t.Helper()
	own, _, _ := strings.Cut(a.Expr, "unless")
	for one := range strings.SplitSeq(own, "\n  or ") {
		var shortest time.Duration
		for _, m := range windowOf.FindAllStringSubmatch(one, -1) {
			d, err := time.ParseDuration(m[1])
			require.NoError(t, err)
			if shortest == 0 || d < shortest {
				shortest = d
			}
		}
		if nothingIn.MatchString(one) {
			before = max(before, shortest)
		} else {
			after = max(after, shortest)
		}
	}
	return before, after
}

// TestRunbookSaysHowLongItTakes compares the table of times with what they follow from: how often
// riskdex looks, the rules, and the intervals of dashboards/prometheus.yml.
func TestRunbookSaysHowLongItTakes(t *testing.T) {
	text, err := os.ReadFile("../dashboards/prometheus.yml")
	require.NoError(t, err)
	var config struct {
		Global struct {
			Scrape   time.Duration `yaml:"scrape_interval"`
			Evaluate time.Duration `yaml:"evaluation_interval"`
		} `yaml:"global"`
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	ends := map[string]time.Duration{ // how long status goes on with what is over, where it is not as long as it takes to see it
		admin.TroubleClusters: report.TurnsLast, admin.TroubleRefusing: admin.RefusedBound, admin.TroubleTurnedAway: admin.FailedBound, admin.TroubleUnknownCalls: admin.UnknownCallsEnd,
		admin.TroubleNotSearchable: admin.LookEvery, admin.TroubleKindHeld: time.Second, admin.TroubleLag: time.Second, admin.TroubleLogUnread: time.Second, admin.TroubleNotFollowing: time.Second,
	}
	var want []string
	for _, a := range alerts(t) {
		var names []string
		var told, over time.Duration
		for _, c := range admin.Causes() {
			if c.Alert == a.Alert && string(c.Severity) == a.Labels["severity"] {
				names = append(names, "`"+c.Name+"`")
				end, known := ends[c.Name]
				if !known {
					end = c.Within
				}
				told, over = max(told, c.Within), max(over, end)
			}
		}
		fires := told
		if m := limitOf.FindStringSubmatch(a.Expr); m != nil && m[1] != "0" {
			limit, err := time.ParseDuration(m[1] + "s")
			require.NoError(t, err)
			fires = max(fires, limit)
		}
		wait := time.Duration(0)
		if a.For != "" {
			wait, err = time.ParseDuration(a.For)
			require.NoError(t, err)
		}
		look := config.Global.Scrape + config.Global.Evaluate
		before, after := a.windows(t)
		status := "– | – | –"
		if len(names) > 0 {
			status = fmt.Sprintf("%s | %s | %s", strings.Join(names, ", "), short(told), short(over))
		}
		want = append(want, fmt.Sprintf("| [%s](#%s) | %s | %s | %s | %s |", a.Alert, strings.ToLower(a.Alert), a.Labels["severity"], status, short(before+fires+wait+look), short(max(over, after)+look)))
	}
	if got := tableIn(t, "| alert | severity | status says | within | no longer after | alert fires within | clears within |"); !slices.Equal(got, want) {
		t.Errorf("docs/operations.md has\n%s\nand the table is to be\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var zeros = regexp.MustCompile(`([mh])0[ms]`)

// short returns a duration without what is zero in it.
func short(d time.Duration) string {
	return zeros.ReplaceAllString(zeros.ReplaceAllString(d.String(), "$1"), "$1")
}

// TestEveryTroubleHasItsAlert checks that a trouble has an alert of its severity, and that
// every alert is of a trouble, or of what status cannot know or need not say.
func TestEveryTroubleHasItsAlert(t *testing.T) {
	known := map[string]bool{} // an alert and one of its severities
	for _, r := range alerts(t) {
		known[r.Alert+" "+r.Labels["severity"]] = true
	}
	unsaid := maps.Clone(known)
	sentence := regexp.MustCompile(`^[A-Z].*\.$`)
	for _, c := range admin.Causes() {
		alert := c.Alert + " " + string(c.Severity)
		if !known[alert] {
			t.Errorf("%s has no alert %s", c.Name, alert)
		}
		if !sentence.MatchString(c.Message) || !sentence.MatchString(strings.TrimPrefix(c.Remedy, "{what to do, by reason}. ")) && !strings.HasPrefix(c.Remedy, "`riskdex") || c.Within <= 0 {
			t.Errorf("%s: %q, %q, within %v", c.Name, c.Message, c.Remedy, c.Within)
		}
		delete(unsaid, alert)
	}
	// What status does not say, and why.
	for alert, why := range map[string]string{
		"RiskdexDown critical":               "nobody is there who could say it",
		"RiskdexDown warning":                "each process knows only itself",
		"RiskdexRestarting warning":          "each process knows only itself",
		"RiskdexLagging critical":            "status says of the same since when",
		"RiskdexElasticsearchAway warning":   "status of that process says it of Elasticsearch or of its indices",
		"RiskdexRebuildStuck warning":        "status shows how far the rebuild is",
		"RiskdexUnaccounted critical":        "only sums over time show it",
		"RiskdexJournalDiskFilling warning":  "it is a forecast",
		"RiskdexJournalDiskFilling critical": "status says so where deliveries are not accepted",
		"RiskdexJournalNearLimit warning":    "it is a forecast",
		"RiskdexJournalNearLimit critical":   "status says so where deliveries are not accepted",
		"RiskdexJournalSlow warning":         "it compares over time",
	} {
		if _, ok := unsaid[alert]; !ok {
			t.Errorf("%s is no alert, or one that status says, although %s", alert, why)
		}
		delete(unsaid, alert)
	}
	for alert := range unsaid {
		t.Errorf("status does not say what %s tells, and nothing says why not", alert)
	}
}
