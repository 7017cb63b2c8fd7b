package conformance

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"riskdex/report"
)

// modelRefusal is a refusal of the model, identified by its Reason.
type modelRefusal struct {
	report.Refusal
	place report.Version
}

// record is one record of a delivery: a change, or a refusal.
type record struct {
	change  report.Change
	refusal *report.Refusal
	reason  string // of its refusal, if it names a city by a code of several
}

func (r record) ambiguous() report.Refusal {
	return refusal(r.change.Kind, string(r.change.ID), r.reason)
}

// deliver takes the records of a delivery in order. place is that of the refusal that it
// retries, or 0.
func (m *model) deliver(records []record, place report.Version, now time.Time) []report.Stamp {
	var stamps []report.Stamp
	var refused []modelRefusal
	for _, r := range records {
		if r.refusal == nil {
			s := m.accept(r.change, place, len(refused) > 0, now)
			stamps = append(stamps, s)
			if s.Effect != report.Ambiguous {
				continue
			}
			r.refusal = new(r.ambiguous())
		}
		t := place
		if t == 0 {
			t = m.next(now)
		}
		refused = append(refused, modelRefusal{*r.refusal, t})
	}
	m.refusals = append(m.refusals, refused...)
	return stamps
}

func (m *model) accept(c report.Change, place report.Version, refused bool, now time.Time) report.Stamp {
	addressed := c.ID
	m.adopted = 0
	key, ambiguous := m.resolve(c)
	if ambiguous {
		return report.Stamp{Key: c.Key, Effect: report.Ambiguous}
	}
	c.Key = key
	if c.ExactID {
		place = 1
	}
	old := m.documents[c.Key]
	if c.If != nil {
		named := m.documents[report.Key{Kind: c.Kind, ID: addressed}]
		if named == nil || named.Op == report.Delete {
			named = old
		}
		there := named != nil && named.Op == report.Index
		switch {
		case there && c.If(named.Version, named.AcceptedAt), !there && c.If(0, time.Time{}):
		case !there && c.Op == report.Delete:
			return report.Stamp{Key: c.Key, Effect: report.Unknown}
		default:
			return report.Stamp{Key: c.Key, Effect: report.Outdated}
		}
	}
	if place != 0 && old != nil && old.origin > place {
		return report.Stamp{Key: c.Key}
	}
	effect := report.Changed
	if c.Op == report.Delete && !c.ExactID && (old == nil || old.Op == report.Delete && old.state != report.StateDead && old.state != report.StateDropped) {
		effect = report.Unknown
		if !refused && len(m.refusals) == 0 {
			return report.Stamp{Key: c.Key, Effect: effect}
		}
	}
	if !m.adopt(c, addressed, place, now) {
		return report.Stamp{Key: c.Key}
	}
	m.leaveCode(c, old, addressed, place, now)
	d := m.put(c, now)
	d.origin = cmp.Or(place, d.Version)
	if c.Kind == report.Cities {
		m.call(d, old, c, addressed)
	}
	m.refusals = slices.DeleteFunc(m.refusals, func(r modelRefusal) bool {
		return r.Kind == c.Kind && r.place < d.origin && (r.ID == string(addressed) || r.ID == string(c.ID) || m.isByCode(r.ID, d))
	})
	return report.Stamp{Key: c.Key, Version: d.Version, Effect: effect, Adopted: m.adopted}
}

