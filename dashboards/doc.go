// Package dashboards is what operators watch riskdex with: the Grafana
// dashboard, the Prometheus rules, and what compose needs to show them.
//
// The dashboard is defined here in Go, a file for each of its rows. riskdex.json
// is made from it by
//
//	go generate ./dashboards
//
// and a test fails while the two differ. Do not edit the JSON, and do not save
// it from Grafana: change the definition. rules.yml is written by hand.
//
// Dashboard, rules and the runbook docs/operations.md name each other: an alert
// its panel and its section, a panel its alerts. Tests hold them together, and
// every query to the metrics that docs/metrics.md lists.
package dashboards

//go:generate go run ./generate
