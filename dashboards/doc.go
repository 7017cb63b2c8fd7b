// Package dashboards has what operators watch riskdex with: the Grafana dashboard, the
// Prometheus rules, and what compose needs to show them.
//
// The dashboard is defined here in Go, with one file per row. riskdex.json is generated
// from it by
//
//	go generate ./dashboards
//
// and a test fails while the two differ. Do not edit the JSON, and do not save it from
// Grafana: change the definition. rules.yml is written by hand.
//
// The dashboard, the rules and the runbook docs/operations.md refer to each other: an alert
// to its panel and its section, a panel to its alerts. Tests check these references, and
// that every query uses metrics that docs/metrics.md lists.
package dashboards

//go:generate go run ./generate
