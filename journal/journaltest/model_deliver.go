package journaltest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"riskdex/report"
)

// modelRefusal is a refusal of the model; its Reason tells it from the others.
type modelRefusal struct {
	report.Refusal
	turn report.Version
}

// record is one record of a delivery: a change, or a refusal.
type record struct {
	change  report.Change
	refusal *report.Refusal
}

// deliver takes the records of a delivery in their order. turn is that of the
// refusal that it retries, or 0.
func (m *model) deliver(records []record, turn report.Version, now time.Time) []report.Stamp {
	var stamps []report.Stamp
	var refused []modelRefusal
	for _, r := range records {
		if r.refusal == nil {
			stamps = append(stamps, m.accept(r.change, turn, now))
			continue
		}
		t := turn
		if t == 0 {
			t = m.next(now)
		}
		refused = append(refused, modelRefusal{*r.refusal, t})
	}
	m.refusals = append(m.refusals, refused...)
	return stamps
}

func (m *model) accept(c report.Change, turn report.Version, now time.Time) report.Stamp {
	addressed := c.ID
	c.Key = m.resolve(c)
	if c.ExactID {
		turn = 1
	}
	if old := m.documents[c.Key]; turn != 0 && old != nil && old.origin > turn {
		return report.Stamp{Key: c.Key}
	}
	d := m.put(c, now)
	d.origin = cmp.Or(turn, d.Version)
	m.refusals = slices.DeleteFunc(m.refusals, func(r modelRefusal) bool {
		return r.Kind == c.Kind && r.turn < d.origin && (r.ID == string(addressed) || r.ID == string(c.ID) || m.isByCode(r.ID, d))
	})
	return report.Stamp{Key: c.Key, Version: d.Version}
}

// isByCode tells whether an id is the code of the city d and of no other.
func (m *model) isByCode(id string, d *modelDocument) bool {
	return d.Kind == report.Cities && d.Code != "" && strings.ToUpper(id) == d.Code &&
		m.resolve(report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}}) == d.Key
}

// retry is deliver as the retry of the refusal with a reason. It tells whether that
// is kept.
func (m *model) retry(reason string, records []record, now time.Time) ([]report.Stamp, bool) {
	i := slices.IndexFunc(m.refusals, func(r modelRefusal) bool { return r.Reason == reason })
	if i < 0 {
		return nil, false
	}
	turn := m.refusals[i].turn
	m.refusals = slices.Delete(m.refusals, i, i+1)
	return m.deliver(records, turn, now), true
}

func (m *model) dropRefusal(reason string) int {
	before := len(m.refusals)
	m.refusals = slices.DeleteFunc(m.refusals, func(r modelRefusal) bool { return r.Reason == reason })
	return before - len(m.refusals)
}

// newest returns the document of a stamp if it is the newest version and in a state.
func (m *model) newest(s report.Stamp, state report.State) *modelDocument {
	if d := m.documents[s.Key]; d != nil && d.Version == s.Version && d.state == state {
		return d
	}
	return nil
}

func (m *model) renew(list []report.Stamp, now time.Time) (n int) {
	for _, s := range list {
		if d := m.newest(s, report.StateSettled); d != nil {
			d.Version, d.state = m.next(now), report.StateResending
			n++
		}
	}
	return n
}

func (m *model) retryDead(list []report.Stamp, now time.Time) (n int) {
	for _, s := range list {
		if d := m.newest(s, report.StateDead); d != nil {
			m.put(d.Change, now).origin = d.origin
			n++
		}
	}
	return n
}

func (m *model) replaceDead(s report.Stamp, c report.Change, now time.Time) (report.Stamp, bool) {
	if m.newest(s, report.StateDead) == nil {
		return report.Stamp{}, false
	}
	d := m.put(c, now)
	return report.Stamp{Key: d.Key, Version: d.Version}, true
}

func (m *model) dropDead(list []report.Stamp) (n int) {
	for _, s := range list {
		if d := m.newest(s, report.StateDead); d != nil {
			d.state, d.Body = report.StateDropped, nil
			n++
		}
	}
	return n
}
