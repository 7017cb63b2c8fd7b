package postgres

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// testClock is a clock that a test moves.
type testClock struct{ micros atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.micros.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	return c
}

func (c *testClock) now() time.Time       { return time.UnixMicro(c.micros.Load()).UTC() }
func (c *testClock) move(d time.Duration) { c.micros.Add(d.Microseconds()) }

// pair returns a process without heartbeats and one with, with leases of 15 seconds by a
// clock of the test.
func pair(t *testing.T) (clock *testClock, still, lively *Journal) {
	url, opt := postgrestest.URL(t), journal.Options{}
	clock = newTestClock()
	opt.Now = clock.now
	quick := usualPace()
	quick.heartbeat = 20 * time.Millisecond
	slow := usualPace()
	slow.heartbeat = 0
	return clock, process(t, url, slow, opt), process(t, url, quick, opt)
}

// isGone reports whether the lease of a process was ended by another, which has renewed
// its own since the clock was moved: otherwise a third could end that one as well.
func isGone(t *testing.T, seenBy *Journal, id int64) bool {
	return valueOf[bool](t, seenBy, "SELECT NOT EXISTS (SELECT FROM processes WHERE id = $1) AND "+
		"EXISTS (SELECT FROM processes WHERE id = $2 AND alive_until >= "+serverTime("$3")+")",
		id, seenBy.member.me.Load(), seenBy.clock.now())
}

func TestPostgresLeaseOfADeadProcess(t *testing.T) {
	clock, dead, j := pair(t)
	appendTo(t, j, "1", "x")
	if got := claimed(t, dead); len(got) != 1 {
		t.Fatalf("claimed %v, want two changes", got)
	}
	id := dead.member.me.Load()
	dead.kill()
	clock.move(15 * time.Second)
	signs := func() bool {
		return valueOf[int64](t, j, "SELECT alive_until FROM processes WHERE id = $1", j.member.me.Load()) > clock.now().Add(14*time.Second).UnixMicro()
	}
	journaltest.Eventually(t, "the other sends heartbeats", signs)
	if isGone(t, j, id) || len(claimed(t, j)) != 0 {
		t.Fatal("its claim ended before its lease")
	}
	clock.move(time.Microsecond)
	journaltest.Eventually(t, "the claim of the dead process is given out again", func() bool { return len(claimed(t, j)) == 1 })
	if !isGone(t, j, id) {
		t.Error("the dead process is still a member")
	}
	sumsHold(t, j)
}

// TestPostgresTakenForDead: a process continues whose heartbeat was missing for too long.
func TestPostgresTakenForDead(t *testing.T) {
	clock, silent, j := pair(t)
	appendTo(t, j, "1", "x")
	appendTo(t, j, "2", "x")
	old := claimed(t, silent)
	id := silent.member.me.Load()
	clock.move(16 * time.Second)
	journaltest.Eventually(t, "it is taken for dead", func() bool { return isGone(t, j, id) })

	settle(t, silent, report.Retry, old[1]) // nobody has it now: only a new claim leads to it
	settle(t, silent, report.Indexed, old[1])
	again := claimed(t, j)
	if len(again) != 2 {
		t.Fatalf("given out again: %v, want both changes", again)
	}
	settle(t, silent, report.Dead, old[0])
	if s, err := j.Stats(t.Context()); err != nil || s.Kinds[report.Advisories].Pending != 2 {
		t.Errorf("a settlement of the process that was taken for dead counts: %+v, %v", s.Kinds[report.Advisories], err)
	}
	settle(t, j, report.Indexed, again...)

	appendTo(t, silent, "3", "x")
	if _, err := silent.Claim(t.Context(), report.Advisories, 1, 1); !errors.Is(err, errTakenForDead) {
		t.Errorf("Claim returned %v, want errTakenForDead", err)
	}
	require.NoError(t, silent.renewLease(t.Context()))
	journaltest.Eventually(t, "it is a member again", func() bool {
		got, err := silent.Claim(t.Context(), report.Advisories, 1, 1)
		return err == nil && len(got) == 1 && got[0].ID == "3"
	})
	sumsHold(t, j, silent)
}

// TestPostgresOutageKillsNobody: the server is away for longer than any lease, and the
// first process that reaches it again does not take the others for dead. The test sends the
// heartbeats itself, because their order after the outage would depend on the machine.
func TestPostgresOutageKillsNobody(t *testing.T) {
	server := postgrestest.Start(t)
	pace := hasty()
	pace.heartbeat = 0
	var p []*Journal
	var ids []int64
	for i := range 3 {
		p = append(p, process(t, server.URL(), pace, journal.Options{}))
		ids = append(ids, p[i].member.me.Load())
	}
	require.NoError(t, p[0].LockKind(t.Context(), report.Cities))
	server.Kill()
	ended := time.Now().Add(pace.lease)
	journaltest.Eventually(t, "all leases have ended", func() bool { return time.Now().After(ended) })
	require.NoError(t, server.Start(t.Context()))
	for _, j := range []*Journal{p[2], p[0], p[1]} {
		j.pool.Reset() // its connections belong to the server that has ended
		require.NoError(t, j.renewLease(t.Context()))
	}
	for i, j := range p {
		if id := j.member.me.Load(); id != ids[i] {
			t.Errorf("process %d was taken for dead, and is %d now", ids[i], id)
		}
	}
	if _, err := p[1].Claim(t.Context(), report.Cities, 1, 1); !errors.Is(err, report.ErrKindLocked) {
		t.Errorf("the lock has ended: %v", err)
	}
}

