package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
)

// TestRulesCommand: every link of an alert leads to the addresses that are given, and nothing else
// of the rules changes.
func TestRulesCommand(t *testing.T) {
	plain, err := os.ReadFile("../../dashboards/rules.yml")
	require.NoError(t, err)
	for _, args := range [][]string{nil, {"--runbook-url", "https://r.example/runbook/", "--dashboard-url", "https://g.example/grafana"}} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), append([]string{"rules"}, args...), streams{&out, &errs}); status != exitDone {
			t.Fatalf("exit status %d: %s", status, errs.String())
		}
		rules := out.String()
		if args != nil {
			alerts := strings.Count(rules, "- alert:")
			for link, was := range map[string]string{"runbook_url: https://r.example/runbook#": "runbook_url: docs/operations.md#", "dashboard_url: https://g.example/grafana/d/": "dashboard_url: /d/"} {
				if n := strings.Count(rules, link); n != alerts {
					t.Errorf("%d of %d alerts have the link %s", n, alerts, link)
				}
				rules = strings.ReplaceAll(rules, link, was)
			}
		}
		if rules != string(plain) {
			t.Errorf("%v changed something else:\n%s", args, rules)
		}
	}
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"rules", "--runbook-url", "r.example"}, streams{&out, &errs}); status != exitFailed || !strings.Contains(errs.String(), "--runbook-url") {
		t.Errorf("an address without http:// has exit status %d, %s", status, errs.String())
	}
}
