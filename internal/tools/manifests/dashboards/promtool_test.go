package dashboards

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"riskdex/internal/testkit/needs"

	"go.yaml.in/yaml/v3"
)

// promtool runs Prometheus' own tool.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	path := needs.Program(t, "promtool", "apt-get install prometheus")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, path, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
}

func TestPromtoolTakesTheRules(t *testing.T) { promtool(t, "check", "rules", "rules.yml") }

func TestAlertsFireAndClear(t *testing.T) {
	for _, path := range ruleTests(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { promtool(t, "test", "rules", path) })
	}
}

func ruleTests(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("rulestest/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tests of the rules: %v", err)
	}
	return paths
}

// For every alert there is a test in which it is quiet, then fires, and is quiet again, and
// one in which it fires with two instances.
func TestEveryAlertIsTested(t *testing.T) {
	firing := regexp.MustCompile(`ALERTS\{alertname="(\w+)"(?:,severity="(\w+)")?(,alertstate="firing")?\}`)
	known := alerts(t)
	instance := regexp.MustCompile(`instance="[^"]+"`)
	alone := []string{"RiskdexJournalDiskFilling critical", "RiskdexJournalDiskFilling warning"} // cannot be about two instances
	type state struct{ quiet, fired, cleared, shared bool }
	seen := map[string]state{}
	for _, path := range ruleTests(t) {
		var f struct {
			Tests []struct {
				InputSeries    []struct{ Series string } `yaml:"input_series"`
				PromqlExprTest []struct {
					Expr       string
					ExpSamples []any `yaml:"exp_samples"`
				} `yaml:"promql_expr_test"`
			}
		}
		if err := yaml.Unmarshal(read(t, path), &f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, test := range f.Tests {
			here, instances := map[string]state{}, map[string]bool{}
			for _, s := range test.InputSeries {
				instances[instance.FindString(s.Series)] = true
			}
			for _, look := range test.PromqlExprTest {
				m := firing.FindStringSubmatch(look.Expr)
				if m == nil {
					continue
				}
				name := m[1] + " " + m[2]
				if m[2] == "" { // of the only severity
					name = m[1] + " warning"
					if _, is := known[name]; !is {
						name = m[1] + " critical"
					}
				}
				s := here[name]
				switch {
				case len(look.ExpSamples) > 0 && m[3] != "": // firing, and not only pending
					s.fired, s.shared = s.quiet, len(instances) > 1
				case len(look.ExpSamples) == 0 && s.fired:
					s.cleared = true
				case len(look.ExpSamples) == 0:
					s.quiet = true
				}
				here[name] = s
			}
			for name, s := range here {
				seen[name] = state{true, seen[name].fired || s.fired, seen[name].cleared || s.cleared, seen[name].shared || s.shared}
			}
		}
	}
	for name := range known {
		if s := seen[name]; !s.fired || !s.cleared {
			t.Errorf("%s: a test has seen it quiet and then fire: %t, and clear after that: %t", name, s.fired, s.cleared)
		}
		if !seen[name].shared && !slices.Contains(alone, name) {
			t.Errorf("%s: no test has seen it fire where two instances share a journal", name)
		}
	}
}
