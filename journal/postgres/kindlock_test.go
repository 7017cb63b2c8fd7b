package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/journal/internal/committest"
	"riskdex/report"
)

// claimOf is what a Claim says while or after another has the kind. One that wants
// something does not ask where nothing has happened.
func claimOf(t *testing.T, j *Journal, kind report.Kind) error {
	_, err := j.Claim(t.Context(), kind, 0, 1)
	return err
}

func claimOfCities(t *testing.T, j *Journal) error { return claimOf(t, j, report.Cities) }

// holderOf is who has a kind, by the database.
func holderOf(t *testing.T, j *Journal, kind report.Kind) int64 {
	return valueOf[int64](t, j, "SELECT holder FROM holds WHERE kind = $1", string(kind))
}

func TestPostgresHold(t *testing.T) {
	_, p := processes(t, 3, hasty())
	for _, j := range p {
		committest.Must(t, claimOfCities(t, j))
	}
	for range 2 { // twice is harmless
		committest.Must(t, p[0].LockKind(t.Context(), report.Cities))
	}
	committest.Must(t, claimOfCities(t, p[0]))
	committest.Must(t, p[1].LockKind(t.Context(), report.Advisories)) // another kind is another matter
	if err := p[1].LockKind(t.Context(), report.Cities); !errors.Is(err, report.ErrHeld) {
		t.Errorf("a second holder: %v", err)
	}
	for range 3 {
		if err := claimOfCities(t, p[2]); !errors.Is(err, report.ErrHeld) {
			t.Errorf("while it is held: %v", err)
		}
	}
	p[0].UnlockKind(report.Cities)
	committest.Eventually(t, "it is given back", func() bool { return holderOf(t, p[1], report.Cities) == 0 })
	// Who has not seen it so may not have it at once, either.
	if err := p[1].LockKind(t.Context(), report.Cities); !errors.Is(err, report.ErrHeld) {
		t.Errorf("without a look at its index: %v", err)
	}
	committest.Must(t, p[1].LockKind(t.Context(), report.Cities))
	p[1].UnlockKind(report.Cities)
	committest.Eventually(t, "it is given back", func() bool { return holderOf(t, p[1], report.Cities) == 0 })
	for _, j := range []*Journal{p[0], p[2]} {
		if err := claimOfCities(t, j); !errors.Is(err, report.ErrHeld) {
			t.Errorf("after it was held: %v", err)
		}
		committest.Must(t, claimOfCities(t, j))
	}
	committest.Must(t, claimOfCities(t, p[1]))
}

