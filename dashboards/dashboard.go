package dashboards

import (
	"bytes"
	"encoding/json"
)

// UID identifies the dashboard in Grafana and in links to it.
const UID = "riskdex"

// rows returns the dashboard from top to bottom. The ids of panels are part of links that
// people have saved, so they never change and are never reused.
func rows() []row {
	return []row{
		overview(), freshness(), intake(), settling(), rebuilding(), journalRow(), bulks(), searches(), process(),
	}
}

// JSON returns the dashboard in Grafana's format.
func JSON() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(render(rows()))
	return out.Bytes(), err
}

// row is a row of panels, with the section of the runbook that explains it.
type row struct {
	id      int
	title   string
	section string // of docs/operations.md
	open    bool   // whether the row is open when the dashboard is loaded
	panels  []panel
}

// panel is one panel.
type panel struct {
	id          int
	title       string
	description string // what it shows, and what to look out for
	shape       shape
	unit        string // Grafana's name of the unit
	width       int    // in columns of 24
	height      int    // 0 for the usual height of the shape
	queries     []query
	limits      []limit
	states      []state  // names to show in place of values
	alerts      []string // alerts about what it shows; their sections of the runbook say what to do
	stacked     bool
	log         bool // logarithmic scale
	signed      bool // values may be negative
}

// query is a PromQL query. In it, `@` stands for the selected jobs and instances. `@kind`
// adds the selected kinds of content, `@every` the selected kinds including the probe, and
// `@index` the indices of the selected kinds.
type query struct {
	expr   string
	legend string
}

// limit is a value from which a panel has another colour.
type limit struct {
	from  float64
	color string
}

// state is a name and a colour for a value.
type state struct {
	value string
	text  string
	color string
}

// shape is the way in which a panel shows its values.
type shape int

const (
	number   shape = iota // the newest value, large
	lines                 // over time
	timeline              // states over time
	list                  // a table of the newest values
)

const (
	good    = "green"
	notice  = "yellow"
	warning = "orange"
	bad     = "red"
	neutral = "blue"
)

func upDown() []state { return []state{{"0", "away", bad}, {"1", "up", good}} }

// where returns the end of a query that keeps only the series whose counter has increased
// in the time range of the dashboard. Failures that are over are drawn at 0 with 0 in the
// legend, and those that never happened are left out.
func where(by, counter string) string {
	return " and on (" + by + ") (sum by (" + by + ") (increase(" + counter + "[$__range] @ end())) > 0)"
}

// quantile returns a query for the quantile q of a histogram, by the given labels. scope is
// @ or @kind.
func quantile(q, histogram, scope, by string) string {
	if by != "" {
		by += ", "
	}
	return "histogram_quantile(" + q + ", sum by (" + by + "le) (rate(" + histogram + "_bucket{" + scope + "}[$__rate_interval])))"
}