// adopt removes the city that was known only by the code that c states for an id. It
// returns false if c is older than what is known of that city.
func (m *model) adopt(c report.Change, addressed report.ID, place report.Version, now time.Time) bool {
	if c.Kind != report.Cities || c.Op != report.Index {
		return true
	}
	old := m.documents[c.Key]
	hasID := func(named bool) bool { return named || report.CodeOf(string(c.ID)) == "" }
	before := hasID(old != nil && old.named)
	alone := !before && !hasID(c.OwnID == c.ID || c.ExactID)
	code := c.Code
	if had := old != nil && old.Code != "" && !old.lost; code == "" && !c.NoCode && (c.OwnID == c.ID && addressed != c.ID || alone && !had) {
		code = report.CodeOf(string(addressed))
	}
	if code == "" {
		return true
	}
	if old != nil && old.Op == report.Index && old.states && !old.lost && old.Code == code && before == !alone {
		return true // it stated the code before: then the other one is a second city that states it
	}
	for _, d := range m.documents { // what came for the code alone since was for this city
		deleted := d.Op == report.Delete && !d.named && !d.passed && (d.Code == "" || d.Code == code)
		if place != 0 && d.Kind == report.Cities && d != old && strings.ToUpper(string(d.ID)) == code && d.origin > place && (deleted || alone) {
			return false
		}
	}
	if alone || strings.ToUpper(string(c.ID)) == code {
		return true // it is known by a code alone as well
	}
	for _, d := range m.having(code, report.Index) {
		if !d.isKnownByItsCodeAlone(code) {
			continue
		}
		if place != 0 && d.origin > place {
			return false
		}
		gone := m.put(report.Change{Key: d.Key, Op: report.Delete}, now)
		m.adopted = gone.Version
		gone.origin, gone.never, gone.passed = cmp.Or(place, gone.Version), true, true
	}
	return true
}

// leaveCode remembers that the code of old is no city's once c has replaced it.
func (m *model) leaveCode(c report.Change, old *modelDocument, addressed report.ID, place report.Version, now time.Time) {
	if c.Kind != report.Cities || old == nil || old.Code == "" || old.lost || len(m.refusals) == 0 {
		return
	}
	code := c.Code
	if code == "" && !c.NoCode && c.Op == report.Index && c.OwnID == c.ID && addressed != c.ID {
		code = report.CodeOf(string(addressed))
	}
	if c.Op == report.Delete || code == old.Code || code == "" && !c.NoCode || string(old.ID) == old.Code {
		return
	}
	for _, d := range m.having(old.Code, report.Index) {
		if d != old {
			return
		}
	}
	key := report.Key{Kind: report.Cities, ID: report.ID(old.Code)}
	known := m.documents[key]
	if known != nil && (known.Op == report.Index || place != 0 && known.origin > place) {
		return
	}
	gone := m.put(report.Change{Key: key, Op: report.Delete}, now)
	gone.origin, gone.never, gone.passed = cmp.Or(place, gone.Version), true, true
	if known != nil && !known.never {
		gone.Code, gone.lost, gone.named, gone.never, gone.passed, gone.stated = known.Code, known.lost, known.named, false, false, known.stated
	}
}

// isByCode reports whether an id is the code of the city d and of no other.
func (m *model) isByCode(id string, d *modelDocument) bool {
	if d.Kind != report.Cities || d.Code == "" || strings.ToUpper(id) != d.Code {
		return false
	}
	key, ambiguous := m.resolve(report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}})
	return key == d.Key && !ambiguous
}

// retry is deliver as the retry of the refusal with a reason. It reports whether that
// refusal is kept.
func (m *model) retry(reason string, records []record, now time.Time) ([]report.Stamp, bool) {
	i := slices.IndexFunc(m.refusals, func(r modelRefusal) bool { return r.Reason == reason })
	if i < 0 {
		return nil, false
	}
	place := m.refusals[i].place
	m.refusals = slices.Delete(m.refusals, i, i+1)
	return m.deliver(records, place, now), true
}

func (m *model) dropRefusal(reason string) int {
	before := len(m.refusals)
	m.refusals = slices.DeleteFunc(m.refusals, func(r modelRefusal) bool { return r.Reason == reason })
	return before - len(m.refusals)
}

// newest returns the document of a stamp if the stamp has its newest version and the
// document is in a state.
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
			again := m.put(d.Change, now)
			again.origin, again.states, again.lost, again.named, again.never, again.passed, again.stated = d.origin, d.states, d.lost, d.named, d.never, d.passed, d.stated
			n++
		}
	}
	return n
}

func (m *model) replaceDead(s report.Stamp, c report.Change, now time.Time) (report.Stamp, bool) {
	if m.newest(s, report.StateDead) == nil {
		return report.Stamp{}, false
	}
	old := m.documents[c.Key]
	m.adopt(c, c.ID, 0, now)
	m.leaveCode(c, old, c.ID, 0, now)
	d := m.put(c, now)
	d.origin = old.origin
	if c.Kind == report.Cities {
		m.call(d, old, c, c.ID)
	}
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
