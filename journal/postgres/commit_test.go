package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TestPostgresVersionsOfALateRow: a delivery by code finds its city only after it has
// taken versions, when another process has just given the city a later one.
func TestPostgresVersionsOfALateRow(t *testing.T) {
	_, p := processes(t, 2, silent())
	deliver(t, p[0], journaltest.PutCity("130", "LON", "first"))
	var between report.Version
	by := journaltest.PutCity("lon", "LON", "by code")
	err := p[0].queue.Do(t.Context(), &commit.Request{
		Keys: []report.Key{by.Changes[0].Key}, Versions: 1, Sync: true,
		Task: task(func(tx *commit.Transaction) error {
			if tx.Store.(*store).names && between == 0 {
				between = deliver(t, p[1], journaltest.PutCity("130", "LON", "by id"))
			}
			_, err := tx.Deliver(by, p[0].opt)
			return err
		}),
	})
	require.NoError(t, err)
	changes, err := p[1].Claim(t.Context(), report.Cities, 10, 1<<20)
	require.NoError(t, err)
	if len(changes) != 1 || changes[0].ID != "130" || changes[0].Version <= between || string(changes[0].Body) != "by code" {
		t.Errorf("after version %d came %+v, want a later one", between, changes)
	}
	sumsHold(t, p...)
}

// TestPostgresNamesOfCities: a city with a new code is delivered while another process
// looks up which city has that code, and waits until that is decided.
func TestPostgresNamesOfCities(t *testing.T) {
	_, p := processes(t, 2, silent())
	var other <-chan error
	by := journaltest.PutCity("lon", "LON", "by code")
	err := p[0].queue.Do(t.Context(), &commit.Request{
		Keys: []report.Key{by.Changes[0].Key}, Versions: 1, Sync: true,
		Task: task(func(tx *commit.Transaction) error {
			_, err := tx.Deliver(by, p[0].opt)
			if err == nil && other == nil {
				other = later(func(ctx context.Context) error {
					_, err := p[1].Append(ctx, journaltest.PutCity("130", "LON", "by id"))
					return err
				})
				journaltest.Eventually(t, "the other waits", func() bool { return waitsFor(t, p[1], "advisory") || len(other) > 0 })
			}
			if len(other) > 0 {
				t.Errorf("the other process did not wait: %v", <-other)
			}
			return err
		}),
	})
	require.NoError(t, err)
	require.NoError(t, <-other)
}

