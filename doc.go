// Package riskdex has the files of the repository that the program carries.
package riskdex

import _ "embed"

// Operations is the runbook, in Markdown. Rules are the rules for Prometheus.
var (
	//go:embed docs/operations.md
	Operations string
	//go:embed dashboards/rules.yml
	Rules string
)
