package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/ledgertest"
	"riskdex/internal/testkit/networktest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/report"
)

// several are processes that share a journal in PostgreSQL and the indices, with a sender
// that knows all of them, like a load balancer.
type several struct {
	t   *testing.T
	all []*process
	url string // of the journal
}

func newSeveral(t *testing.T, n int) *several {
	t.Helper()
	return severalOn(t, n, postgrestest.URL(t))
}

func severalOn(t *testing.T, n int, url string) *several {
	t.Helper()
	s := &several{t: t, url: url}
	for range n {
		p := newProcess(t, elastictest.URL(t))
		p.journal = s.url
		if len(s.all) > 0 {
			p.prefix = s.all[0].prefix
		}
		p.sender.Timeout = 5 * time.Second // the sender then tries another process
		s.all = append(s.all, p)
	}
	return s
}

func (s *several) start() {
	s.t.Helper()
	for _, p := range s.all {
		p.start()
	}
}

// deliver is like deliver of a process, but tries all processes until one accepts.
func (s *several) deliver(key report.Key, n int) bool {
	method, path, body := delivery(key, n)
	for {
		status, err := s.all[rand.IntN(len(s.all))].try(method, path, body)
		if err == nil && status == http.StatusAccepted {
			return true
		}
		time.Sleep(5 * time.Millisecond) // that process is down; do not spin
	}
}

func (s *several) load(senders int) *load {
	l := &load{Ledger: ledgertest.New()}
	l.stop = l.Load(senders, s.deliver)
	return l
}

// shared waits until each of the processes has settled something from now on.
func (s *several) shared(among ...*process) {
	s.t.Helper()
	for _, p := range among {
		before := sum(p.metrics(), "riskdex_settle_seconds_count")
		eventually(s.t, "each process indexes", func() bool { return sum(p.metrics(), "riskdex_settle_seconds_count") > before })
	}
}

// check compares the index with the ledger, through each process.
func (s *several) check(l *load) {
	s.t.Helper()
	l.stop()
	for _, p := range s.all {
		p.drained()
	}
	l.check(s.all[rand.IntN(len(s.all))])
	s.t.Logf("%d deliveries acknowledged", l.Acknowledged())
}

func TestSeveralProcessesOneIsKilled(t *testing.T) {
	t.Parallel()
	s := newSeveral(t, 3)
	s.start()
	l := s.load(8)
	for range torture.Extent(6, 60) {
		l.more(t, 100+rand.Int64N(300))
		victim := s.all[rand.IntN(len(s.all))]
		victim.kill()
		l.more(t, 100)
		victim.start()
	}
	s.shared(s.all...)
	s.check(l)
}

// TestSeveralProcessesOneIsPaused for longer than its lease. Others take over its claims,
// and it overwrites nothing when it continues.
func TestSeveralProcessesOneIsPaused(t *testing.T) {
	t.Parallel()
	s := newSeveral(t, 3)
	s.start()
	l := s.load(8)
	paused, others := s.all[0], s.all[1:]
	for range torture.Extent(1, 10) {
		l.more(t, 300)
		require.NoError(t, paused.cmd.Process.Signal(syscall.SIGSTOP))
		l.more(t, 300)
		eventually(t, "it is taken for dead", func() bool {
			for _, p := range others {
				if strings.Contains(p.log.String(), "processes gave no sign of life") {
					return true
				}
			}
			return false
		})
		s.shared(others...)
		require.NoError(t, paused.cmd.Process.Signal(syscall.SIGCONT))
		s.shared(paused)
	}
	s.check(l)
	if !strings.Contains(paused.log.String(), "taken for dead") {
		t.Error("the log of the paused process does not mention the pause")
	}
}

func TestSeveralProcessesRolled(t *testing.T) {
	t.Parallel()
	s := newSeveral(t, 3)
	s.start()
	l := s.load(8)
	for range torture.Extent(2, 20) {
		for _, p := range s.all {
			l.more(t, 100)
			if status := p.terminate(); status != exitDone {
				t.Errorf("exit status %d", status)
			}
			l.more(t, 100)
			p.start()
		}
	}
	s.shared(s.all...)
	s.check(l)
}

// TestSeveralProcessesOneWithoutJournal: that process refuses deliveries, and the others
// accept them and take over its claims.
func TestSeveralProcessesOneWithoutJournal(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	network, through := networktest.New(t, url)
	s := severalOn(t, 3, url)
	cut, others := s.all[0], s.all[1:]
	cut.journal = through
	s.start()
	l := s.load(8)
	for range torture.Extent(1, 5) {
		l.more(t, 200)
		network.Spoil(networktest.ToClient, networktest.Swallow(0))
		l.more(t, 200)
		eventually(t, "it is taken for dead", func() bool {
			return strings.Contains(others[0].log.String()+others[1].log.String(), "processes gave no sign of life")
		})
		s.shared(others...)
		network.Heal()
		s.shared(cut)
	}
	s.check(l)
}

// TestSeveralProcessesForgetWhoHasGone: a sender gives up on a process that has lost its
// journal, delivers the same document to another one, and then a newer version. The
// delivery that still waits in the first process does not overtake those when the journal
// is back.
func TestSeveralProcessesForgetWhoHasGone(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	network, through := networktest.New(t, url)
	s := severalOn(t, 2, url)
	cut, other := s.all[0], s.all[1]
	cut.journal = through
	cut.sender.Timeout = time.Second
	s.start()
	network.Spoil(networktest.ToClient, networktest.Swallow(0))
	// When the second delivery comes, the committing goroutine is busy with the first.
	for _, path := range []string{"/cities/first", "/cities/second"} {
		if status, err := cut.try(http.MethodDelete, path, ""); err == nil {
			t.Errorf("the process without a journal answers %d", status)
		}
	}
	for n := range 2 {
		if status := other.send(http.MethodPut, "/cities/second", fmt.Sprintf(`{"n":%d}`, n)); status != http.StatusAccepted {
			t.Errorf("the other process answers %d", status)
		}
	}
	network.Heal()
	eventually(t, "the journal is back", func() bool {
		status, err := cut.try(http.MethodPut, "/cities/last", `{"n":1}`)
		return err == nil && status == http.StatusAccepted
	})
	cut.drained()
	if found := other.indexed(report.Cities); string(found["second"]) != `{"n":1}` || found["last"] == nil {
		t.Errorf("the index has %s", found)
	}
}

// TestSeveralProcessesOneWithoutElasticsearch: that process accepts deliveries, and the
// others index them.
func TestSeveralProcessesOneWithoutElasticsearch(t *testing.T) {
	t.Parallel()
	direct := elastictest.URL(t)
	network, through := networktest.New(t, direct)
	s := newSeveral(t, 3)
	cut, others := s.all[0], s.all[1:]
	cut.elasticsearch = through
	s.start()
	l := s.load(8)
	for range torture.Extent(2, 20) {
		l.more(t, 200)
		network.Cut()
		l.more(t, 200)
		if status := cut.send(http.MethodPut, "/cities/only-here", `{"n":1}`); status != http.StatusAccepted {
			t.Errorf("the process without Elasticsearch answers %d", status)
		}
		l.Note(report.Key{Kind: report.Cities, ID: "only-here"}, 1)
		s.shared(others...)
		eventually(t, "others index what it has accepted", func() bool { return others[0].indexed(report.Cities)["only-here"] != nil })
		network.Restore()
		s.shared(cut)
	}
	cut.elasticsearch = direct
	s.check(l)
}
