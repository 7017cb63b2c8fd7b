package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// hasty has short timeouts, so that leases expire soon.
func hasty() pace {
	return pace{
		lease: 900 * time.Millisecond, heartbeat: 50 * time.Millisecond, stuck: time.Second,
		group: 2 * time.Second, mark: time.Minute, probe: 50 * time.Millisecond,
	}
}

// silent has timeouts so long that nothing happens by itself within a test, which may hold up
// a transaction, or be held up by a busy machine.
func silent() pace {
	p := usualPace()
	p.lease, p.heartbeat = time.Hour, time.Hour
	p.stuck, p.group = 2*journaltest.Timeout, 2*journaltest.Timeout
	return p
}

// process opens a journal as a process of its own would.
func process(t testing.TB, url string, p pace, opt journal.Options) *Journal {
	t.Helper()
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	j, err := open(t.Context(), url, opt, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return j
}

// processes opens a journal n times in an empty schema.
func processes(t testing.TB, n int, p pace) (url string, list []*Journal) {
	t.Helper()
	url = postgrestest.URL(t)
	for range n {
		list = append(list, process(t, url, p, journal.Options{}))
	}
	return url, list
}

// kill ends a process as SIGKILL would: it releases nothing, and sends no more
// heartbeats.
func (j *Journal) kill() {
	j.queue.Close()
	<-j.ended
	j.fail(journal.ErrClosed)
	j.end()
	j.background.Wait()
	_ = j.db.Close()
	j.pool.Close()
	j.close = func() error { return nil }
}

// appendTo delivers an advisory.
func appendTo(t testing.TB, j *Journal, id, body string) report.Version {
	t.Helper()
	return deliver(t, j, journaltest.Put(id, body))
}

func deliver(t testing.TB, j *Journal, d report.Delivery) report.Version {
	t.Helper()
	stamps, err := j.Append(t.Context(), d)
	require.NoError(t, err)
	return stamps[0].Version
}

// claimed returns what a Claim of advisories gives out.
func claimed(t testing.TB, j *Journal) []report.Change {
	t.Helper()
	changes, err := j.Claim(t.Context(), report.Advisories, 100, 1<<20)
	require.NoError(t, err)
	return changes
}

func settle(t testing.TB, j *Journal, o report.Outcome, changes ...report.Change) {
	t.Helper()
	var list []report.Settlement
	for _, c := range changes {
		list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: o})
	}
	require.NoError(t, j.Settle(t.Context(), list))
}

// valueOf queries the database of a journal directly for one value.
func valueOf[T any](t testing.TB, j *Journal, query string, args ...any) (v T) {
	t.Helper()
	require.NoError(t, j.pool.QueryRow(t.Context(), query, args...).Scan(&v))
	return v
}

// execSQL changes the database of a journal directly.
func execSQL(t testing.TB, j *Journal, query string, args ...any) {
	t.Helper()
	_, err := j.pool.Exec(t.Context(), query, args...)
	require.NoError(t, err)
}

// sumsHold checks that the totals agree with the documents, that each process reports the
// same, and that every accepted change is in exactly one place.
func sumsHold(t testing.TB, list ...*Journal) {
	t.Helper()
	var first string
	for _, j := range list {
		s, err := j.Stats(t.Context())
		require.NoError(t, err)
		for k, kind := range s.Kinds {
			var in, out uint64
			for _, n := range kind.Accepted {
				in += n
			}
			for _, n := range kind.Settled {
				out += n
			}
			rows := valueOf[string](t, j, `SELECT format('%s %s %s', count(*) FILTER (WHERE state = 2), count(*) FILTER (WHERE state = 5),
				count(*) FILTER (WHERE state = 4)) FROM documents WHERE kind = $1`, string(k))
			if in != out+uint64(kind.Pending) || rows != fmt.Sprint(kind.Pending, kind.Resending, kind.DeadLetters) {
				t.Errorf("%s: %d accepted, %d settled, %+v, but the rows say %s", k, in, out, kind, rows)
			}
		}
		counted, held := valueOf[int64](t, j, "SELECT coalesce(sum(bytes), 0)::bigint FROM totals"),
			valueOf[int64](t, j, "SELECT (coalesce(sum(length(body)), 0) + $1 * count(*))::bigint FROM documents", commit.DocumentBytes)
		if counted != held {
			t.Errorf("documents of %d bytes count for %d", held, counted)
		}
		said := fmt.Sprint(s.Kinds, s.Refused)
		if first == "" {
			first = said
		}
		if said != first {
			t.Errorf("one process reports %s, another %s", first, said)
		}
	}
}

// waitsFor reports whether a connection of the server waits for an event, such as
// SyncRep.
func waitsFor(t testing.TB, j *Journal, event string) bool {
	t.Helper()
	return valueOf[bool](t, j, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = $1)", event)
}

// later runs a function beside the test, and returns a channel with its result.
func later(f func(context.Context) error) <-chan error {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), journaltest.Timeout)
		defer cancel()
		done <- f(ctx)
	}()
	return done
}

// send writes the beginning of a message of PostgreSQL's protocol, whose length is stated
// correctly, or is larger than what is sent.
func send(t testing.TB, conn net.Conn, letter byte, text string, size int) {
	t.Helper()
	_, err := conn.Write(append(binary.BigEndian.AppendUint32([]byte{letter}, uint32(4+size)), text...))
	require.NoError(t, err)
}

// noise is text that cannot be compressed to less than half.
func noise(n int) string {
	text := make([]byte, n/2)
	_, _ = rand.Read(text)
	return hex.EncodeToString(text)
}

// task is a commit.Task that calls a function.
type task func(*commit.Transaction) error

func (f task) Execute(tx *commit.Transaction) error { return f(tx) }
