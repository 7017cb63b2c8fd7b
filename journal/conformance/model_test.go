package conformance

import (
	"cmp"
	"slices"
	"time"

	"riskdex/report"
)

// model is a journal in its simplest form, with which the engine is compared.
type model struct {
	last      report.Version
	adopted   report.Version // Stamp.Adopted of the change that is accepted
	documents map[report.Key]*modelDocument
	refusals  []modelRefusal // in the order of delivery
	stats     map[report.Kind]*report.KindStats
	held      map[report.Key]report.Version
	deferred  map[report.Key]modelDeferral
	receipts  map[string]modelReceipt // by id
}

type modelDocument struct {
	report.Change
	state   report.State
	waiting time.Time
	origin  report.Version // the name under which its content was delivered

	// Of a city: whether its newest record states its code, the name under which the last
	// record that did so was delivered, and whether the code has left it. named is set if
	// a record has stated its id as an id.
	// stated its id as such.
	states, lost, named bool
	// never is set if nothing but deletes of it is known, or if its id was a code and the
	// city has continued under another id, or without it; then passed is set, too.
	never, passed bool
	stated        report.Version
}

func newModel() *model {
	m := &model{
		documents: map[report.Key]*modelDocument{}, stats: map[report.Kind]*report.KindStats{},
		receipts: map[string]modelReceipt{},
	}
	for _, k := range report.Kinds() {
		m.stats[k] = &report.KindStats{Accepted: map[report.Op]uint64{}, Settled: map[report.Outcome]uint64{}}
	}
	m.restart()
	return m
}

func (m *model) restart() {
	m.held = map[report.Key]report.Version{}
	m.deferred = map[report.Key]modelDeferral{}
}

func (m *model) next(now time.Time) report.Version {
	m.last = max(m.last+1, report.Version(now.UnixMicro()))
	return m.last
}

// put makes c the newest change of its document.
func (m *model) put(c report.Change, now time.Time) *modelDocument {
	c.Version, c.AcceptedAt = m.next(now), now
	d := &modelDocument{Change: c, state: report.StatePending, waiting: now, origin: c.Version}
	s := m.stats[c.Kind]
	if old := m.documents[c.Key]; old != nil {
		if old.state == report.StatePending {
			d.waiting = old.waiting
			s.Settled[report.Superseded]++
		}
	}
	m.documents[c.Key] = d
	s.Accepted[c.Op]++
	return d
}

// claimable returns what may be given out, in order: pending changes, or those that are
// sent again.
func (m *model) claimable(kind report.Kind, again bool, now time.Time) []report.Change {
	state := report.StatePending
	if again {
		state = report.StateResending
	}
	var list []*modelDocument
	for k, d := range m.documents {
		if _, held := m.held[k]; k.Kind == kind && !held && !m.deferred[k].ends(d).After(now) && d.state == state {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *modelDocument) int {
		return cmp.Or(a.waiting.Compare(b.waiting), cmp.Compare(a.Version, b.Version))
	})
	var changes []report.Change
	for _, d := range list {
		c := d.Change
		c.OwnID, c.NoCode, c.ExactID, c.Resent = "", false, false, again
		changes = append(changes, c)
	}
	return changes
}

// modelDeferral says until when a document is deferred.
type modelDeferral struct {
	until    time.Time
	debounce bool // or until nothing was delivered for it for report.Debounce
}

func (p modelDeferral) ends(d *modelDocument) time.Time {
	if end := d.AcceptedAt.Add(report.Debounce); p.debounce && end.Before(p.until) {
		return end
	}
	return p.until
}

func (m *model) settle(s report.Settlement, now time.Time) {
	ended := m.held[s.Key] == s.Version
	if ended {
		delete(m.held, s.Key)
	}
	d := m.documents[s.Key]
	if d == nil || d.state != report.StatePending && d.state != report.StateResending {
		return
	}
	if s.Version < d.Version {
		if (s.Outcome == report.Indexed || s.Outcome == report.Deleted) && d.state == report.StatePending && d.waiting.Before(d.AcceptedAt) {
			d.waiting = d.AcceptedAt
		}
		if ended && s.NotBefore.After(now) {
			m.deferred[s.Key] = modelDeferral{s.NotBefore, s.Outcome != report.Retry}
		}
		return
	}
	if s.Outcome == report.Retry {
		if s.NotBefore.After(now) {
			m.deferred[s.Key] = modelDeferral{s.NotBefore, false}
		}
		return
	}
	if d.state == report.StatePending {
		m.stats[s.Kind].Settled[s.Outcome]++
	}
	d.state = report.StateSettled
	if s.Outcome == report.Dead {
		d.state = report.StateDead
	}
	delete(m.deferred, s.Key) // only a pending document is deferred
}

func (m *model) resend(kind report.Kind) (n int) {
	for k, d := range m.documents {
		if k.Kind == kind && d.state == report.StateSettled {
			d.state = report.StateResending
			n++
		}
	}
	return n
}

// count returns the totals of a kind.
func (m *model) count(kind report.Kind) report.KindStats {
	s := *m.stats[kind]
	refused := map[string]struct{}{}
	for _, r := range m.refusals {
		if r.Kind == kind && r.ID != "" {
			refused[r.ID] = struct{}{}
		}
	}
	s.RefusedDocuments = len(refused)
	for k, d := range m.documents {
		if k.Kind != kind {
			continue
		}
		switch d.state {
		case report.StatePending:
			s.Pending++
			if s.OldestWaiting.IsZero() || d.waiting.Before(s.OldestWaiting) {
				s.OldestWaiting = d.waiting
			}
			if d.waiting.After(s.NewestWaiting) {
				s.NewestWaiting = d.waiting
			}
		case report.StateResending:
			s.Resending++
		case report.StateDead:
			s.DeadLetters++
		case report.StateDropped:
			s.DroppedLetters++
		}
	}
	return s
}
