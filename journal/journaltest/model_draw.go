package journaltest

import (
	"context"
	"fmt"

	"pgregory.net/rapid"

	"riskdex/report"
)

var (
	kinds    = rapid.SampledFrom([]report.Kind{report.Cities, report.Cities, report.Advisories})
	names    = rapid.SampledFrom([]string{"1", "2", "3", "LON", "PAR", "lon"})
	codes    = rapid.SampledFrom([]string{"", "", "LON", "PAR", "1"})
	outcomes = rapid.SampledFrom(append(report.Outcomes(), report.Indexed, report.Retry))
)

// change draws a change that indexes a document of a kind.
func (m *machine) change(r *rapid.T, kind report.Kind) report.Change {
	c := index(kind, names.Draw(r, "id"), "", rapid.StringN(1, 40, 40).Draw(r, "body"))
	if kind == report.Cities {
		c.Code = codes.Draw(r, "code")
		switch rapid.IntRange(0, 2).Draw(r, "addressed by") {
		case 0:
			c.OwnID = report.ID(names.Draw(r, "own id"))
		case 1:
			c.ByID = true
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
			c.ExactID = true
			list = append(list, record{change: c})
		default:
			list = append(list, record{change: m.change(r, kind)})
		}
	}
	return list
}

// with fills a delivery.
func with(d report.Delivery, records []record) report.Delivery {
	for _, r := range records {
		if r.refusal != nil {
			d.Refusals = append(d.Refusals, *r.refusal)
		} else {
			d.Changes = append(d.Changes, r.change)
		}
	}
	return d
}

func (m *machine) deliver(r *rapid.T, d report.Delivery) []report.Stamp {
	stamps, err := m.h.Append(context.Background(), d)
	if err != nil {
		r.Fatalf("Append: %v", err)
	}
	return stamps
}

// stamps draws versions of documents: mostly the newest of those in a state, some
// that are older or in another.
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
