package dashboards

import "strings"

// selectors replaces `@…` in a query. Queries about content leave out the probe, which is
// riskdex's own and has panels of its own.
var selectors = strings.NewReplacer(
	"@ end()", "@ end()", // PromQL's own: the value at the end of the time range
	"@every", `job=~"$job", instance=~"$instance", kind=~"$kind"`,
	"@kind", `job=~"$job", instance=~"$instance", kind=~"$kind", kind!="probe"`,
	"@index", `job=~"$job", instance=~"$instance", index=~".*$kind"`,
	"@", `job=~"$job", instance=~"$instance"`,
)

// Query is one query of the dashboard.
type Query struct {
	Panel  int    // id, 0 for the dashboard's own variables and annotations
	Title  string // of the panel, or the name of the variable or annotation
	Legend string // as Grafana writes it, with {{label}}
	Expr   string // PromQL
	Open   bool   // whether its panel is visible when the dashboard is loaded
}

// Values are the values of the dashboard's variables in a query. Empty ones have the value
// of a freshly loaded dashboard: everything, over five minutes.
type Values struct {
	Job, Instance, Kind string // regular expressions
	Window              string // of a rate or an increase, such as "5m"
}

// Queries returns every query of the dashboard with its variables replaced, as Prometheus
// accepts it. The query of a variable is the selector whose label values it lists.
func Queries(v Values) []Query {
	replace := v.replacer()
	var out []Query
	add := func(panel int, title, legend, expr string, open bool) {
		out = append(out, Query{panel, title, legend, replace.Replace(expr), open})
	}
	for _, v := range kindsOfSeries() {
		add(0, v.name, "", v.selector, false)
	}
	for _, a := range marks() {
		add(0, a.name, a.text, a.expr, false)
	}
	for _, r := range rows() {
		for _, p := range r.panels {
			for _, q := range p.queries {
				add(p.id, p.title, q.legend, selectors.Replace(q.expr), r.open)
			}
		}
	}
	return out
}

func (v Values) replacer() *strings.Replacer {
	or := func(value, otherwise string) string {
		if value == "" {
			return otherwise
		}
		return value
	}
	window := or(v.Window, "5m")
	return strings.NewReplacer(
		"$__rate_interval", window, "$__interval", window, "$__range", window,
		"$job", or(v.Job, everything), "$instance", or(v.Instance, everything), "$kind", or(v.Kind, everything),
	)
}

// everything is the regular expression for the choice "All" of a variable: it matches every
// series that has the label.
const everything = ".+"

// variable is a choice among the values of a label that the dashboard offers.
type variable struct {
	name, label string
	selector    string // the series that have the label
}

// kindsOfSeries returns the variables. Each offers the values that the choices before it
// leave, from metrics that every riskdex has at all times.
func kindsOfSeries() []variable {
	return []variable{
		{"job", "Job", `riskdex_elasticsearch_up`},
		{"instance", "Instance", `riskdex_elasticsearch_up{job=~"$job"}`},
		{"kind", "Kind", `riskdex_bulk_seconds_count{job=~"$job", instance=~"$instance", kind!="probe"}`},
	}
}

// mark is an event that is drawn in every panel as a vertical line, or as a band if it lasts.
type mark struct {
	name, text, expr, color string
}

func marks() []mark {
	// No warnings among the alerts: one may fire for days, and would colour everything.
	return []mark{
		{"Alerts", "{{alertname}} {{kind}}{{index}}", `ALERTS{alertname=~"Riskdex.+", alertstate="firing", severity="critical", job=~"$job|", instance=~"$instance|", kind=~"$kind|"}`, bad},
		{"Holds", "{{index}} is held: {{reason}}", selectors.Replace(`max by (index, reason) (riskdex_held{@index}) == 1`), warning},
		// The gauge shows rebuilds that last longer than the scrape interval.
		{"Rebuilds", "Rebuild of {{kind}} {{outcome}}", selectors.Replace(`max by (kind) (riskdex_rebuild_active{@kind}) == 1 or sum by (kind, outcome) (increase(riskdex_rebuilds_total{@kind}[2m])) > 0`), notice},
		{"Starts", "{{instance}} started", `changes(process_start_time_seconds{job=~"$job", instance=~"$instance"}[2m]) > 0`, neutral},
	}
}
