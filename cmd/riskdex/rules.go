package main

import (
	"fmt"
	"strings"

	"riskdex"
	"riskdex/internal/address"
)

type rulesCommand struct {
	RunbookURL   string `name:"runbook-url" placeholder:"URL" help:"Where docs/operations.md can be read, such as https://riskdex.example/runbook, which serve shows at --admin-listen."`
	DashboardURL string `name:"dashboard-url" placeholder:"URL" help:"Grafana, with its path prefix."`
	Kubernetes   bool   `name:"kubernetes" help:"As a PrometheusRule of the Prometheus operator."`
}

// Run prints the rules with links that lead somewhere from wherever an alert is read.
func (c *rulesCommand) Run(io streams) error {
	rules := riskdex.Rules
	for _, link := range []struct{ flag, url, from, to string }{
		{"--runbook-url", c.RunbookURL, "runbook_url: docs/operations.md#", "#"},
		{"--dashboard-url", c.DashboardURL, "dashboard_url: /", "/"},
	} {
		if link.url == "" {
			continue
		}
		u, err := address.Parse(link.url, "https://riskdex.example/runbook")
		if err != nil {
			return fmt.Errorf("%s: %w", link.flag, err)
		}
		name, _, _ := strings.Cut(link.from, " ")
		rules = strings.ReplaceAll(rules, link.from, name+" "+u.String()+link.to)
	}
	if c.Kubernetes {
		_, groups, _ := strings.Cut(rules, "\ngroups:\n")
		rules = "# Made by: riskdex rules --kubernetes\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n" +
			"metadata:\n  name: riskdex\n  labels: {app.kubernetes.io/name: riskdex}\nspec:\n  groups:\n" +
			strings.ReplaceAll(strings.ReplaceAll("  "+strings.TrimSuffix(groups, "\n"), "\n", "\n  "), "\n  \n", "\n\n") + "\n"
	}
	_, err := fmt.Fprint(io.out, rules)
	return err
}
