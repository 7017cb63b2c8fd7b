package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/report"
)

// twoProcesses is two processes, as TestPostgresProtocol has them, on a real server: time
// passes and heartbeats come when the test says so.
type twoProcesses struct {
	t     *rapid.T
	clock *testClock
	p     [2]*Journal
	ids   []string

	newest   map[report.Key]report.Version
	index    map[report.Key]report.Version // with external versions
	inFlight [2][]report.Change
	silent   [2]bool // it was taken for dead, and does not know yet
}

// TestPostgresTwoProcesses draws what two processes do with a few documents.
func TestPostgresTwoProcesses(t *testing.T) {
	clock, url := newTestClock(), postgrestest.URL(t)
	slow := usualPace()
	slow.heartbeat = 0
	var p [2]*Journal
	for i := range p {
		p[i] = process(t, url, slow, journal.Options{Now: clock.now})
	}
	m := &twoProcesses{clock: clock, p: p, newest: map[report.Key]report.Version{}, index: map[report.Key]report.Version{}}
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		m.t, m.ids = t, nil
		for i := range 3 {
			m.ids = append(m.ids, fmt.Sprint(round, ".", i))
		}
		t.Repeat(map[string]func(*rapid.T){
			"deliver": m.deliver, "claim": m.claim, "settle": m.settle, "miss heartbeats": m.missHeartbeats, "resend": m.resend, "wake": m.wake,
		})
		m.end()
	})
	sumsHold(t, p[0], p[1])
}

func (m *twoProcesses) one() int { return rapid.IntRange(0, 1).Draw(m.t, "process") }

func (m *twoProcesses) fail(what string, err error) {
	if err != nil {
		m.t.Fatalf("%s: %v", what, err)
	}
}

func (m *twoProcesses) deliver(t *rapid.T) {
	d := journaltest.Put(rapid.SampledFrom(m.ids).Draw(t, "id"), "x")
	stamps, err := m.p[m.one()].Append(context.Background(), d)
	m.fail("Append", err)
	s := stamps[0]
	if s.Version <= m.newest[s.Key] {
		t.Fatalf("%s: version %d after %d", s.ID, s.Version, m.newest[s.Key])
	}
	m.newest[s.Key] = s.Version
}

func (m *twoProcesses) claim(t *rapid.T) {
	i := m.one()
	changes, err := m.p[i].Claim(context.Background(), report.Advisories, rapid.IntRange(1, 2).Draw(t, "most"), 1<<20)
	if m.silent[i] && errors.Is(err, errTakenForDead) {
		m.rejoins(i)
		return
	}
	m.fail("Claim", err)
	if m.silent[i] && len(changes) > 0 {
		t.Fatalf("one that was taken for dead has claimed %v", changes)
	}
	for _, c := range changes {
		if c.Version != m.newest[c.Key] {
			t.Fatalf("%s was given out in version %d, but %d is the newest", c.ID, c.Version, m.newest[c.Key])
		}
		for k, list := range m.inFlight {
			for _, other := range list {
				if other.Key == c.Key && !m.silent[k] {
					t.Fatalf("both processes have claimed %s", c.ID)
				}
			}
		}
	}
	m.inFlight[i] = append(m.inFlight[i], changes...)
}

// settle sends something that was claimed, perhaps long ago, and settles it.
func (m *twoProcesses) settle(t *rapid.T) {
	i := m.one()
	if len(m.inFlight[i]) == 0 {
		return
	}
	at := rapid.IntRange(0, len(m.inFlight[i])-1).Draw(t, "which")
	c := m.inFlight[i][at]
	m.inFlight[i] = append(m.inFlight[i][:at:at], m.inFlight[i][at+1:]...)
	o := rapid.SampledFrom([]report.Outcome{report.Indexed, report.Retry}).Draw(t, "outcome")
	m.index[c.Key] = max(m.index[c.Key], c.Version)
	m.fail("Settle", m.p[i].Settle(context.Background(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: o}}))
}

// missHeartbeats makes one process miss its heartbeats for longer than its lease, and the other
// notice.
func (m *twoProcesses) missHeartbeats(*rapid.T) {
	i := m.one()
	if m.silent[i] || m.silent[1-i] {
		return
	}
	m.clock.move(16 * time.Second)
	m.heartbeat(1 - i)
	m.silent[i] = true
}

func (m *twoProcesses) heartbeat(i int) {
	m.p[i].member.heard, m.p[i].member.judges = time.Now(), time.Time{} // a slow test is no missed heartbeat
	m.fail("renewLease", m.p[i].renewLease(context.Background()))
}

// wake makes a process find out that it was taken for dead.
func (m *twoProcesses) wake(*rapid.T) {
	for i, j := range m.p {
		if !m.silent[i] {
			continue
		}
		if _, err := j.Claim(context.Background(), report.Advisories, 0, 0); !errors.Is(err, errTakenForDead) {
			m.t.Fatalf("one that was taken for dead is told %v", err)
		}
		m.rejoins(i)
	}
}

func (m *twoProcesses) rejoins(i int) {
	m.heartbeat(i)
	m.silent[i], m.inFlight[i] = false, nil // what it had claimed is lost to it
}

func (m *twoProcesses) resend(*rapid.T) {
	_, err := report.ResendAll(context.Background(), m.p[m.one()], report.Advisories)
	m.fail("Resend", err)
}

// end continues until nothing is pending.
func (m *twoProcesses) end() {
	m.wake(m.t)
	deadline := time.Now().Add(journaltest.Timeout)
	for over := false; !over && time.Now().Before(deadline); {
		for i, j := range m.p {
			m.settleAll(i)
			changes, err := j.Claim(context.Background(), report.Advisories, 100, 1<<20)
			m.fail("Claim", err)
			m.inFlight[i] = append(m.inFlight[i], changes...)
			m.settleAll(i)
		}
		s, err := m.p[0].Stats(context.Background())
		m.fail("Stats", err)
		over = s.Kinds[report.Advisories].Pending+s.Kinds[report.Advisories].Resending == 0
	}
	for k, v := range m.newest {
		if m.index[k] != v {
			m.t.Fatalf("%s: the index has version %d, but %d is the newest", k.ID, m.index[k], v)
		}
	}
}

// settleAll settles everything that a process has claimed.
func (m *twoProcesses) settleAll(i int) {
	var list []report.Settlement
	for _, c := range m.inFlight[i] {
		m.index[c.Key] = max(m.index[c.Key], c.Version)
		list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
	}
	m.inFlight[i] = nil
	m.fail("Settle", m.p[i].Settle(context.Background(), list))
}
