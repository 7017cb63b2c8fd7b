package dashboards

import "strings"

// selectors writes out what `@…` stands for in a query. What is told of content
// leaves the probe out: it is riskdex's own, and has panels of its own.
var selectors = strings.NewReplacer(
	"@ end()", "@ end()", // of PromQL: as at the end of the time that is shown
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
	Open   bool   // whether its panel is seen when the dashboard is loaded
}

// Values are what the dashboard's variables stand for in a query. Those that
// are empty stand for what a fresh dashboard has: everything, over five
// minutes.
type Values struct {
	Job, Instance, Kind string // regular expressions
	Window              string // of a rate or an increase, such as "5m"
}

// Queries returns every query of the dashboard with its variables replaced, so
// that Prometheus takes it. The queries of variables are the selectors whose
// labels they list.
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

// everything is what the choice "All" of a variable stands for: whatever has
// the label.
const everything = ".+"

// variable is a choice that the dashboard offers: the values of a label.
type variable struct {
	name, label string
	selector    string // the series that have the label
}

// kindsOfSeries are the choices, each from what the ones before it leave. They
// come from metrics that every riskdex has at all times.
func kindsOfSeries() []variable {
	return []variable{
		{"job", "Job", `riskdex_elasticsearch_up`},
		{"instance", "Instance", `riskdex_elasticsearch_up{job=~"$job"}`},
		{"kind", "Kind", `riskdex_bulk_seconds_count{job=~"$job", instance=~"$instance", kind!="probe"}`},
	}
}

// mark is an event that is drawn as a vertical line in every panel, or as a band where it lasts.
type mark struct {
	name, text, expr, color string
}

func marks() []mark {
	// A warning may be there for days, and would colour all of it.
	return []mark{
		{"Alerts", "{{alertname}} {{kind}}{{index}}", `ALERTS{alertname=~"Riskdex.+", alertstate="firing", severity="critical", job=~"$job|", instance=~"$instance|", kind=~"$kind|"}`, bad},
		{"Holds", "{{index}} is held: {{reason}}", selectors.Replace(`max by (index, reason) (riskdex_held{@index}) == 1`), warning},
		// The gauge has those that last longer than a scrape.
		{"Rebuilds", "Rebuild of {{kind}} {{outcome}}", selectors.Replace(`max by (kind) (riskdex_rebuild_active{@kind}) == 1 or sum by (kind, outcome) (increase(riskdex_rebuilds_total{@kind}[2m])) > 0`), notice},
		{"Starts", "{{instance}} started", `changes(process_start_time_seconds{job=~"$job", instance=~"$instance"}[2m]) > 0`, neutral},
	}
}
