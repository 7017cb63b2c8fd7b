package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/networktest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// TestPostgresNetworkSwallows: the network swallows what is sent. Nobody waits for longer
// than the timeouts of a group commit and of the one before it.
func TestPostgresNetworkSwallows(t *testing.T) {
	direct := postgrestest.URL(t)
	network, through := networktest.New(t, direct)
	p := hasty()
	p.heartbeat = 0
	var all sync.WaitGroup
	j, other := process(t, through+"&connect_timeout=1", p, journal.Options{}), process(t, direct, p, journal.Options{})
	appendTo(t, j, "0", "x")
	conns := make([]*pgxpool.Conn, 8)
	for i := range conns {
		var err error
		conns[i], err = j.pool.Acquire(t.Context())
		require.NoError(t, err)
	}
	for _, c := range conns {
		c.Release()
	}
	network.Swallow()
	for i := range 4 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), journaltest.Timeout)
			defer cancel()
			if _, err := j.Append(ctx, journaltest.Put(fmt.Sprint(i), "swallowed")); err == nil || ctx.Err() != nil {
				t.Errorf("Append: %v, %v", err, ctx.Err())
			}
		})
		all.Go(func() {
			if i > 0 {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), journaltest.Timeout)
			defer cancel()
			if _, err := j.Claim(ctx, report.Advisories, 1, 1); err == nil || ctx.Err() != nil {
				t.Errorf("Claim: %v, %v", err, ctx.Err())
			}
		})
	}
	all.Wait()
	if j.Ready() == nil {
		t.Error("the journal is ready although the network swallows everything")
	}
	if n := j.pool.Stat().IdleConns(); n > 0 {
		t.Errorf("the journal keeps %d connections without an answer", n)
	}
	appendTo(t, other, "0", "y")
	network.Heal()
	journaltest.Eventually(t, "it recovers by itself", func() bool { return j.Ready() == nil })
	appendTo(t, j, "0", "z")
	journaltest.Eventually(t, "it claims again", func() bool {
		got, err := j.Claim(t.Context(), report.Advisories, 100, 1<<20)
		return err == nil && len(got) > 0
	})
	sumsHold(t, j, other)
}

// TestPostgresClaimWithoutAnswer loses the answer to a Claim whose commit the server
// carries out: what was claimed is given out all the same.
func TestPostgresClaimWithoutAnswer(t *testing.T) {
	direct := postgrestest.URL(t)
	network, through := networktest.New(t, direct)
	j, other := process(t, through, silent(), journal.Options{}), process(t, direct, silent(), journal.Options{})
	appendTo(t, other, "1", "x")
	execSQL(t, other, `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
		CREATE TRIGGER wait BEFORE UPDATE ON documents FOR EACH ROW EXECUTE FUNCTION wait()`)
	lock, err := other.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer lock.Release()
	_, err = lock.Exec(t.Context(), "SELECT pg_advisory_lock(1)")
	require.NoError(t, err)

	answer := later(func(ctx context.Context) error {
		_, err := j.Claim(ctx, report.Advisories, 10, 1<<20)
		return err
	})
	journaltest.Eventually(t, "the server executes the commit", func() bool { return waitsFor(t, other, "advisory") })
	network.Cut()
	if err := <-answer; err == nil || !j.uncertain {
		t.Errorf("Claim got an answer, %v, or took it for certain that it has claimed nothing", err)
	}
	_, err = lock.Exec(t.Context(), "SELECT pg_advisory_unlock(1)")
	require.NoError(t, err)
	journaltest.Eventually(t, "the claim is committed", func() bool { return valueOf[int](t, other, "SELECT count(*) FROM documents WHERE claimed <> 0") == 1 })
	network.Restore()
	journaltest.Eventually(t, "the change is given out", func() bool {
		got, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
		return err == nil && len(got) == 1
	})
	if got := claimed(t, other); len(got) != 0 {
		t.Errorf("the change was given out twice: %v", got)
	}
}

// TestPostgresUncertainClaim: a Claim whose answer was lost has claimed something, and no other connection was
// lost.
func TestPostgresUncertainClaim(t *testing.T) {
	_, p := processes(t, 1, silent())
	appendTo(t, p[0], "1", "x")
	if got := claimed(t, p[0]); len(got) != 1 {
		t.Fatalf("claimed %v", got)
	}
	if got := claimed(t, p[0]); len(got) != 0 {
		t.Fatalf("claimed %v once more", got)
	}
	p[0].uncertain = true
	p[0].idle.InvalidateAll()
	if got := claimed(t, p[0]); len(got) != 1 {
		t.Errorf("claimed %v, want what the first one had claimed", got)
	}
}

// TestPostgresConnectionsEnd: the server ends connections at random, under load.
func TestPostgresConnectionsEnd(t *testing.T) {
	url, p := processes(t, 3, hasty())
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	l := loadOn(t, p)
	for range 30 {
		l.more(10)
		_, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'riskdex%' AND random() < 0.2")
		require.NoError(t, err)
	}
	l.more(10)
	for _, j := range p {
		j.pool.Reset() // those that were ended and not used since
	}
	l.end()
}