// away starts a server whose synchronous standby is away, and processes on it.
func away(t *testing.T, n int) (url string, list []*Journal) {
	server := postgrestest.Start(t)
	url = server.URL()
	for range n {
		list = append(list, process(t, url, hasty(), journal.Options{}))
	}
	execSQL(t, list[0], "ALTER SYSTEM SET synchronous_standby_names = '*'")
	execSQL(t, list[0], "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "commits wait for the standby", func() bool { return commitWaits(t, list[0]) })
	return url, list
}

// commitWaits tries a commit. The server's checkpointer decides whether it waits for a standby, and
// no setting says what that has read yet.
func commitWaits(t *testing.T, j *Journal) bool {
	answer := later(func(ctx context.Context) error {
		_, err := j.pool.Exec(ctx, "SELECT pg_logical_emit_message(true, 'try', '')")
		return err
	})
	for {
		select {
		case err := <-answer:
			require.NoError(t, err)
			return false
		default:
		}
		if waitsFor(t, j, "SyncRep") {
			execSQL(t, j, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			require.NoError(t, <-answer)
			return true
		}
	}
}

// TestPostgresCommitThatIsCancelled: an administrator cancels the wait for a standby. The
// server answers COMMIT, although the change is not on the standby.
func TestPostgresCommitThatIsCancelled(t *testing.T) {
	_, p := away(t, 1)
	answer := later(func(ctx context.Context) error {
		_, err := p[0].Append(ctx, journaltest.Put("1", "x"))
		return err
	})
	journaltest.Eventually(t, "the commit waits for the standby", func() bool { return waitsFor(t, p[0], "SyncRep") })
	execSQL(t, p[0], "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	if err := <-answer; err == nil {
		t.Error("a change without a standby was acknowledged")
	} else {
		t.Log(err)
	}
}

// TestPostgresRepeatIsAsDurable: a delivery comes twice, the second time when the first
// is committed on the server but not on its standby. To answer that it was accepted
// before would acknowledge it.
func TestPostgresRepeatIsAsDurable(t *testing.T) {
	_, p := away(t, 1)
	d := report.Delivery{
		Refusals: []report.Refusal{{Kind: report.Advisories, Reason: "r"}},
		Receipt:  &report.Receipt{Sender: "s", ID: "1", Digest: []byte("d")},
	}
	for range 2 {
		_, err := p[0].Append(t.Context(), d)
		if _, same := errors.AsType[*report.RepeatedError](err); err == nil || same {
			t.Fatalf("the repeat was answered %v before the first was durable", err)
		}
		journaltest.Eventually(t, "the first is in", func() bool { return valueOf[int](t, p[0], "SELECT count(*) FROM receipts") == 1 })
	}
	execSQL(t, p[0], "ALTER SYSTEM SET synchronous_standby_names = ''")
	execSQL(t, p[0], "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "it is answered as a repeat", func() bool {
		_, err := p[0].Append(t.Context(), d)
		_, same := errors.AsType[*report.RepeatedError](err)
		return same
	})
}

// TestPostgresVersionsAfterACancelledWait cancels the wait of a commit for the standby,
// whose versions are then in use, while the clock is behind them.
func TestPostgresVersionsAfterACancelledWait(t *testing.T) {
	server := postgrestest.Start(t)
	ahead := process(t, server.URL(), hasty(), journal.Options{})
	appendTo(t, ahead, "0", "x")
	require.NoError(t, ahead.Close())
	behind := time.Now().Add(-time.Hour)
	j := process(t, server.URL(), hasty(), journal.Options{Now: func() time.Time { return behind }})
	appendTo(t, j, "1", "first")
	execSQL(t, j, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	execSQL(t, j, "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "commits wait for the standby", func() bool { return commitWaits(t, j) })
	cancelled := later(func(ctx context.Context) error {
		_, err := j.Append(ctx, journaltest.Put("1", "second"))
		return err
	})
	journaltest.Eventually(t, "the commit waits for the standby", func() bool { return waitsFor(t, j, "SyncRep") })
	execSQL(t, j, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	if err := <-cancelled; err == nil {
		t.Fatal("a change without a standby was acknowledged")
	}
	execSQL(t, j, "ALTER SYSTEM SET synchronous_standby_names = ''")
	execSQL(t, j, "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "commits wait no longer", func() bool { return !commitWaits(t, j) })
	journaltest.Eventually(t, "it can be written", func() bool { return j.Ready() == nil })
	var second report.Version
	for _, c := range claimed(t, j) {
		if c.ID == "1" {
			second = c.Version
		}
	}
	if third := appendTo(t, j, "1", "third"); third <= second {
		t.Errorf("the third delivery has version %d, the second has %d", third, second)
	}
}

// TestPostgresStandbyAway: everything else continues while the standby is away:
// heartbeats, claims, and expiry of leases.
func TestPostgresStandbyAway(t *testing.T) {
	_, p := away(t, 3)
	p[2].kill()
	journaltest.Eventually(t, "the expired lease is noticed", func() bool { return valueOf[int](t, p[0], "SELECT count(*) FROM processes") == 2 })
	if err := p[0].LockKind(t.Context(), report.Advisories); err == nil {
		t.Error("a kind is locked although a failover would release it")
	}
	journaltest.Eventually(t, "the kind is unlocked", func() bool {
		return valueOf[int](t, p[0], "SELECT count(*) FROM holds WHERE holder <> 0") == 0
	})
}

// TestPostgresSyncTurnedOff turns synchronous_commit off under a running process.
func TestPostgresSyncTurnedOff(t *testing.T) {
	server := postgrestest.Start(t)
	j := process(t, server.URL(), hasty(), journal.Options{})
	appendTo(t, j, "1", "x")
	execSQL(t, j, "ALTER SYSTEM SET synchronous_commit = off")
	execSQL(t, j, "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "nothing is acknowledged", func() bool {
		_, err := j.Append(t.Context(), journaltest.Put("1", "y"))
		return err != nil && strings.Contains(err.Error(), "synchronous_commit")
	})
	if j.Ready() == nil {
		t.Error("the journal is ready without synchronous_commit")
	}
	execSQL(t, j, "ALTER SYSTEM SET synchronous_commit = on")
	execSQL(t, j, "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "it recovers by itself", func() bool { return j.Ready() == nil })
	appendTo(t, j, "1", "z")
}
