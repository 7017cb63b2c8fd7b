package journaltest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// The states of a document in the model.
const (
	isPending = "pending"
	isSettled = "settled"
	isDead    = "dead"
	isMarked  = "resend"
)

// model is a journal in the simplest form: what the engine is compared with.
type model struct {
	last      report.Version
	documents map[report.Key]*modelDocument
	stats     map[report.Kind]*journal.KindStats
	held      map[report.Key]report.Version
	deferred  map[report.Key]time.Time
}

type modelDocument struct {
	report.Change
	state   string
	waiting time.Time
}

func newModel() *model {
	m := &model{documents: map[report.Key]*modelDocument{}, stats: map[report.Kind]*journal.KindStats{}}
	for _, k := range report.Kinds() {
		m.stats[k] = &journal.KindStats{Accepted: map[report.Op]uint64{}, Settled: map[report.Outcome]uint64{}}
	}
	m.restart()
	return m
}

func (m *model) restart() {
	m.held = map[report.Key]report.Version{}
	m.deferred = map[report.Key]time.Time{}
}

func (m *model) append(c report.Change, now time.Time) report.Stamp {
	c.Key = m.resolve(c)
	m.last = max(m.last+1, report.Version(now.UnixMicro()))
	c.Version, c.AcceptedAt = m.last, now
	d := &modelDocument{Change: c, state: isPending, waiting: now}
	s := m.stats[c.Kind]
	if old := m.documents[c.Key]; old != nil {
		if c.Code == "" {
			d.Code = old.Code
		}
		if old.state == isPending {
			d.waiting = old.waiting
			s.Settled[report.Superseded]++
		}
	}
	m.documents[c.Key] = d
	s.Accepted[c.Op]++
	return report.Stamp{Key: c.Key, Version: c.Version}
}

func (m *model) resolve(c report.Change) report.Key {
	known := m.documents[c.Key]
	if c.Kind != report.Cities || known != nil && known.Op == report.Index {
		return c.Key
	}
	if k, ok := m.only(strings.ToUpper(string(c.ID)), report.Index); ok {
		return k
	}
	if known != nil {
		return c.Key
	}
	if k, ok := m.only(strings.ToUpper(string(c.ID)), report.Delete); ok {
		return k
	}
	if c.OwnID != "" {
		return report.Key{Kind: c.Kind, ID: c.OwnID}
	}
	return c.Key
}

func (m *model) only(code string, op report.Op) (key report.Key, ok bool) {
	n := 0
	for k, d := range m.documents {
		if k.Kind == report.Cities && d.Code == code && d.Op == op {
			key = k
			n++
		}
	}
	return key, n == 1
}

func (m *model) claim(kind report.Kind, maxChanges, maxBytes int, now time.Time) []report.Change {
	var list []*modelDocument
	for k, d := range m.documents {
		_, held := m.held[k]
		if k.Kind == kind && !held && !m.deferred[k].After(now) && (d.state == isPending || d.state == isMarked) {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *modelDocument) int {
		return cmp.Or(cmp.Compare(a.state, b.state), a.waiting.Compare(b.waiting), cmp.Compare(a.Version, b.Version))
	})
	var changes []report.Change
	for _, d := range list {
		maxBytes -= len(d.Body)
		if len(changes) == maxChanges || maxBytes < 0 && len(changes) > 0 {
			break
		}
		m.held[d.Key] = d.Version
		delete(m.deferred, d.Key)
		c := d.Change
		c.OwnID = ""
		changes = append(changes, c)
	}
	return changes
}

func (m *model) settle(s report.Settlement, now time.Time) {
	if m.held[s.Key] == s.Version {
		delete(m.held, s.Key)
	}
	d := m.documents[s.Key]
	if d == nil || d.state != isPending && d.state != isMarked {
		return
	}
	if s.Version < d.Version {
		if (s.Outcome == report.Indexed || s.Outcome == report.Deleted) && d.state == isPending && d.waiting.Before(d.AcceptedAt) {
			d.waiting = d.AcceptedAt
		}
		return
	}
	if s.Outcome == report.Retry {
		if s.NotBefore.After(now) {
			m.deferred[s.Key] = s.NotBefore
		}
		return
	}
	if d.state == isPending {
		m.stats[s.Kind].Settled[s.Outcome]++
	}
	d.state = isSettled
	if s.Outcome == report.Dead {
		d.state = isDead
	}
}

func (m *model) resend(kind report.Kind) (n int) {
	for k, d := range m.documents {
		if k.Kind == kind && d.state == isSettled {
			d.state = isMarked
			n++
		}
	}
	return n
}

// count returns the state of a kind.
func (m *model) count(kind report.Kind) journal.KindStats {
	s := *m.stats[kind]
	for k, d := range m.documents {
		if k.Kind != kind {
			continue
		}
		switch d.state {
		case isPending:
			s.Pending++
			if s.OldestWaiting.IsZero() || d.waiting.Before(s.OldestWaiting) {
				s.OldestWaiting = d.waiting
			}
		case isMarked:
			s.Resending++
		case isDead:
			s.DeadLetters++
		}
	}
	return s
}
