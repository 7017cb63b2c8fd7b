package main

import (
	"cmp"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// metric is one of riskdex's own metrics, as /metrics exposes it.
type metric struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`  // counter, gauge or histogram
	Scope  string  `json:"scope"` // global or local
	Labels []label `json:"labels"`
	Help   string  `json:"help"`
	Series int     `json:"series"` // label combinations
}

// Scopes of metrics. Metrics that are read from the journal are global: all processes that
// share it expose the same values, and one of them is enough. All others are local: what one
// process has seen or done.
const (
	global = "global"
	local  = "local"
)

// label is a label with the values that occur, sorted.
type label struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// describe describes riskdex's own metrics among families, in their order. Those that are in
// shared too are global. No label value is missed, because every series exists from the
// start.
func describe(families, shared []*dto.MetricFamily) []metric {
	scopes := map[string]string{}
	for _, f := range shared {
		scopes[f.GetName()] = global
	}
	var all []metric
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "riskdex_") {
			continue
		}
		m := metric{Name: f.GetName(), Type: strings.ToLower(f.GetType().String()), Scope: cmp.Or(scopes[f.GetName()], local), Labels: []label{}, Help: f.GetHelp(), Series: len(f.GetMetric())}
		for _, series := range f.GetMetric() {
			for _, pair := range series.GetLabel() {
				m.note(pair.GetName(), pair.GetValue())
			}
		}
		for i := range m.Labels {
			slices.Sort(m.Labels[i].Values)
		}
		all = append(all, m)
	}
	return all
}

func (m *metric) note(name, value string) {
	i := slices.IndexFunc(m.Labels, func(l label) bool { return l.Name == name })
	if i < 0 {
		i = len(m.Labels)
		m.Labels = append(m.Labels, label{Name: name})
	}
	if l := &m.Labels[i]; !slices.Contains(l.Values, value) {
		l.Values = append(l.Values, value)
	}
}

func (m *metric) labelNames() []string {
	var names []string
	for _, l := range m.Labels {
		names = append(names, l.Name)
	}
	return names
}
