package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// claimOf returns the error of a Claim during or after another process's lock of the
// kind. It claims nothing, so that it also asks when nothing is pending.
func claimOf(t *testing.T, j *Journal, kind report.Kind) error {
	_, err := j.Claim(t.Context(), kind, 0, 1)
	return err
}

func claimOfCities(t *testing.T, j *Journal) error { return claimOf(t, j, report.Cities) }

// holderOf returns which process has locked a kind, according to the database.
func holderOf(t *testing.T, j *Journal, kind report.Kind) int64 {
	return valueOf[int64](t, j, "SELECT holder FROM holds WHERE kind = $1", string(kind))
}

func TestPostgresKindLock(t *testing.T) {
	_, p := processes(t, 3, hasty())
	for _, j := range p {
		require.NoError(t, claimOfCities(t, j))
	}
	for range 2 { // twice is harmless
		require.NoError(t, p[0].LockKind(t.Context(), report.Cities))
	}
	require.NoError(t, claimOfCities(t, p[0]))
	require.NoError(t, p[1].LockKind(t.Context(), report.Advisories)) // another kind is independent
	if err := p[1].LockKind(t.Context(), report.Cities); !errors.Is(err, report.ErrKindLocked) {
		t.Errorf("a second lock of the kind returned %v, want ErrKindLocked", err)
	}
	for range 3 {
		if err := claimOfCities(t, p[2]); !errors.Is(err, report.ErrKindLocked) {
			t.Errorf("a Claim while another process has the lock returned %v, want ErrKindLocked", err)
		}
	}
	p[0].UnlockKind(report.Cities)
	journaltest.Eventually(t, "the kind is unlocked", func() bool { return holderOf(t, p[1], report.Cities) == 0 })
	// A process that has not seen the lock may not lock the kind at once, either.
	if err := p[1].LockKind(t.Context(), report.Cities); !errors.Is(err, report.ErrKindLocked) {
		t.Errorf("a lock without having seen the other's returned %v, want ErrKindLocked", err)
	}
	require.NoError(t, p[1].LockKind(t.Context(), report.Cities))
	p[1].UnlockKind(report.Cities)
	journaltest.Eventually(t, "the kind is unlocked", func() bool { return holderOf(t, p[1], report.Cities) == 0 })
	for _, j := range []*Journal{p[0], p[2]} {
		if err := claimOfCities(t, j); !errors.Is(err, report.ErrKindLocked) {
			t.Errorf("the first Claim after the lock returned %v, want ErrKindLocked", err)
		}
		require.NoError(t, claimOfCities(t, j))
	}
	require.NoError(t, claimOfCities(t, p[1]))
}

