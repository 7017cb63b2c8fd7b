package admin_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"riskdex/admin"
	"riskdex/internal/require"
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

// TestEveryTroubleHasItsAlert checks that a trouble and its alert have the same severity, and that
// every alert is of a trouble, or of what status cannot know or need not say.
func TestEveryTroubleHasItsAlert(t *testing.T) {
	text, err := os.ReadFile("../dashboards/rules.yml")
	require.NoError(t, err)
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert  string            `yaml:"alert"`
				Labels map[string]string `yaml:"labels"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	require.NoError(t, yaml.Unmarshal(text, &rules))
	severities := map[string]admin.Severity{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			severities[r.Alert] = admin.Severity(r.Labels["severity"])
		}
	}
	unsaid := maps.Clone(severities)
	delete(unsaid, "") // what is only recorded
	sentence := regexp.MustCompile(`^[A-Z].*\.$`)
	for _, c := range admin.Causes() {
		if severities[c.Alert] != c.Severity {
			t.Errorf("%s is %s, and the alert %s is %q", c.Name, c.Severity, c.Alert, severities[c.Alert])
		}
		if !sentence.MatchString(c.Message) || !sentence.MatchString(strings.TrimPrefix(c.Remedy, "{what to do, by reason}. ")) && !strings.HasPrefix(c.Remedy, "`riskdex") || c.Within <= 0 {
			t.Errorf("%s: %q, %q, within %v", c.Name, c.Message, c.Remedy, c.Within)
		}
		delete(unsaid, c.Alert)
	}
	// What status does not say, and why.
	for alert, why := range map[string]string{
		"RiskdexDown":               "nobody is there who could say it",
		"RiskdexAbsent":             "nobody is there who could say it",
		"RiskdexTurnedAway":         "status says so while it lasts, as not_accepting",
		"RiskdexRestarting":         "each process knows only itself",
		"RiskdexProcessesDiffer":    "each process knows only itself",
		"RiskdexLaggingBadly":       "status says of the same since when",
		"RiskdexProbeStopped":       "status says what stops it: the journal, or Elasticsearch",
		"RiskdexCutOff":             "status of that process says it of Elasticsearch or of its indices",
		"RiskdexRebuildStuck":       "status shows how far the rebuild is",
		"RiskdexUnaccounted":        "only sums over time show it",
		"RiskdexJournalDiskFilling": "it is a forecast",
		"RiskdexJournalDiskFull":    "status says so where deliveries are not accepted",
		"RiskdexJournalNearLimit":   "it is a forecast",
		"RiskdexJournalAtLimit":     "status says so where deliveries are not accepted",
		"RiskdexJournalSlow":        "it compares over time",
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
