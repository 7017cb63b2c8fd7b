package dashboards

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"riskdex/dashboards"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []rule
	}
}

type rule struct {
	Record, Alert, Expr string
	For                 string
	Labels, Annotations map[string]string
}

func rules(t *testing.T) ruleFile {
	t.Helper()
	var f ruleFile
	if err := yaml.Unmarshal(read(t, "rules.yml"), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// alerts returns the rules that alert, by name and severity: one that becomes worse has two.
func alerts(t *testing.T) map[string]rule {
	t.Helper()
	out := map[string]rule{}
	for _, g := range rules(t).Groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			name := r.Alert + " " + r.Labels["severity"]
			if _, twice := out[name]; twice {
				t.Errorf("the alert %s is there twice", name)
			}
			out[name] = r
		}
	}
	if len(out) == 0 {
		t.Fatal("rules.yml has no alerts")
	}
	return out
}

// runbookSections returns the anchors of the headings of docs/operations.md.
func runbookSections(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(read(t, "../docs/operations.md")), -1) {
		anchor := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		anchor = strings.ReplaceAll(anchor, " ", "-")
		if out[anchor] {
			t.Errorf("docs/operations.md has two sections %q", anchor)
		}
		out[anchor] = true
	}
	return out
}

func TestAlertsAreComplete(t *testing.T) {
	sections := runbookSections(t)
	pointing, named := map[string][]int{}, map[string]bool{} // from an alert to the panels that name it
	for _, p := range board(t).graphs() {
		for _, l := range p.Links {
			if alert, ok := strings.CutPrefix(l.Title, "Runbook: "); ok {
				pointing[alert] = append(pointing[alert], p.ID)
			}
		}
	}
	for name, r := range alerts(t) {
		if !strings.HasPrefix(name, "Riskdex") || !slices.Contains([]string{"critical", "warning"}, r.Labels["severity"]) {
			t.Errorf("%s: want a name that begins with Riskdex, and the severity critical or warning; got %q", name, r.Labels["severity"])
		}
		if r.Annotations["summary"] == "" || !strings.HasSuffix(r.Annotations["description"], ".") {
			t.Errorf("%s has no summary, or no description in sentences", name)
		}
		if got := r.Annotations["runbook_url"]; got != "docs/operations.md#"+dashboards.Section(r.Alert) || !sections[dashboards.Section(r.Alert)] {
			t.Errorf("%s: docs/operations.md has no section for it, or runbook_url is another: %q", name, got)
		}
		id, err := strconv.Atoi(r.Annotations["__panelId__"])
		if err != nil || !slices.Contains(pointing[r.Alert], id) || r.Annotations["__dashboardUid__"] != dashboards.UID {
			t.Errorf("%s points to panel %q of %q; of the panels %d say that the alert is theirs", name,
				r.Annotations["__panelId__"], r.Annotations["__dashboardUid__"], pointing[r.Alert])
		}
		panel := fmt.Sprintf("/d/%s/riskdex?viewPanel=%d", dashboards.UID, id)
		if !strings.HasPrefix(r.Annotations["dashboard_url"]+"&", panel+"&") {
			t.Errorf("%s: dashboard_url %q is not %q", name, r.Annotations["dashboard_url"], panel)
		}
		named[r.Alert] = true
	}
	for name := range pointing {
		if !named[name] {
			t.Errorf("a panel points to the alert %s, which does not exist", name)
		}
	}
}

