package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TestPostgresKilled repeatedly kills the server under load and starts it again.
func TestPostgresKilled(t *testing.T) {
	server := postgrestest.Start(t)
	var p []*Journal
	for range 2 {
		p = append(p, process(t, server.URL(), hasty(), journal.Options{}))
	}
	l := loadOn(t, p)
	for range torture.Extent(4, 40) {
		l.more(50)
		server.Kill()
		journaltest.Eventually(t, "it is noticed", func() bool { return p[0].Ready() != nil && p[1].Ready() != nil })
		require.NoError(t, server.Start(t.Context()))
		journaltest.Eventually(t, "both recover by themselves", func() bool { return p[0].Ready() == nil && p[1].Ready() == nil })
	}
	l.more(50)
	l.end()
}

// TestPostgresFailover kills the primary under load. It is replaced by a standby that has
// everything acknowledged.
func TestPostgresFailover(t *testing.T) {
	for range torture.Extent(1, 10) {
		failover(t)
	}
}

func failover(t *testing.T) {
	primary := postgrestest.Start(t)
	setUp := process(t, primary.URL(), hasty(), journal.Options{}) // before anything waits for a standby
	standby, err := primary.Standby(t.Context())
	require.NoError(t, err)
	postgrestest.Own(t, standby)
	require.NoError(t, standby.Start(t.Context()))
	execSQL(t, setUp, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	execSQL(t, setUp, "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "the standby is waited for", func() bool {
		return valueOf[int](t, setUp, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
	})
	require.NoError(t, setUp.Close())

	both := fmt.Sprintf("postgres://riskdex@127.0.0.1:%d,127.0.0.1:%d/postgres?target_session_attrs=read-write", primary.Port(), standby.Port())
	var p []*Journal
	for range 2 {
		p = append(p, process(t, both, hasty(), journal.Options{}))
	}
	l := loadOn(t, p)
	l.more(200)
	before := p[0].member.me.Load()
	primary.Kill()
	journaltest.Eventually(t, "it is noticed", func() bool { return p[0].Ready() != nil && p[1].Ready() != nil })
	require.NoError(t, standby.Promote(t.Context()))
	journaltest.Eventually(t, "both recover by themselves", func() bool { return p[0].Ready() == nil && p[1].Ready() == nil })
	l.more(200)
	l.end()
	if p[0].member.me.Load() != before {
		t.Error("a process was taken for dead during the failover")
	}
}

// TestPostgresForgetsASettlement: in a crash the server loses a settlement, but not the
// claim before it, while the process continues.
func TestPostgresForgetsASettlement(t *testing.T) {
	server := postgrestest.Start(t)
	j := process(t, server.URL(), hasty(), journal.Options{})
	execSQL(t, j, "ALTER SYSTEM SET wal_writer_delay = '10s'") // what does not wait for the disk reaches it later
	execSQL(t, j, "SELECT pg_reload_conf()")
	appendTo(t, j, "1", "x")
	claimed, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %v, %v; want both changes", claimed, err)
	}
	appendTo(t, j, "2", "y") // with this, the claim is on disk as well
	require.NoError(t, j.Settle(t.Context(), []report.Settlement{{Key: claimed[0].Key, Version: claimed[0].Version, Outcome: report.Indexed}}))
	server.Kill()
	require.NoError(t, server.Start(t.Context()))
	given := map[report.ID]bool{}
	journaltest.Eventually(t, "both are given out", func() bool {
		changes, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
		for _, c := range changes {
			given[c.ID] = true
		}
		return err == nil && given["1"] && given["2"]
	})
}

// TestPostgresReadOnly: the server accepts no writes for a while.
func TestPostgresReadOnly(t *testing.T) {
	server := postgrestest.Start(t)
	j := process(t, server.URL(), hasty(), journal.Options{})
	appendTo(t, j, "1", "x")
	execSQL(t, j, "ALTER SYSTEM SET default_transaction_read_only = on")
	execSQL(t, j, "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "Append fails", func() bool {
		_, err := j.Append(t.Context(), journaltest.Put("1", "x"))
		return err != nil && strings.Contains(err.Error(), "read-only") && !errors.Is(err, report.ErrNoRoom)
	})
	if j.Ready() == nil {
		t.Error("the journal is ready while the server accepts no writes")
	}
	if err := j.queue.Do(t.Context(), &commit.Request{Sync: true}); err == nil {
		t.Error("a check whether the journal can be written succeeded")
	}
	if _, err := j.Stats(t.Context()); err != nil {
		t.Errorf("Stats failed while only writes are refused: %v", err)
	}
	execSQL(t, j, "ALTER SYSTEM SET default_transaction_read_only = off")
	execSQL(t, j, "SELECT pg_reload_conf()")
	journaltest.Eventually(t, "it recovers by itself", func() bool { return j.Ready() == nil })
	appendTo(t, j, "1", "y")
	sumsHold(t, j)
}

