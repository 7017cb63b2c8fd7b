package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"riskdex/dashboards"
)

// sign is where an operator who is woken sees an incident: an open panel of the dashboard,
// and the legend of a line if the panel has others too.
type sign struct {
	panel  int
	legend string
}

func (s sign) String() string { return strings.TrimSpace(fmt.Sprint("panel ", s.panel, " ", s.legend)) }

func panels(ids ...int) (signs []sign) {
	for _, id := range ids {
		signs = append(signs, sign{panel: id})
	}
	return signs
}

// tellsOfPresence are the panels whose value is 1 while all is well.
var tellsOfPresence = []int{102, 103}

// glance returns the queries of the open panels.
func glance() (open []dashboards.Query) {
	for _, q := range dashboards.Queries(dashboards.Values{Window: "20s"}) {
		if q.Open {
			open = append(open, q)
		}
	}
	return open
}

// shown returns the signs that show an incident: a value above 0 or, in a panel of
// tellsOfPresence, below 1.
func (w *watched) shown(signs []sign) (those []sign) {
	w.t.Helper()
	for _, s := range signs {
		if slices.ContainsFunc(glance(), func(q dashboards.Query) bool {
			return q.Panel == s.panel && (s.legend == "" || q.Legend == s.legend) &&
				slices.ContainsFunc(values(w.t, w.server, q.Expr), func(v float64) bool {
					return (v == 0) == slices.Contains(tellsOfPresence, s.panel)
				})
		}) {
			those = append(those, s)
		}
	}
	return those
}

// incident begins a trouble. Each of the signs has to show it, and none of them before.
func (w *watched) incident(what string, begin func(), signs ...sign) {
	w.t.Helper()
	var last []sign
	defer func() {
		if w.t.Failed() {
			w.t.Logf("%s: of %v, these panels showed something: %v", what, signs, last)
		}
	}()
	w.until("nothing shows before "+what, func() bool { last = w.shown(signs); return len(last) == 0 })
	begin()
	w.until("each panel shows "+what, func() bool { last = w.shown(signs); return len(last) == len(signs) })
	for _, s := range signs {
		w.glanced[s.panel] = true
	}
}

// everythingAtAGlance checks that each open panel has shown some incident, and that none
// has a line that was at zero all the time.
func (w *watched) everythingAtAGlance() {
	w.t.Helper()
	// These have a value on good days too, 208 from the fifth minute on.
	w.glanced[208] = true
	for _, s := range w.shown(panels(114)) {
		w.glanced[s.panel] = true
	}
	for _, q := range glance() {
		if !w.glanced[q.Panel] {
			w.t.Errorf("panel %d %q has shown no incident; these have: %v", q.Panel, q.Title, slices.Sorted(maps.Keys(w.glanced)))
		}
		if n := len(values(w.t, w.server, fmt.Sprintf("max_over_time((%s)[1h:1s]) == 0", q.Expr))); n > 0 {
			w.t.Errorf("panel %d %q: of what is found by %s, %d lines were always zero", q.Panel, q.Title, q.Expr, n)
		}
	}
}

// full fills the journal to its limit, and returns how many documents that took.
func (w *watched) full() (documents int) {
	w.t.Helper()
	body := fmt.Sprintf(`{"title":"large","text":%q}`, strings.Repeat("x ", 400<<10))
	for w.send("PUT", fmt.Sprintf("/advisories/large-%d", documents), body) == http.StatusAccepted {
		documents++
	}
	return documents
}

// empty deletes the documents of full.
func (w *watched) empty(documents int) {
	w.t.Helper()
	for n := range documents {
		if status := w.send("DELETE", fmt.Sprintf("/advisories/large-%d", n), ""); status != http.StatusAccepted {
			w.t.Fatalf("a delete past the limit is answered %d", status)
		}
	}
	w.until("there is room", func() bool { return w.send("PUT", "/cities/1", `{"title":"there is room"}`) == http.StatusAccepted })
}
