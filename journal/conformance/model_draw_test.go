package conformance

import (
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"riskdex/internal/testkit/journaltest"
	"riskdex/report"
)

var (
	kinds    = rapid.SampledFrom([]report.Kind{report.Cities, report.Cities, report.Advisories})
	names    = rapid.SampledFrom([]string{"1", "2", "3", "LON", "PAR", "lon"})
	codes    = rapid.SampledFrom([]string{"", "", "LON", "PAR", "LON"})
	outcomes = rapid.SampledFrom(append(report.Outcomes(), report.Indexed, report.Retry))
)

// change draws a change that indexes a document of a kind.
func (m *machine) change(r *rapid.T, kind report.Kind) report.Change {
	c := index(kind, names.Draw(r, "id"), "", rapid.StringN(1, 40, 40).Draw(r, "body"))
	if kind == report.Cities {
		c.Code = codes.Draw(r, "code")
		c.NoCode = c.Code == "" && rapid.IntRange(0, 3).Draw(r, "says that it has none") == 0
		switch rapid.IntRange(0, 3).Draw(r, "addressed by") {
		case 0:
			c.OwnID = report.ID(names.Draw(r, "own id"))
		case 1:
			c.OwnID = c.ID
		case 2:
			if c.Code != "" { // by its code, with its id
				c.ID, c.OwnID = report.ID(c.Code), report.ID(names.Draw(r, "own id"))
			}
		}
	}
	return c
}

// records draws the records of a delivery.
func (m *machine) records(r *rapid.T) []record {
	var list []record
	for i := range rapid.IntRange(1, 4).Draw(r, "records") {
		kind := kinds.Draw(r, "kind")
		switch rapid.IntRange(0, 9).Draw(r, "what") {
		case 0, 1:
			list = append(list, record{change: remove(kind, names.Draw(r, "id"))})
		case 2, 3:
			m.refused++
			refused := refusal(kind, names.Draw(r, "id"), fmt.Sprint(m.refused))
			refused.Position = i
			if rapid.IntRange(0, 3).Draw(r, "id known") == 0 {
				refused.ID = ""
			}
			list = append(list, record{refusal: &refused})
		case 4:
			c := remove(kind, names.Draw(r, "id"))
			if d := m.m.documents[c.Key]; d == nil || rapid.Bool().Draw(r, "exact id") {
				c.ExactID = true
			} else {
				if rapid.Bool().Draw(r, "index") {
					c = m.change(r, kind)
				}
				c.If = only(d.Version - report.Version(rapid.IntRange(0, 1).Draw(r, "older")))
			}
			list = append(list, record{change: c})
		default:
			list = append(list, record{change: m.change(r, kind)})
		}
	}
	if rapid.IntRange(0, 7).Draw(r, "and many others") == 0 {
		list = among(m.others(r), list)
	}
	for i := range list {
		m.refused++
		list[i].reason = fmt.Sprint("ambiguous ", m.refused)
	}
	return list
}

// others draws so many cities, new ones and some that were drawn before, that an engine
// looks them up, and writes them, together.
func (m *machine) others(r *rapid.T) (list []record) {
	from := rapid.IntRange(0, 60).Draw(r, "from")
	for i := range rapid.IntRange(40, 70).Draw(r, "others") {
		id := report.ID(fmt.Sprint("city ", from+i))
		c := index(report.Cities, string(id), journaltest.Code(from+i), "other")
		c.OwnID = id
		if rapid.IntRange(0, 15).Draw(r, "odd") == 0 {
			c.Code = journaltest.Code(rapid.IntRange(0, 130).Draw(r, "code of another"))
		}
		list = append(list, record{change: c})
	}
	return list
}

// among puts records between others.
func among(others, list []record) []record {
	for i := range list {
		if list[i].refusal != nil {
			list[i].refusal.Position += len(others) / 2
		}
	}
	return slices.Concat(others[:len(others)/2], list, others[len(others)/2:])
}

// with fills a delivery.
func with(d report.Delivery, records []record) report.Delivery {
	var changes []record
	for _, r := range records {
		if r.refusal != nil {
			d.Refusals = append(d.Refusals, *r.refusal)
		} else {
			d.Changes, changes = append(d.Changes, r.change), append(changes, r)
		}
	}
	d.Ambiguous = func(i int) report.Refusal { return changes[i].ambiguous() }
	return d
}

func (m *machine) deliver(r *rapid.T, d report.Delivery) []report.Stamp {
	stamps, err := m.h.Append(context.Background(), d)
	if err != nil {
		r.Fatalf("Append: %v", err)
	}
	return stamps
}

// stamps draws versions of documents: mostly the newest ones in a state, and some that
// are older or in another state.
func (m *machine) stamps(r *rapid.T, state report.State) []report.Stamp {
	var likely []report.Stamp
	for _, k := range report.Kinds() {
		for _, d := range m.m.sorted(k) {
			if d.state == state {
				likely = append(likely, report.Stamp{Key: d.Key, Version: d.Version})
			}
		}
	}
	if len(m.stamped) == 0 {
		r.Skip("nothing was accepted yet")
	}
	var list []report.Stamp
	for range rapid.IntRange(1, 3).Draw(r, "stamps") {
		from := likely
		if len(likely) == 0 || rapid.IntRange(0, 3).Draw(r, "any") == 0 {
			from = m.stamped
		}
		list = append(list, rapid.SampledFrom(from).Draw(r, "stamp"))
	}
	return list
}