// TestPostgresFullDisk: the disk with the documents is full.
func TestPostgresFullDisk(t *testing.T) {
	needs.FullRun(t, "PostgreSQL")
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	disk := filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Mkdir(disk, 0o777))
	mount := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m,mode=777", "none", disk)
	if out, err := mount.CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small disk: %v: %s", err, out)
	}
	server := postgrestest.Start(t)
	t.Cleanup(func() {
		require.NoError(t, server.Stop())
		if out, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	for folder := disk; folder != filepath.Clean(os.TempDir()); folder = filepath.Dir(folder) {
		require.NoError(t, os.Chmod(folder, 0o777|os.ModeSticky))
	}
	require.NoError(t, os.Mkdir(filepath.Join(disk, "space"), 0o700))
	if out, err := exec.Command("chown", "postgres", filepath.Join(disk, "space")).CombinedOutput(); err != nil {
		t.Fatalf("chown: %v: %s", err, out)
	}
	j := process(t, server.URL(), hasty(), journal.Options{})
	execSQL(t, j, fmt.Sprintf("CREATE TABLESPACE small LOCATION '%s'", filepath.Join(disk, "space")))
	execSQL(t, j, "ALTER TABLE documents SET TABLESPACE small")
	execSQL(t, j, "ALTER TABLE documents ALTER body SET STORAGE EXTERNAL")

	taken := 0
	journaltest.Eventually(t, "the disk is full", func() bool {
		_, err := j.Append(t.Context(), journaltest.Put(fmt.Sprint(taken), noise(100_000)))
		if err == nil {
			taken++
		} else if !errors.Is(err, report.ErrNoRoom) {
			t.Fatal(err)
		}
		return err != nil
	})
	// A small write fits: then the journal is ready, and accepts what there is space for.
	entries, err := j.Entries(t.Context(), report.Advisories, "", 1000)
	if err != nil || len(entries) != taken {
		t.Errorf("%d deliveries were acknowledged, but the journal has %d: %v", taken, len(entries), err)
	}
	execSQL(t, j, "ALTER TABLE documents SET TABLESPACE pg_default")
	journaltest.Eventually(t, "there is space again", func() bool { return j.Ready() == nil })
	appendTo(t, j, "last", noise(100_000))
	sumsHold(t, j)
}

// TestPostgresMaxBytes reaches the limit of the tables with two processes.
func TestPostgresMaxBytes(t *testing.T) {
	url := postgrestest.URL(t)
	var p []*Journal
	for range 2 {
		p = append(p, process(t, url, hasty(), journal.Options{MaxBytes: 2 << 20}))
	}
	for i := 0; p[0].Ready() == nil || p[1].Ready() == nil; i++ {
		if i > 10_000 {
			t.Fatal("the limit was never reached")
		}
		_, err := p[0].Append(t.Context(), journaltest.Put(fmt.Sprint(i), noise(20_000)))
		if err != nil && !errors.Is(err, report.ErrNoRoom) {
			t.Fatal(err)
		}
	}
	for _, j := range p {
		if _, err := j.Append(t.Context(), journaltest.Put("more", "x")); !errors.Is(err, report.ErrNoRoom) {
			t.Errorf("Append past the limit returned %v, want ErrNoRoom", err)
		}
		settle(t, j, report.Indexed, claimed(t, j)...)
		if s, err := j.Stats(t.Context()); err != nil || s.Limit != 2<<20 || s.Used < s.Limit || s.Used > s.Bytes {
			t.Errorf("Stats: %+v, %v", s, err)
		}
	}
	for _, j := range p {
		deliver(t, j, journaltest.Delete("1"))
	}
	sumsHold(t, p...)
}

// TestPostgresLimitEndsWhenSpaceIsFreed: the server keeps the space of what is deleted, for what comes
// next, so the journal is full no longer, whether or not it has been vacuumed.
func TestPostgresLimitEndsWhenSpaceIsFreed(t *testing.T) {
	const limit = 4 << 20
	j := process(t, postgrestest.URL(t), hasty(), journal.Options{MaxBytes: limit})
	execSQL(t, j, "ALTER TABLE documents SET (autovacuum_enabled = false, toast.autovacuum_enabled = false)")
	for range 2 {
		n := 0
		for ; j.Ready() == nil && n < 10_000; n++ {
			if _, err := j.Append(t.Context(), journaltest.Put(fmt.Sprint(n), noise(20_000))); err != nil && !errors.Is(err, report.ErrNoRoom) {
				t.Fatal(err)
			}
		}
		if err := j.Ready(); !errors.Is(err, report.ErrNoRoom) || n < limit/20_000/2 {
			t.Fatalf("after %d documents: %v, want ErrNoRoom", n, err)
		}
		for i := range n {
			deliver(t, j, journaltest.Delete(fmt.Sprint(i)))
		}
		journaltest.Eventually(t, "there is room again", func() bool { return j.Ready() == nil })
		if s, err := j.Stats(t.Context()); err != nil || s.Used >= limit || s.Bytes < limit {
			t.Errorf("Stats: %+v, %v; want less used than the tables take", s, err)
		}
	}
	sumsHold(t, j)
}

// TestPostgresNoServer: no server is there when a process starts.
func TestPostgresNoServer(t *testing.T) {
	server := postgrestest.Start(t)
	require.NoError(t, server.Stop())
	ctx, cancel := context.WithTimeout(t.Context(), journaltest.Timeout)
	defer cancel()
	start := time.Now()
	if _, err := Open(ctx, server.URL(), journal.Options{}); err == nil || ctx.Err() != nil {
		t.Errorf("after %v opening returned %v", time.Since(start), err)
	}
}
