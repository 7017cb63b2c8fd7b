package dashboards

import "strings"

// look is what Grafana needs to draw a shape.
type look struct {
	plugin  string
	height  int
	options map[string]any
	custom  map[string]any
	color   map[string]any
	instant bool
	format  string
}

func (p panel) look() look {
	switch p.shape {
	case number:
		return look{
			plugin: "stat", height: 4, instant: true, format: "time_series",
			color: map[string]any{"mode": "thresholds"},
			options: map[string]any{
				"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "values": false, "fields": ""},
				"colorMode":     "background", "graphMode": "none", "textMode": "value", "justifyMode": "center",
				"orientation": "auto", "wideLayout": true, "showPercentChange": false,
			},
		}
	case timeline:
		return look{
			plugin: "state-timeline", height: 7, format: "time_series",
			color:  map[string]any{"mode": "thresholds"},
			custom: map[string]any{"fillOpacity": 70, "lineWidth": 0},
			options: map[string]any{
				"mergeValues": true, "showValue": "never", "rowHeight": 0.8, "alignValue": "left",
				"legend":  map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []string{}},
				"tooltip": map[string]any{"mode": "single", "sort": "none"},
			},
		}
	case list:
		return look{
			plugin: "table", height: 6, instant: true, format: "table",
			color:   map[string]any{"mode": "thresholds"},
			custom:  map[string]any{"align": "auto", "inspect": false},
			options: map[string]any{"showHeader": true, "cellHeight": "sm", "frameIndex": 0},
		}
	}
	return look{
		plugin: "timeseries", height: 8, format: "time_series",
		color:  map[string]any{"mode": "palette-classic"},
		custom: p.lineStyle(),
		options: map[string]any{
			"legend":  map[string]any{"displayMode": "table", "placement": "bottom", "showLegend": true, "calcs": []string{"lastNotNull", "max"}},
			"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
		},
	}
}

func (p panel) lineStyle() map[string]any {
	style := map[string]any{
		"drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 1, "fillOpacity": 10,
		"showPoints": "auto", "pointSize": 4, "spanNulls": false, "axisPlacement": "auto",
		"stacking":          map[string]any{"mode": "none", "group": "A"},
		"scaleDistribution": map[string]any{"type": "linear"},
		"thresholdsStyle":   map[string]any{"mode": "off"},
	}
	if p.stacked {
		style["stacking"] = map[string]any{"mode": "normal", "group": "A"}
		style["fillOpacity"] = 40
	}
	if p.log {
		style["scaleDistribution"] = map[string]any{"type": "log", "log": 10}
	}
	if len(p.limits) > 0 {
		style["thresholdsStyle"] = map[string]any{"mode": "dashed"}
	}
	return style
}

// Section returns the anchor of an alert's section in docs/operations.md.
func Section(alert string) string { return strings.ToLower(alert) }