// The runbook says what each alert means, where to look, and what to do.
func TestRunbookSaysWhatToDo(t *testing.T) {
	sections := map[string]string{}
	for section := range strings.SplitSeq(string(read(t, "../docs/operations.md")), "\n### ") {
		title, text, _ := strings.Cut(section, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		sections[title] = text
	}
	for _, r := range alerts(t) {
		name := r.Alert
		text, ok := sections[name]
		if !ok {
			t.Errorf("docs/operations.md has no section %s", name)
		}
		for _, part := range [][]string{{"**Means:**"}, {"**Look:**", "**Look and do:**"}, {"**Do:**", "**Do**, by reason:", "**Look and do:**"}} {
			if !slices.ContainsFunc(part, func(p string) bool { return strings.Contains(text, "\n"+p+" ") || strings.Contains(text, "\n"+p+"\n") }) {
				t.Errorf("docs/operations.md, %s: no paragraph begins with %s", name, part[0])
			}
		}
	}
}

// The runbook has no sections for alerts that do not exist.
func TestRunbookKnowsNoOtherAlerts(t *testing.T) {
	known := map[string]bool{}
	for _, r := range alerts(t) {
		known[dashboards.Section(r.Alert)] = true
	}
	for section := range runbookSections(t) {
		if strings.HasPrefix(section, "riskdex") && !known[section] {
			t.Errorf("docs/operations.md has a section %q, and no alert is called so", section)
		}
	}
}

// The templates of an alert's texts are valid, and use only labels that it has.
func TestAlertTexts(t *testing.T) {
	nothing := func(v any) string { return "x" }
	type sample struct{ Labels map[string]string }
	functions := template.FuncMap{
		"humanize": nothing, "humanize1024": nothing, "humanizeDuration": nothing, "humanizePercentage": nothing,
		"query": func(expr string) []sample {
			one := sample{map[string]string{}}
			for _, label := range labelsOf(t, parse(t, located{expr, expr})) {
				one.Labels[label] = "x"
			}
			return []sample{one, one}
		},
		"sortByLabel": func(_ string, all []sample) []sample { return all },
	}
	for name, r := range alerts(t) {
		labels := map[string]string{}
		for _, label := range labelsOf(t, parse(t, located{name, r.Expr})) {
			labels[label] = "x"
		}
		for part, text := range r.Annotations {
			tmpl, err := template.New(name).Option("missingkey=error").Funcs(functions).
				Parse(`{{$labels := .Labels}}{{$value := .Value}}` + text)
			if err == nil {
				err = tmpl.Execute(io.Discard, map[string]any{"Labels": labels, "Value": math.Pi})
			}
			if err != nil {
				t.Errorf("%s: %s: %v; it has the labels %v", name, part, err, slices.Sorted(maps.Keys(labels)))
			}
		}
		u, err := url.Parse(r.Annotations["dashboard_url"])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for variable := range u.Query() {
			if variable != "viewPanel" && !slices.Contains([]string{"var-job", "var-instance", "var-kind"}, variable) {
				t.Errorf("%s: the dashboard has no choice %q", name, variable)
			}
		}
	}
}

// The threshold of an alert is drawn in its panel.
func TestAlertsAndPanelsHaveTheSameLimits(t *testing.T) {
	drawn := map[string][]float64{}
	for _, p := range board(t).graphs() {
		for _, s := range p.FieldConfig.Defaults.Thresholds.Steps[1:] {
			drawn[strconv.Itoa(p.ID)] = append(drawn[strconv.Itoa(p.ID)], *s.Value)
		}
	}
	checked := 0
	for name, r := range alerts(t) {
		expr, ok := outermost(parse(t, located{name, r.Expr})).(*parser.BinaryExpr)
		if !ok || !expr.Op.IsComparisonOperator() {
			continue
		}
		n, ok := expr.RHS.(*parser.NumberLiteral)
		if !ok || n.Val == 0 { // for a threshold of 0, the panel may draw any
			continue
		}
		checked++
		if !slices.Contains(drawn[r.Annotations["__panelId__"]], n.Val) {
			t.Errorf("%s fires at %v, and its panel draws %v", name, n.Val, drawn[r.Annotations["__panelId__"]])
		}
	}
	if checked < 10 {
		t.Errorf("only %d alerts have a limit that could be compared", checked)
	}
}

// outermost descends the left sides of and, or and unless.
func outermost(expr parser.Expr) parser.Expr {
	for {
		switch e := expr.(type) {
		case *parser.ParenExpr:
			expr = e.Expr
		case *parser.BinaryExpr:
			if !e.Op.IsSetOperator() {
				return e
			}
			expr = e.LHS
		default:
			return e
		}
	}
}

// A short gap in the scrapes, or one bad answer, must wake nobody: an alert either waits,
// or covers a window by itself.
func TestAlertsWait(t *testing.T) {
	for name, r := range alerts(t) {
		if r.For != "" {
			if d, err := time.ParseDuration(r.For); err != nil || d < time.Minute {
				t.Errorf("%s waits for %q", name, r.For)
			}
			continue
		}
		window := time.Duration(0)
		inspect(parse(t, located{name, r.Expr}), func(_ *parser.VectorSelector, around []parser.Node) {
			_, over := function(around)
			window = max(window, over)
		})
		if window < 10*time.Minute {
			t.Errorf("%s fires at once, and looks back over %v only", name, window)
		}
	}
}

func TestRulesUseRatesRightly(t *testing.T) {
	for _, g := range rules(t).Groups {
		for _, r := range g.Rules {
			name := r.Record + r.Alert
			inspect(parse(t, located{name, r.Expr}), func(s *parser.VectorSelector, around []parser.Node) {
				over, _ := function(around)
				if !isCounter(s.Name) || over == "rate" || over == "increase" {
					return
				}
				switch name {
				case "job_instance_kind:riskdex_changes_unaccounted:diff": // compares values of one scrape
				default:
					t.Errorf("%s: the counter %s is not under rate or increase", name, s.Name)
				}
			})
		}
	}
}

// The log messages that the runbook quotes are those that riskdex writes.
func TestRunbookQuotesTheLog(t *testing.T) {
	var code strings.Builder
	for _, folder := range []string{"admin", "cmd/riskdex", "elastic", "indexer", "journal", "mappings", "receiver"} {
		err := filepath.WalkDir("../"+folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				code.Write(read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	quoted := 0
	for line := range strings.Lines(string(read(t, "../docs/operations.md"))) {
		if _, after, ok := strings.Cut(line, "log"); ok {
			for _, m := range regexp.MustCompile("`([a-z][^`]*)`").FindAllStringSubmatch(after, -1) {
				if !strings.Contains(m[1], " ") || strings.HasPrefix(m[1], "riskdex ") && m[1] != "riskdex serves" || strings.HasPrefix(m[1], "curl ") {
					continue // a name or a command
				}
				if !strings.Contains(code.String(), m[1]) {
					t.Errorf("riskdex never logs %q", m[1])
				}
				quoted++
			}
		}
	}
	if quoted < 8 {
		t.Errorf("only %d lines of the log were found in the runbook", quoted)
	}
}

// The inhibitions that the runbook proposes are of existing alerts, and by labels that both
// alerts have: a label that both lack counts as equal, so that all instances of the target
// would be silenced. Where an alert silences itself, as it has become worse, it is by all
// labels that it has.
func TestInhibitionsAreOfAlertsThatExist(t *testing.T) {
	_, text, _ := strings.Cut(string(read(t, "../docs/operations.md")), "```yaml\ninhibit_rules:\n")
	text, _, _ = strings.Cut(text, "```")
	var inhibitions []struct {
		Source []string `yaml:"source_matchers"`
		Target []string `yaml:"target_matchers"`
		Equal  []string
	}
	if err := yaml.Unmarshal([]byte(text), &inhibitions); err != nil || len(inhibitions) == 0 {
		t.Fatalf("docs/operations.md has no inhibitions that can be read: %v", err)
	}
	for _, i := range inhibitions {
		silenced := 0
		for source, s := range matched(t, i.Source) {
			for target, other := range matched(t, i.Target) {
				both := [2][]string{labelsOf(t, parse(t, located{source, s.Expr})), labelsOf(t, parse(t, located{target, other.Expr}))}
				if slices.Contains(i.Equal, "alertname") {
					if s.Alert != other.Alert {
						continue
					}
					for _, label := range slices.Concat(both[0], both[1]) {
						if !slices.Contains(i.Equal, label) {
							t.Errorf("%s silences %s, also where %s differs", source, target, label)
						}
					}
				} else {
					for _, label := range i.Equal {
						if !slices.Contains(both[0], label) || !slices.Contains(both[1], label) {
							t.Errorf("%s silences %s, and one of them lacks %s", source, target, label)
						}
					}
				}
				silenced++
			}
		}
		if silenced == 0 {
			t.Errorf("%q silences nothing", i.Source)
		}
	}
}

// matched returns the alerts that matchers of Alertmanager are about.
func matched(t *testing.T, matchers []string) map[string]rule {
	t.Helper()
	matching := map[string]*regexp.Regexp{}
	for _, m := range matchers {
		parts := regexp.MustCompile(`^(alertname|severity) =~? "?([^"]+)"?$`).FindStringSubmatch(m)
		if parts == nil {
			t.Fatalf("%q is no matcher that this test reads", m)
		}
		matching[parts[1]] = regexp.MustCompile("^(" + parts[2] + ")$")
	}
	if len(matching) != 2 {
		t.Fatalf("%q does not say of which alert and severity", matchers)
	}
	out := alerts(t)
	maps.DeleteFunc(out, func(_ string, r rule) bool {
		return !matching["alertname"].MatchString(r.Alert) || !matching["severity"].MatchString(r.Labels["severity"])
	})
	return out
}
