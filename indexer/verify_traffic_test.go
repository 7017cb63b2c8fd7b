package indexer_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/report"
)

// pause gives others a moment, in a wait for what they do.
func pause() { time.Sleep(time.Millisecond) }

func isLook(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, "/_mget") }

// traffic creates, corrects and deletes hot documents without end.
func (r *rig) traffic(ctx context.Context, hot int, random *rand.Rand) error {
	for n := 0; ctx.Err() == nil; n++ {
		var changes []report.Change
		for range 10 {
			id := fmt.Sprint("hot ", random.IntN(hot))
			if random.IntN(3) == 0 {
				changes = append(changes, remove(report.Cities, id))
			} else {
				changes = append(changes, index(report.Cities, id, fmt.Sprintf(`{"n":%d}`, n)))
			}
		}
		if _, err := r.journal.Append(context.Background(), report.Delivery{Changes: changes}); err != nil {
			return err
		}
	}
	return nil
}

// TestVerifyRaisesNoFalseAlarm: while documents are created, corrected and
// deleted all the time, only real damage is found. The proxy holds every look at
// the index back until the indexer has sent more, so that the journal and the
// index have always gone on between two looks.
func TestVerifyRaisesNoFalseAlarm(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 50, "text")...)
	r.drained()
	var bulks, moved atomic.Int64
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if isLook(req) {
			for seen := bulks.Load(); bulks.Load() < seen+2; {
				if req.Context().Err() != nil {
					return
				}
				pause()
			}
			moved.Add(1)
		}
		next.ServeHTTP(w, req)
		if isBulk(req) {
			bulks.Add(1)
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	var sender sync.WaitGroup
	var failed error
	sender.Go(func() { failed = r.traffic(ctx, 150, rand.New(rand.NewPCG(1, 2))) })
	defer sender.Wait()
	defer stop()

	cfg := quickVerify()
	cfg.Page = 50
	v := r.verifier(cfg)
	underWay := 0
	for range 20 {
		got, err := v.Verify(t.Context(), report.Cities, verify.Options{})
		must(t, err)
		underWay += got.UnderWay
		if got.Found() != 0 {
			t.Fatalf("a false alarm: %+v", got)
		}
	}
	// Real damage is found and mended all the same.
	r.change("DELETE", r.doc("1", ""), "")
	r.change("PUT", r.doc("2", ""), `{}`)
	r.change("PUT", r.doc("unknown", ""), `{}`)
	got, err := v.Verify(t.Context(), report.Cities, verify.Options{Repair: true})
	must(t, err)
	want := map[string]report.Difference{"1": report.Missing, "2": report.Foreign, "unknown": report.Foreign}
	if !maps.Equal(problems(got.Findings), want) || got.Mended != 3 {
		t.Errorf("%+v", got)
	}
	stop()
	sender.Wait()
	must(t, failed)
	r.heal()
	r.drained()
	r.sameAsJournal()
	if got := r.verify(verify.Options{}); got.Found() != 0 || got.UnderWay != 0 {
		t.Errorf("after the traffic: %+v", got)
	}
	k := r.stats().Kinds[report.Cities]
	t.Logf("%d changes accepted, %d looks at the index, %d documents under way", k.Accepted[report.Index]+k.Accepted[report.Delete], moved.Load(), underWay)
	if underWay == 0 {
		t.Error("nothing was ever under way: the traffic did not bite")
	}
}