// TestPostgresKindLockWaits: one process wants to lock a kind while another has a claim
// of it.
func TestPostgresKindLockWaits(t *testing.T) {
	_, p := processes(t, 2, hasty())
	appendTo(t, p[0], "1", "x")
	c := claimed(t, p[1])
	held := later(func(ctx context.Context) error { return p[0].LockKind(ctx, report.Advisories) })
	journaltest.Eventually(t, "it has the lock", func() bool { return holderOf(t, p[0], report.Advisories) != 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	select {
	case err := <-held:
		t.Fatalf("the lock did not wait for the claim: %v", err)
	case <-ctx.Done():
	}
	settle(t, p[1], report.Retry, c...)
	require.NoError(t, <-held)
	if got := claimed(t, p[0]); len(got) != 1 {
		t.Errorf("the process with the lock claims %v", got)
	}
}

// TestPostgresKindLockOfADeadProcess: the process that has the lock ends without
// releasing it.
func TestPostgresKindLockOfADeadProcess(t *testing.T) {
	_, p := processes(t, 2, hasty())
	require.NoError(t, claimOfCities(t, p[1]))
	require.NoError(t, p[0].LockKind(t.Context(), report.Cities))
	p[0].kill()
	journaltest.Eventually(t, "its lock ends", func() bool { return holderOf(t, p[1], report.Cities) == 0 })
	if err := claimOfCities(t, p[1]); !errors.Is(err, report.ErrKindLocked) {
		t.Errorf("the first Claim after the lock returned %v, want ErrKindLocked", err)
	}
	require.NoError(t, claimOfCities(t, p[1]))
	require.NoError(t, p[1].LockKind(t.Context(), report.Cities))
}

// TestPostgresKindLockAndExpiredLease: the lease of a process expires before, while and
// after it wants to lock a kind.
func TestPostgresKindLockAndExpiredLease(t *testing.T) {
	clock, silent, j := pair(t)
	die := func() {
		id := silent.member.me.Load()
		clock.move(16 * time.Second)
		journaltest.Eventually(t, "it is taken for dead", func() bool { return isGone(t, j, id) })
	}
	live := func() { require.NoError(t, silent.renewLease(t.Context())) }
	require.NoError(t, claimOfCities(t, silent))

	die() // before: it must not get a lock that nobody could take from it
	if err := silent.LockKind(t.Context(), report.Cities); !errors.Is(err, errTakenForDead) {
		t.Errorf("LockKind of a process that was taken for dead: %v", err)
	}
	if holder := holderOf(t, j, report.Cities); holder != 0 {
		t.Fatalf("the kind is locked by %d", holder)
	}
	require.NoError(t, j.LockKind(t.Context(), report.Cities)) // another process has locked it meanwhile
	j.UnlockKind(report.Cities)
	journaltest.Eventually(t, "the kind is unlocked", func() bool { return holderOf(t, j, report.Cities) == 0 })
	live()
	if err := claimOfCities(t, silent); !errors.Is(err, report.ErrKindLocked) {
		t.Errorf("its Claim returned %v although another process had the lock, want ErrKindLocked", err)
	}
	require.NoError(t, claimOfCities(t, silent))

	appendTo(t, j, "1", "x") // while: it waits for a claim, and loses the lock
	c := claimed(t, j)
	held := later(func(ctx context.Context) error { return silent.LockKind(ctx, report.Advisories) })
	journaltest.Eventually(t, "it has the lock", func() bool { return holderOf(t, j, report.Advisories) != 0 })
	die()
	live()
	settle(t, j, report.Indexed, c...)
	if err := <-held; !errors.Is(err, report.ErrKindLocked) {
		t.Errorf("LockKind after its lease expired: %v", err)
	}
	if holder := holderOf(t, j, report.Advisories); holder != 0 {
		t.Fatalf("the kind is locked by %d", holder)
	}

	journaltest.Eventually(t, "it may lock the kind", func() bool { return silent.LockKind(t.Context(), report.Advisories) == nil })
	die() // after: others continue, and it is told
	live()
	if _, err := silent.Claim(t.Context(), report.Advisories, 0, 0); !errors.Is(err, report.ErrKindLocked) {
		t.Errorf("its Claim returned %v although it has lost the lock, want ErrKindLocked", err)
	}
	for range 2 {
		_, _ = j.Claim(t.Context(), report.Advisories, 1, 1)
	}
	if _, err := j.Claim(t.Context(), report.Advisories, 1, 1); err != nil {
		t.Errorf("the other process cannot claim: %v", err)
	}
}

// TestPostgresUnlockAndLock unlocks a kind and locks it again at once, while the
// unlocking is still under way.
func TestPostgresUnlockAndLock(t *testing.T) {
	p := hasty()
	p.heartbeat = time.Millisecond
	_, list := processes(t, 1, p)
	j := list[0]
	for range 300 {
		require.NoError(t, j.LockKind(t.Context(), report.Cities))
		if holder := holderOf(t, j, report.Cities); holder != j.member.me.Load() {
			t.Fatalf("LockKind succeeded, but the kind is locked by %d", holder)
		}
		j.UnlockKind(report.Cities)
	}
}

// TestPostgresClaimsMeetKindLocks: claims and locks compete all the time. While a process
// has locked the kind, no other has a claim of it or gets one.
func TestPostgresClaimsMeetKindLocks(t *testing.T) {
	_, p := processes(t, 3, hasty())
	for i := range 20 {
		appendTo(t, p[0], fmt.Sprint(i), "x")
	}
	var holder atomic.Pointer[Journal]
	var claims, held atomic.Int64
	over := make(chan struct{})
	var all sync.WaitGroup
	for _, j := range p {
		for range 2 {
			all.Go(func() {
				for {
					select {
					case <-over:
						return
					default:
					}
					before := holder.Load()
					changes, err := j.Claim(context.Background(), report.Advisories, 3, 1<<20)
					if err != nil && !errors.Is(err, report.ErrKindLocked) {
						t.Errorf("Claim: %v", err)
					}
					if after := holder.Load(); before != nil && before == after && before != j && len(changes) > 0 {
						t.Error("a process got a claim while another had the lock")
					}
					claims.Add(int64(len(changes)))
					list := make([]report.Settlement, len(changes))
					for i, c := range changes {
						list[i] = report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Retry}
					}
					if err := j.Settle(context.Background(), list); err != nil {
						t.Errorf("Settle: %v", err)
					}
				}
			})
		}
	}
	for i := 0; held.Load() < 40; i++ {
		j := p[i%len(p)]
		if err := j.LockKind(t.Context(), report.Advisories); err != nil {
			if !errors.Is(err, report.ErrKindLocked) {
				t.Fatal(err)
			}
			continue
		}
		holder.Store(j)
		for range 3 {
			others := valueOf[int](t, j, "SELECT count(*) FROM documents WHERE holder > 0 AND holder <> $1 AND claimed <> 0", j.member.me.Load())
			if others > 0 {
				t.Errorf("other processes have %d claims beside the lock", others)
			}
		}
		held.Add(1)
		holder.Store(nil)
		j.UnlockKind(report.Advisories)
	}
	close(over)
	all.Wait()
	if claims.Load() == 0 {
		t.Error("nothing was ever claimed, so this test shows nothing")
	}
	t.Logf("%d locks among %d claims", held.Load(), claims.Load())
}

// TestPostgresKindLockAfterClaimsWereReleased: a process loses the connection on which it
// listens while a document is on its way to the index that another process replaces.
func TestPostgresKindLockAfterClaimsWereReleased(t *testing.T) {
	_, p := processes(t, 2, silent())
	for _, j := range p {
		require.NoError(t, claimOf(t, j, report.Advisories))
	}
	appendTo(t, p[0], "1", "x")
	onItsWay := claimed(t, p[0])
	execSQL(t, p[1], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = $1", p[0].member.connections)
	journaltest.Eventually(t, "its claims are released", func() bool {
		return valueOf[int](t, p[1], "SELECT count(*) FROM documents WHERE claimed <> 0") == 0
	})
	require.NoError(t, p[1].LockKind(t.Context(), report.Advisories))
	settle(t, p[0], report.Indexed, onItsWay...)
	if got := claimed(t, p[1]); len(got) != 1 {
		t.Errorf("%d documents for the new index, want the one that went to the old index", len(got))
	}
}

// TestPostgresLockKindTwice: the second LockKind of a process that has the lock fails at
// any moment.
func TestPostgresLockKindTwice(t *testing.T) {
	_, p := processes(t, 2, silent())
	require.NoError(t, p[0].LockKind(t.Context(), report.Cities))
	for d := time.Duration(0); d < 20*time.Millisecond; d += 50 * time.Microsecond {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		err := p[0].LockKind(ctx, report.Cities)
		cancel()
		require.NoError(t, p[0].unlockUnwanted(t.Context())) // as with every heartbeat
		if holderOf(t, p[1], report.Cities) != p[0].member.me.Load() {
			t.Fatalf("after %v, %v: the kind was unlocked", d, err)
		}
	}
}