// TestPostgresHoldWaits has one want a kind of which another has a claim.
func TestPostgresHoldWaits(t *testing.T) {
	_, p := processes(t, 2, hasty())
	appendTo(t, p[0], "1", "x")
	c := claimed(t, p[1])
	held := later(func(ctx context.Context) error { return p[0].LockKind(ctx, report.Advisories) })
	committest.Eventually(t, "it has the kind", func() bool { return holderOf(t, p[0], report.Advisories) != 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	select {
	case err := <-held:
		t.Fatalf("it did not wait: %v", err)
	case <-ctx.Done():
	}
	settle(t, p[1], report.Retry, c...)
	committest.Must(t, <-held)
	if got := claimed(t, p[0]); len(got) != 1 {
		t.Errorf("the holder claims %v", got)
	}
}

// TestPostgresHoldOfTheDead has a holder end without a word.
func TestPostgresHoldOfTheDead(t *testing.T) {
	_, p := processes(t, 2, hasty())
	committest.Must(t, claimOfCities(t, p[1]))
	committest.Must(t, p[0].LockKind(t.Context(), report.Cities))
	p[0].kill()
	committest.Eventually(t, "its hold ends", func() bool { return holderOf(t, p[1], report.Cities) == 0 })
	if err := claimOfCities(t, p[1]); !errors.Is(err, report.ErrHeld) {
		t.Errorf("after that: %v", err)
	}
	committest.Must(t, claimOfCities(t, p[1]))
	committest.Must(t, p[1].LockKind(t.Context(), report.Cities))
}

// TestPostgresHoldAndSilence has a process be taken for dead before, while and after it
// wants a kind.
func TestPostgresHoldAndSilence(t *testing.T) {
	clock, silent, j := pair(t)
	die := func() {
		id := silent.member.me.Load()
		clock.move(16 * time.Second)
		committest.Eventually(t, "it is taken for dead", func() bool { return isGone(t, j, id) })
	}
	live := func() { committest.Must(t, silent.renewLease(t.Context())) }
	committest.Must(t, claimOfCities(t, silent))

	die() // before: it must not have what nobody could take from it
	if err := silent.LockKind(t.Context(), report.Cities); !errors.Is(err, errTakenForDead) {
		t.Errorf("Hold of one that was taken for dead: %v", err)
	}
	if holder := holderOf(t, j, report.Cities); holder != 0 {
		t.Fatalf("the kind is held by %d", holder)
	}
	committest.Must(t, j.LockKind(t.Context(), report.Cities)) // another has it meanwhile
	j.UnlockKind(report.Cities)
	committest.Eventually(t, "it is given back", func() bool { return holderOf(t, j, report.Cities) == 0 })
	live()
	if err := claimOfCities(t, silent); !errors.Is(err, report.ErrHeld) {
		t.Errorf("it does not hear that another had the kind: %v", err)
	}
	committest.Must(t, claimOfCities(t, silent))

	appendTo(t, j, "1", "x") // while: it waits for a claim, and loses the kind
	c := claimed(t, j)
	held := later(func(ctx context.Context) error { return silent.LockKind(ctx, report.Advisories) })
	committest.Eventually(t, "it has the kind", func() bool { return holderOf(t, j, report.Advisories) != 0 })
	die()
	live()
	settle(t, j, report.Indexed, c...)
	if err := <-held; !errors.Is(err, report.ErrHeld) {
		t.Errorf("Hold of what was lost: %v", err)
	}
	if holder := holderOf(t, j, report.Advisories); holder != 0 {
		t.Fatalf("the kind is held by %d", holder)
	}

	committest.Eventually(t, "it may have it", func() bool { return silent.LockKind(t.Context(), report.Advisories) == nil })
	die() // after: others go on, and it is told
	live()
	if _, err := silent.Claim(t.Context(), report.Advisories, 0, 0); !errors.Is(err, report.ErrHeld) {
		t.Errorf("it does not hear that it has lost the kind: %v", err)
	}
	for range 2 {
		_, _ = j.Claim(t.Context(), report.Advisories, 1, 1)
	}
	if _, err := j.Claim(t.Context(), report.Advisories, 1, 1); err != nil {
		t.Errorf("the other cannot go on: %v", err)
	}
}

// TestPostgresReleaseAndHold gives a kind back and has it again at once, while the one
// who gives it back is at work.
func TestPostgresReleaseAndHold(t *testing.T) {
	p := hasty()
	p.heartbeat = time.Millisecond
	_, list := processes(t, 1, p)
	j := list[0]
	for range 300 {
		committest.Must(t, j.LockKind(t.Context(), report.Cities))
		if holder := holderOf(t, j, report.Cities); holder != j.member.me.Load() {
			t.Fatalf("Hold said that it has the kind, which is held by %d", holder)
		}
		j.UnlockKind(report.Cities)
	}
}

// TestPostgresClaimsMeetHolds has claims and holds meet all the time: while a process
// has the kind, nobody else has a claim of it, nor gets one.
func TestPostgresClaimsMeetHolds(t *testing.T) {
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
					if err != nil && !errors.Is(err, report.ErrHeld) {
						t.Errorf("Claim: %v", err)
					}
					if after := holder.Load(); before != nil && before == after && before != j && len(changes) > 0 {
						t.Error("it got a claim while another has the kind")
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
			if !errors.Is(err, report.ErrHeld) {
				t.Fatal(err)
			}
			continue
		}
		holder.Store(j)
		for range 3 {
			others := valueOf[int](t, j, "SELECT count(*) FROM documents WHERE holder > 0 AND holder <> $1 AND claimed <> 0", j.member.me.Load())
			if others > 0 {
				t.Errorf("others have %d claims", others)
			}
		}
		held.Add(1)
		holder.Store(nil)
		j.UnlockKind(report.Advisories)
	}
	close(over)
	all.Wait()
	if claims.Load() == 0 {
		t.Error("nothing was claimed")
	}
	t.Logf("%d holds among %d claims", held.Load(), claims.Load())
}

// TestPostgresHoldAfterClaimsWereGivenBack has a process lose the connection that it
// listens on while a document is on its way to the index that another replaces.
func TestPostgresHoldAfterClaimsWereGivenBack(t *testing.T) {
	_, p := processes(t, 2, silent())
	for _, j := range p {
		committest.Must(t, claimOf(t, j, report.Advisories))
	}
	appendTo(t, p[0], "1", "x")
	onItsWay := claimed(t, p[0])
	execSQL(t, p[1], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = $1", p[0].member.connections)
	committest.Eventually(t, "its claims are given back", func() bool {
		return valueOf[int](t, p[1], "SELECT count(*) FROM documents WHERE claimed <> 0") == 0
	})
	committest.Must(t, p[1].LockKind(t.Context(), report.Advisories))
	settle(t, p[0], report.Indexed, onItsWay...)
	if got := claimed(t, p[1]); len(got) != 1 {
		t.Errorf("%d documents for the new index, want the one that went to the old", len(got))
	}
}

// TestPostgresHoldTwice has the second Hold of one that has the kind fail at any moment.
func TestPostgresHoldTwice(t *testing.T) {
	_, p := processes(t, 2, silent())
	committest.Must(t, p[0].LockKind(t.Context(), report.Cities))
	for d := time.Duration(0); d < 20*time.Millisecond; d += 50 * time.Microsecond {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		err := p[0].LockKind(ctx, report.Cities)
		cancel()
		committest.Must(t, p[0].unlockUnwanted(t.Context())) // as with every sign of life
		if holderOf(t, p[1], report.Cities) != p[0].member.me.Load() {
			t.Fatalf("after %v, %v: the kind was given back", d, err)
		}
	}
}
