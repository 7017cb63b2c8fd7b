package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TestFeedWaitsForEarlierVersions: a transaction that has taken a version stalls, while another
// process commits later ones.
func TestFeedWaitsForEarlierVersions(t *testing.T) {
	url, both := processes(t, 2, silent())
	appendTo(t, both[0], "first", "{}")
	before, err := both[1].Feed(t.Context(), report.Cursor{Kinds: report.Kinds()}, 10, 100)
	require.NoError(t, err)

	stalled, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer stalled.Close(context.Background())
	tx, err := stalled.Begin(t.Context())
	require.NoError(t, err)
	s := &store{ctx: t.Context(), tx: stalled, keys: both[0].keys}
	version, err := s.NextVersion(0)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE documents SET version = $1 WHERE id = 'first'`, int64(version))
	require.NoError(t, err)

	if later := appendTo(t, both[0], "second", "{}"); later <= version {
		t.Fatalf("version %d, want one after %d", later, version)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if page, err := both[1].Feed(ctx, before.Next, 10, 100); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d changes were told while an earlier one was not committed; error %v", len(page.Changes), err)
	}
	appendTo(t, both[1], "third", "{}") // nobody waits for a feed

	told := later(func(ctx context.Context) error {
		page, err := both[1].Feed(ctx, before.Next, 10, 100)
		if err == nil && (len(page.Changes) != 3 || page.Changes[0].Version != version) {
			err = fmt.Errorf("%d changes, want all three, version %d first", len(page.Changes), version)
		}
		return err
	})
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-told)
}

// TestFeedPassesNoVersionThatIsGivenBack: a transaction that is rolled back puts its versions
// back after it has ended.
func TestFeedPassesNoVersionThatIsGivenBack(t *testing.T) {
	url, both := processes(t, 2, silent())
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), "BEGIN")
	require.NoError(t, err)
	s := &store{ctx: t.Context(), tx: conn, keys: both[0].keys, first: 1, next: 1}
	require.NoError(t, conn.SendBatch(t.Context(), s.queueVersions(&pgx.Batch{}, 64, report.Version(time.Now().Add(time.Hour).UnixMicro()))).Close())
	_, err = conn.Exec(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	horizon, err := both[1].horizon(t.Context())
	require.NoError(t, err)
	s.next = s.first
	require.NoError(t, conn.SendBatch(t.Context(), func() *pgx.Batch { b := &pgx.Batch{}; s.queueUnused(b); return b }()).Close())
	if v := appendTo(t, both[0], "1", "{}"); v <= horizon {
		t.Errorf("version %d was given out below the horizon %d", v, horizon)
	}
}

// TestFeedEndsWithATimeline: the tables are as they were, on a server that is another one.
func TestFeedEndsWithATimeline(t *testing.T) {
	_, list := processes(t, 2, silent())
	one, err := list[0].feedID(t.Context())
	require.NoError(t, err)
	other, err := list[1].feedID(t.Context())
	require.NoError(t, err)
	if one != other || len(one) != 20 {
		t.Errorf("the processes follow the feeds %q and %q", one, other)
	}
	for _, function := range []string{"pg_control_system()", "pg_walfile_name(pg_lsn)", "pg_current_wal_lsn()"} {
		if !valueOf[bool](t, list[0], "SELECT has_function_privilege('public', $1, 'EXECUTE')", function) {
			t.Errorf("%s is not for everybody", function)
		}
	}
}

// TestFeedDoesNotEndWithAnOutage: a server that is not there for now is not another one.
func TestFeedDoesNotEndWithAnOutage(t *testing.T) {
	server := postgrestest.Start(t)
	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	defer conn.Close(context.Background())
	exec := func(statement string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	exec("CREATE DATABASE feed")
	at, err := url.Parse(server.URL())
	require.NoError(t, err)
	at.Path = "/feed"
	j := process(t, at.String(), silent(), journal.Options{})
	before, err := j.feedID(t.Context())
	require.NoError(t, err)

	exec("ALTER DATABASE feed ALLOW_CONNECTIONS false")
	j.pool.Reset()
	if other, err := j.feedID(t.Context()); err == nil {
		t.Errorf("a server that lets nobody in is the feed %q, after %q", other, before)
	}
	exec("ALTER DATABASE feed ALLOW_CONNECTIONS true")
	after, err := j.feedID(t.Context())
	require.NoError(t, err)
	if after != before {
		t.Errorf("then it is the feed %q, after %q", after, before)
	}
}

// TestVersionsOfADeliveryFollowEachOther: it takes more of them than expected, and another process
// takes some meanwhile.
func TestVersionsOfADeliveryFollowEachOther(t *testing.T) {
	_, both := processes(t, 2, silent())
	var versions []report.Version
	attempts := 0
	require.NoError(t, both[0].queue.Do(t.Context(), &commit.Request{Versions: 1, Sync: true, Task: task(func(tx *commit.Transaction) error {
		attempts++
		versions = nil
		if err := tx.Store.BeginDelivery(1, 0); err != nil {
			return err
		}
		defer tx.Store.EndDelivery()
		for range 2 {
			v, err := tx.Store.NextVersion(0)
			if err != nil {
				return err
			}
			versions = append(versions, v)
			appendTo(t, both[1], "beside", "{}")
		}
		return nil
	})}))
	if len(versions) != 2 || versions[1] != versions[0]+1 || attempts != 2 {
		t.Errorf("versions %d in attempt %d", versions, attempts)
	}
}

// TestFeedSaysThatThereIsMore: what is committed and cannot be told yet.
func TestFeedSaysThatThereIsMore(t *testing.T) {
	_, list := processes(t, 1, silent())
	first := appendTo(t, list[0], "first", "{}")
	appendTo(t, list[0], "second", "{}")
	page, err := list[0].ReadFeed(t.Context(), "feed", report.Cursor{Kinds: report.Kinds()}, first, 10, 100)
	require.NoError(t, err)
	if len(page.Changes) != 1 || page.Changes[0].ID != "first" || !page.More {
		t.Errorf("%d changes, more: %t", len(page.Changes), page.More)
	}
}
