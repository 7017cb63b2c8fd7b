package dashboards

import (
	"bytes"
	"encoding/json"
)

// UID is the dashboard's identity in Grafana and in links to it.
const UID = "riskdex"

// rows returns the dashboard from top to bottom. The ids of panels are part of
// links that people have kept: they never change, and none is used again.
func rows() []row {
	return []row{
		overview(), freshness(), intake(), settling(), rebuilding(), journalRow(), bulks(), process(),
	}
}

// JSON returns the dashboard as Grafana reads it.
func JSON() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(render(rows()))
	return out.Bytes(), err
}

// row is one row of panels, with a section of the runbook that says in words
// what it shows.
type row struct {
	id      int
	title   string
	section string // of docs/operations.md
	open    bool   // when the dashboard is loaded
	panels  []panel
}

// panel is one panel.
type panel struct {
	id          int
	title       string
	description string // what it shows, and what is worth a look
	shape       shape
	unit        string // in Grafana's words
	width       int    // of 24 columns
	height      int    // 0: as usual for the shape
	queries     []query
	limits      []limit
	states      []state  // names for values, in place of numbers
	alerts      []string // that it is about: what to do is in their sections of the runbook
	stacked     bool
	log         bool // logarithmic scale
	signed      bool // may be below zero
}

// query is one line of PromQL. In it `@` stands for the chosen jobs and
// instances, `@kind` for these and the chosen kinds of content, `@every` for these
// and the chosen kinds with the probe among them, `@index` for these and the indices
// of the chosen kinds.
type query struct {
	expr   string
	legend string
}

// limit is a value from which on a panel changes its colour.
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

// shape is what a panel looks like.
type shape int

const (
	number   shape = iota // the newest value, large
	lines                 // over time
	timeline              // states over time
	list                  // a table of what there is now
)

const (
	good    = "green"
	notice  = "yellow"
	warning = "orange"
	bad     = "red"
	neutral = "blue"
)

func upDown() []state { return []state{{"0", "away", bad}, {"1", "up", good}} }

// where keeps the series of which a counter has gone up in the time that is shown. So
// what is over is drawn at 0 and its legend says 0, and what never was is not there.
func where(by, counter string) string {
	return " and on (" + by + ") (sum by (" + by + ") (increase(" + counter + "[$__range] @ end())) > 0)"
}

// quantile is the value that the share q of a histogram's observations do not
// exceed, apart by the given labels. scope is one of @, @kind.
func quantile(q, histogram, scope, by string) string {
	if by != "" {
		by += ", "
	}
	return "histogram_quantile(" + q + ", sum by (" + by + "le) (rate(" + histogram + "_bucket{" + scope + "}[$__rate_interval])))"
}
