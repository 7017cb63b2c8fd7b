package dashboards

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"riskdex/dashboards"
)

// The tests read riskdex.json, as Grafana does, and not its definition in Go.

type source struct{ Type, UID string }

type place struct{ H, W, X, Y int }

type link struct{ Title, URL string }

type target struct {
	RefID, Expr, LegendFormat string
	Datasource                source
}

type defaults struct {
	Unit       string
	Thresholds struct{ Steps []step }
}

type step struct{ Value *float64 }

type boardFile struct {
	UID         string
	Editable    bool
	Templating  struct{ List []boardVariable }
	Annotations struct {
		List []struct {
			Name, Expr string
			Datasource source
		}
	}
	Panels []boardPanel
}

type boardVariable struct {
	Type, Name, Label, AllValue string
	Query                       any
	Datasource                  source
	Refresh                     int
	Multi, IncludeAll           bool
}

type boardPanel struct {
	Type, Title, Description string
	ID                       int
	GridPos                  place
	Datasource               source
	Links                    []link
	Targets                  []target
	Collapsed                bool
	Panels                   []boardPanel // of a collapsed row
	FieldConfig              struct{ Defaults defaults }
}

func board(t *testing.T) boardFile {
	t.Helper()
	var b boardFile
	if err := json.Unmarshal(read(t, "riskdex.json"), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// chosen returns the data source that the viewer has selected.
func chosen() source { return source{"prometheus", "${datasource}"} }

// all returns the rows and panels, open and collapsed.
func (b boardFile) all() (list []boardPanel) {
	for _, p := range b.Panels {
		list = append(append(list, p), p.Panels...)
	}
	return list
}

// graphs returns the panels that show data.
func (b boardFile) graphs() []boardPanel {
	return slices.DeleteFunc(b.all(), func(p boardPanel) bool { return p.Type == "row" })
}

func TestBoardIsGenerated(t *testing.T) {
	want, err := dashboards.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, read(t, "riskdex.json")) {
		t.Error("riskdex.json is not what the definition says: go generate ./dashboards")
	}
}

func TestBoardVariables(t *testing.T) {
	b := board(t)
	if b.Editable {
		t.Error("the dashboard can be edited, and would differ from its source")
	}
	byName := map[string]boardVariable{}
	for _, v := range b.Templating.List {
		if _, twice := byName[v.Name]; twice {
			t.Errorf("variable %s is there twice", v.Name)
		}
		byName[v.Name] = v
	}
	if v := byName["datasource"]; v.Type != "datasource" || v.Query != "prometheus" || v.Label != "Data source" {
		t.Errorf("no choice of a Prometheus: %+v", v)
	}
	for _, name := range []string{"job", "instance", "kind"} {
		v := byName[name]
		if v.Type != "query" || !v.Multi || !v.IncludeAll || v.AllValue != ".+" || v.Refresh != 2 || v.Datasource != chosen() ||
			!strings.EqualFold(v.Label, name) {
			t.Errorf("variable %s: want a query of labels of the chosen data source with several values, All as .+, and a new look when the time range changes; got %+v", name, v)
		}
	}
}

func TestBoardPanels(t *testing.T) {
	ids, titles := map[int]string{}, map[string]bool{}
	for _, p := range board(t).all() {
		if other, twice := ids[p.ID]; twice || p.ID <= 0 {
			t.Errorf("%q has the id %d, as has %q", p.Title, p.ID, other)
		}
		ids[p.ID] = p.Title
		if titles[p.Title] || p.Title == "" {
			t.Errorf("the title %q is there twice, or empty", p.Title)
		}
		titles[p.Title] = true
	}
	for _, p := range board(t).graphs() {
		if p.Description == "" || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("%q has no description in sentences", p.Title)
		}
		if p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("%q has no unit", p.Title)
		}
		if steps := p.FieldConfig.Defaults.Thresholds.Steps; len(steps) == 0 || steps[0].Value != nil || !slices.IsSortedFunc(steps[1:], func(a, b step) int {
			return int(*a.Value*1e6 - *b.Value*1e6)
		}) {
			t.Errorf("%q has no thresholds from low to high", p.Title)
		}
		if len(p.Targets) == 0 {
			t.Errorf("%q shows nothing", p.Title)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if q.Datasource != chosen() || p.Datasource != chosen() {
				t.Errorf("%q does not ask the chosen data source", p.Title)
			}
			if refs[q.RefID] || q.RefID == "" || q.LegendFormat == "" {
				t.Errorf("%q: query %q has no name of its own, or no legend", p.Title, q.RefID)
			}
			refs[q.RefID] = true
		}
	}
}

func TestBoardHasNoOverlaps(t *testing.T) {
	b := board(t)
	for _, p := range b.Panels {
		apart(t, p.Panels) // Grafana lays them out when their row is opened
	}
	apart(t, b.Panels)
}

func apart(t *testing.T, panels []boardPanel) {
	t.Helper()
	taken := map[[2]int]string{}
	for _, p := range panels {
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, is := taken[[2]int{x, y}]; is || x >= 24 {
					t.Fatalf("%q lies over %q, or beyond the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// The row that is open when somebody is woken shows every incident at a glance.
func TestBoardIsReadAtAGlance(t *testing.T) {
	open, rows := 0, 0
	for _, p := range board(t).Panels {
		switch {
		case p.Type != "row":
			open++
		case rows == 0 && p.Collapsed, rows > 0 && !p.Collapsed:
			t.Errorf("the row %q: collapsed: %t", p.Title, p.Collapsed)
		}
		if p.Type == "row" {
			rows++
			if p.Collapsed != (len(p.Panels) > 0) {
				t.Errorf("the row %q: collapsed: %t, with %d panels in it", p.Title, p.Collapsed, len(p.Panels))
			}
		}
	}
	if open != 12 || rows < 2 {
		t.Errorf("%d panels are open, and there are %d rows", open, rows)
	}
}

// Every link of the dashboard leads to a section of the runbook.
func TestBoardLinks(t *testing.T) {
	sections := runbookSections(t)
	for _, p := range board(t).graphs() {
		if len(p.Links) == 0 {
			t.Errorf("%q has no link to the runbook", p.Title)
		}
		for _, l := range p.Links {
			section, ok := strings.CutPrefix(l.URL, "${runbook}#")
			if !ok || !sections[section] {
				t.Errorf("%q: docs/operations.md has no section for %q", p.Title, l.URL)
			}
		}
	}
}