// TestPostgresOutageShows: the server goes away and comes back while nobody delivers.
func TestPostgresOutageShows(t *testing.T) {
	server := postgrestest.Start(t)
	j := process(t, server.URL(), hasty(), journal.Options{})
	server.Kill()
	journaltest.Eventually(t, "it is not ready", func() bool { return j.Ready() != nil })
	require.NoError(t, server.Start(t.Context()))
	journaltest.Eventually(t, "it is ready again", func() bool { return j.Ready() == nil })
}

// listens returns how many processes listen for the changes of others.
func listens(t *testing.T, j *Journal) int {
	return valueOf[int](t, j, "SELECT count(*) FROM pg_stat_activity WHERE query = $1", `LISTEN "`+j.keys.channel+`"`)
}

// TestPostgresNotifiesOthers: an idle process is notified of what another did, without
// polling.
func TestPostgresNotifiesOthers(t *testing.T) {
	_, p := processes(t, 2, silent())
	doer, idle := p[0], p[1]
	journaltest.Eventually(t, "both listen", func() bool { return listens(t, doer) == 2 })
	var c []report.Change
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"append", func() { appendTo(t, doer, "1", "x") }},
		{"retry", func() { settle(t, doer, report.Retry, c...) }},
		{"retry of what was overtaken", func() { appendTo(t, doer, "1", "y"); settle(t, doer, report.Retry, c...) }},
		{"resend", func() {
			settle(t, doer, report.Indexed, c...)
			_, err := report.ResendAll(t.Context(), doer, report.Advisories)
			require.NoError(t, err)
		}},
		{"the end of the other", func() { require.NoError(t, doer.Close()) }},
	} {
		journaltest.Eventually(t, "no notification is under way", func() bool {
			select {
			case <-idle.Changed():
				return false
			case <-time.After(50 * time.Millisecond):
				return len(claimed(t, idle)) == 0 && idle.idle.IsIdle(report.Advisories)
			}
		})
		step.do()
		select {
		case <-idle.Changed():
		case <-time.After(journaltest.Timeout):
			t.Fatalf("%s: the other process is not notified", step.what)
		}
		journaltest.Eventually(t, step.what+" can be claimed", func() bool {
			got := claimed(t, idle)
			settle(t, idle, report.Retry, got...)
			return len(got) == 1
		})
		if step.what != "the end of the other" {
			journaltest.Eventually(t, "the process that did it is notified itself", func() bool { c = claimed(t, doer); return len(c) == 1 })
		}
	}
}

// TestPostgresListensAgain cuts the connection on which a process is notified.
func TestPostgresListensAgain(t *testing.T) {
	_, p := processes(t, 2, silent())
	journaltest.Eventually(t, "both listen", func() bool { return listens(t, p[0]) == 2 })
	journaltest.Eventually(t, "no notification is under way", func() bool { return len(claimed(t, p[1])) == 0 && p[1].idle.IsIdle(report.Advisories) })
	execSQL(t, p[0], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'")
	journaltest.Eventually(t, "nobody listens", func() bool { return listens(t, p[0]) == 0 })
	appendTo(t, p[0], "1", "x")
	journaltest.Eventually(t, "the change is noticed all the same", func() bool { return len(claimed(t, p[1])) == 1 })
}

// TestPostgresStuckTransaction: a process stops within a transaction, as by SIGSTOP. Its
// locks are released when the transaction times out or, if it has stopped in the middle
// of a message, when its lease expires.
func TestPostgresStuckTransaction(t *testing.T) {
	for name, stop := range map[string]func(t *testing.T, j *Journal){
		"between two statements": func(t *testing.T, j *Journal) {
			conn, err := j.pool.Acquire(t.Context())
			require.NoError(t, err)
			t.Cleanup(conn.Release)
			_, err = conn.Exec(t.Context(), "BEGIN; SELECT FROM documents FOR UPDATE")
			require.NoError(t, err)
		},
		"before it reads the answer": func(t *testing.T, j *Journal) {
			conn, err := j.pool.Acquire(t.Context())
			require.NoError(t, err)
			t.Cleanup(conn.Release)
			text := "BEGIN; SELECT FROM documents FOR UPDATE; SELECT repeat('x', 1000) FROM generate_series(1, 100000); COMMIT\x00"
			send(t, conn.Conn().PgConn().Conn(), 'Q', text, len(text))
		},
		"in the middle of a word": func(t *testing.T, j *Journal) {
			conn, err := j.pool.Acquire(t.Context())
			require.NoError(t, err)
			t.Cleanup(conn.Release)
			_, err = conn.Exec(t.Context(), "BEGIN; SELECT FROM documents FOR UPDATE")
			require.NoError(t, err)
			parse := "\x00SELECT 1\x00\x00\x00"
			send(t, conn.Conn().PgConn().Conn(), 'P', parse, len(parse))
			send(t, conn.Conn().PgConn().Conn(), 'B', "", 1000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, p := processes(t, 1, hasty())
			alone := hasty()
			if name == "in the middle of a word" {
				alone.heartbeat = time.Hour // then only others can help
			}
			p = append(p, process(t, url, alone, journal.Options{}))
			appendTo(t, p[0], "1", "x")
			stop(t, p[1])
			journaltest.Eventually(t, "it blocks others", func() bool {
				return valueOf[int](t, p[0], "SELECT count(*) FROM (SELECT FROM documents FOR UPDATE SKIP LOCKED) AS free") == 0
			})
			journaltest.Eventually(t, "it no longer blocks others", func() bool {
				_, err := p[0].Append(t.Context(), journaltest.Put("1", strings.Repeat("y", 10)))
				return err == nil
			})
		})
	}
}
