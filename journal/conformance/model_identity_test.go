package conformance

import (
	"cmp"
	"slices"
	"strings"

	"riskdex/report"
)

// having returns the cities that have a code, alive or deleted, in the order of their
// ids.
func (m *model) having(code string, op report.Op) (list []*modelDocument) {
	for _, d := range m.documents {
		if d.Kind == report.Cities && code != "" && d.Code == code && !d.lost && d.Op == op {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *modelDocument) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// resolve applies the six rules.
func (m *model) resolve(c report.Change) (key report.Key, ambiguous bool) {
	known := m.documents[c.Key]
	if c.Kind == report.Cities && !c.ExactID && c.Op == report.Index && c.OwnID != "" && strings.ToUpper(string(c.OwnID)) != c.Code &&
		known != nil && c.Code != "" && known.isKnownByItsCodeAlone(c.Code) {
		return report.Key{Kind: c.Kind, ID: c.OwnID}, false // which adopts it
	}
	if c.Kind != report.Cities || c.ExactID || known != nil && known.Op == report.Index {
		return c.Key, false // 1
	}
	live := m.having(strings.ToUpper(string(c.ID)), report.Index)
	if known != nil && !known.never {
		since := false
		for _, d := range live {
			since = since || d.stated >= known.origin
		}
		if !since {
			return c.Key, false // 2
		}
	}
	if c.OwnID != "" {
		return report.Key{Kind: c.Kind, ID: c.OwnID}, false // 3
	}
	if len(live) > 0 {
		return live[0].Key, len(live) > 1 // 4
	}
	if gone := m.having(strings.ToUpper(string(c.ID)), report.Delete); len(gone) == 1 {
		return gone[0].Key, false // 5
	}
	return c.Key, false // 6
}

// isKnownByItsCodeAlone reports whether there is a city with no other name than a code.
func (d *modelDocument) isKnownByItsCodeAlone(code string) bool {
	return d.Op == report.Index && !d.lost && d.Code == code && strings.ToUpper(string(d.ID)) == code && !d.named
}

// call updates which city has which code, once c, which came under an id, is the newest
// of d.
func (m *model) call(d, old *modelDocument, c report.Change, addressed report.ID) {
	d.never = c.Op == report.Delete && (old == nil || old.never)
	d.named = c.OwnID == c.ID || c.ExactID || old != nil && old.named
	code, silent := c.Code, c.Code == "" && !c.NoCode
	had := old != nil && old.Code != "" && !old.lost
	if c.Op == report.Index && silent {
		byPath := c.OwnID == c.ID && addressed != c.ID // beside the id
		onlyByPath := !d.named && !had                 // and nothing else is known
		if byPath || onlyByPath && (old == nil || old.Op == report.Delete || old.Code == "" || old.lost) {
			code = report.CodeOf(string(addressed))
			silent = code == ""
		}
	}
	d.Code, d.states, d.stated, d.lost = code, !silent && code != "", d.origin, false
	if silent {
		d.Code, d.states, d.stated = "", false, 0
		if had {
			d.Code, d.stated = old.Code, old.stated
			for _, other := range m.having(old.Code, report.Index) {
				if other != d && other != old && old.states {
					d.Code = "" // it belongs to that one
				}
			}
		}
		return
	}
	for _, op := range report.Ops() {
		for _, other := range m.having(code, op) {
			if other != d && other != old && !(other.states && other.Op == report.Index) {
				other.lost = true
			}
		}
	}
}
