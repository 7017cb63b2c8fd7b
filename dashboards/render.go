package dashboards

// promSource returns the data source that the viewer has selected.
func promSource() source { return source{Type: "prometheus", UID: "${datasource}"} }

// render lays the rows out in Grafana's grid of 24 columns.
func render(rows []row) dashboard {
	d := dashboard{
		UID: UID, Title: "riskdex",
		Description:   "Whether search shows what the publisher sent. docs/operations.md says what each row shows and what to do when something is wrong.",
		Tags:          []string{"riskdex"},
		Timezone:      "browser",
		GraphTooltip:  1,
		Time:          timeRange{"now-6h", "now"},
		Refresh:       "30s",
		SchemaVersion: 41,
		Links:         []link{runbook("Runbook", "")},
		Templating:    templating{List: templates()},
	}
	for _, m := range marks() {
		d.Annotations.List = append(d.Annotations.List, annotation{
			Name: m.name, Datasource: promSource(), Enable: true, IconColor: m.color,
			Expr: m.expr, Step: "60s", TitleFormat: m.text,
		})
	}
	y := 0
	for _, r := range rows {
		header := gridRow{Type: "row", ID: r.id, Title: r.title, Collapsed: !r.open, GridPos: place{1, 24, 0, y}, Panels: []any{}}
		panels := []any{}
		y++
		below := y
		x, tallest := 0, 0
		for _, p := range r.panels {
			if x+p.width > 24 {
				x, y, tallest = 0, y+tallest, 0
			}
			g := renderPanel(r, p)
			g.GridPos.X, g.GridPos.Y = x, y
			panels = append(panels, g)
			x, tallest = x+p.width, max(tallest, g.GridPos.H)
		}
		if r.open {
			d.Panels = append(append(d.Panels, header), panels...)
			y += tallest
			continue
		}
		header.Panels = panels
		d.Panels = append(d.Panels, header)
		y = below // a collapsed row takes no space
	}
	return d
}

func templates() []choice {
	list := []choice{{
		Type: "datasource", Name: "datasource", Label: "Data source",
		Description: "The Prometheus that scrapes riskdex.", Query: "prometheus", Refresh: 1,
	}}
	for _, v := range kindsOfSeries() {
		datasource := promSource()
		list = append(list, choice{
			Type: "query", Name: v.name, Label: v.label,
			Description: "Which " + v.name + " to show.",
			Query:       map[string]any{"query": "label_values(" + v.selector + ", " + v.name + ")", "refId": v.name},
			Datasource:  &datasource, Refresh: 2, Sort: 1, Multi: true, IncludeAll: true, AllValue: everything,
			Current: &current{Selected: true, Text: []string{"All"}, Value: []string{"$__all"}},
		})
	}
	// The Grafana of docker-compose.yml serves the runbook at this address. Elsewhere,
	// operators set it to where docs/operations.md can be read.
	at := current{Selected: true, Text: runbookURL, Value: runbookURL}
	return append(list, choice{
		Type: "constant", Name: "runbook", Label: "Runbook", Description: "Where docs/operations.md can be read.",
		Hide: 2, Query: runbookURL, Current: &at, Options: []current{at},
	})
}

const runbookURL = "/public/riskdex/operations.md"

func runbook(title, section string) link {
	url := "${runbook}"
	if section != "" {
		url += "#" + section
	}
	return link{Title: title, Type: "link", Icon: "doc", Tooltip: "docs/operations.md", URL: url, Tags: []string{}, TargetBlank: true}
}

func renderPanel(r row, p panel) gridPanel {
	look := p.look()
	g := gridPanel{
		Type: look.plugin, ID: p.id, Title: p.title, Description: p.description, Datasource: promSource(),
		GridPos:     place{H: look.height, W: p.width},
		Options:     look.options,
		FieldConfig: fieldConfig{Defaults: p.defaults(look), Overrides: []any{}},
	}
	if p.height > 0 {
		g.GridPos.H = p.height
	}
	for _, alert := range p.alerts {
		g.Links = append(g.Links, runbook("Runbook: "+alert, Section(alert)))
	}
	g.Links = append(g.Links, runbook("What this row shows", r.section))
	for i, q := range p.queries {
		g.Targets = append(g.Targets, target{
			RefID: string(rune('A' + i)), Datasource: promSource(),
			Expr: selectors.Replace(q.expr), LegendFormat: q.legend,
			Instant: look.instant, Range: !look.instant, Format: look.format, EditorMode: "code",
		})
	}
	if p.shape == list {
		g.Transformations = []transformation{{ID: "organize", Options: map[string]any{
			"excludeByName": map[string]bool{"Time": true, "Value": true, "__name__": true, "alertstate": true},
			"indexByName":   map[string]int{"severity": 0, "alertname": 1, "kind": 2, "job": 3, "instance": 4},
			"renameByName":  map[string]string{"alertname": "alert"},
		}}}
	}
	return g
}

func (p panel) defaults(look look) defaults {
	zero := 0.0
	d := defaults{Unit: p.unit, Color: look.color, Custom: look.custom, Thresholds: thresholds{Mode: "absolute"}}
	if !p.log && !p.signed {
		d.Min = &zero
	}
	// base is the colour below the first limit: bad if larger values are better.
	base := good
	limits := p.limits
	if len(limits) > 0 && limits[len(limits)-1].color == good {
		base = bad
		if limits[0].from == 0 {
			base, limits = limits[0].color, limits[1:]
		}
	}
	d.Thresholds.Steps = append(d.Thresholds.Steps, step{nil, base})
	for _, l := range limits {
		d.Thresholds.Steps = append(d.Thresholds.Steps, step{&l.from, l.color})
	}
	if len(p.states) > 0 {
		m := mapping{Type: "value", Options: map[string]mappingResult{}}
		for i, s := range p.states {
			m.Options[s.value] = mappingResult{s.text, s.color, i}
		}
		d.Mappings = []mapping{m}
	}
	return d
}
