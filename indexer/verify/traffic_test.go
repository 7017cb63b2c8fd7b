package verify_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// pause gives others a moment while a test waits for them.
func pause() { time.Sleep(time.Millisecond) }

// traffic creates, corrects and deletes hot documents without end.
func traffic(ctx context.Context, r *indexertest.Rig, hot int, random *rand.Rand) error {
	for n := 0; ctx.Err() == nil; n++ {
		var changes []report.Change
		for range 10 {
			id := fmt.Sprint("hot ", random.IntN(hot))
			if random.IntN(3) == 0 {
				changes = append(changes, indexertest.Delete(report.Cities, id))
			} else {
				changes = append(changes, indexertest.Index(report.Cities, id, fmt.Sprintf(`{"n":%d}`, n)))
			}
		}
		if _, err := r.Journal.Append(context.Background(), report.Delivery{Changes: changes}); err != nil {
			return err
		}
	}
	return nil
}

// TestVerifyRaisesNoFalseAlarm: while documents are created, corrected and deleted all
// the time, only real damage is found. The proxy delays every read of the index until the
// indexer has sent more, so that journal and index have always changed between two reads.
func TestVerifyRaisesNoFalseAlarm(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 50, "text")...)
	r.Drained()
	var bulks, moved atomic.Int64
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsLookup(req) {
			for seen := bulks.Load(); bulks.Load() < seen+2; {
				if req.Context().Err() != nil {
					return
				}
				pause()
			}
			moved.Add(1)
		}
		next.ServeHTTP(w, req)
		if indexertest.IsBulk(req) {
			bulks.Add(1)
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	var sender sync.WaitGroup
	var failed error
	sender.Go(func() { failed = traffic(ctx, r, 150, rand.New(rand.NewPCG(1, 2))) })
	defer sender.Wait()
	defer stop()

	cfg := indexertest.QuickVerify()
	cfg.Page = 50
	v := r.Verifier(cfg)
	underWay := 0
	for range 20 {
		got, err := v.Verify(t.Context(), report.Cities, verify.Options{})
		require.NoError(t, err)
		underWay += got.UnderWay
		if got.Found() != 0 {
			t.Fatalf("a false alarm: %+v", got)
		}
	}
	// Real damage is found and repaired all the same.
	r.Change("DELETE", r.Path("1", ""), "")
	r.Change("PUT", r.Path("2", ""), `{}`)
	r.Change("PUT", r.Path("unknown", ""), `{}`)
	got, err := v.Verify(t.Context(), report.Cities, verify.Options{Repair: true})
	require.NoError(t, err)
	want := map[string]report.Difference{"1": report.Missing, "2": report.Foreign, "unknown": report.Foreign}
	if !maps.Equal(problems(got.Findings), want) || got.Repaired != 3 {
		t.Errorf("found %+v, want only the planted damage, all of it repaired", got)
	}
	stop()
	sender.Wait()
	require.NoError(t, failed)
	r.Heal()
	r.Drained()
	r.SameAsJournal()
	if got := r.Verify(verify.Options{}); got.Found() != 0 || got.UnderWay != 0 {
		t.Errorf("after the traffic: %+v, want nothing found or under way", got)
	}
	k := r.Stats().Kinds[report.Cities]
	t.Logf("%d changes accepted, %d reads of the index, %d documents under way", k.Accepted[report.Index]+k.Accepted[report.Delete], moved.Load(), underWay)
	if underWay == 0 {
		t.Error("nothing was ever under way, so this test shows nothing")
	}
}
