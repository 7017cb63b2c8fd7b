package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// TestPostgresTogether checks what PostgreSQL promises to several processes that have one journal
// open at the same time.
func TestPostgresTogether(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, hs []*harness)
	}{
		{"claims are exclusive, and the newest wins", func(t *testing.T, hs []*harness) { testConcurrency(t, hs...) }},
		{"a delivery to all processes at once takes effect once", testReceiptEverywhere},
		{"a city is one document, whatever name it comes under and wherever", testOneCity},
		{"a refusal is retried once", testRefusalRetriedEverywhere},
		{"a dead letter is retried once", testLetterRetriedEverywhere},
		{"a feed tells every version once, in order", testFeedEverywhere},
		{"history has what came through each of them", testHistoryEverywhere},
	} {
		t.Run(c.name, func(t *testing.T) {
			hs := newHarnesses(t, 3, openPostgres, journal.Options{History: historyKept, HistoryMaxBytes: togetherMaxBytes})
			c.run(t, hs)
			agree(t, hs)
		})
	}
}

// agree checks that the sums agree, and that every process reports the same, once none of them drops
// what the history has too much of.
func agree(t *testing.T, hs []*harness) {
	t.Helper()
	var reports []report.Stats
	defer func() {
		if t.Failed() {
			t.Logf("they report %+v", reports)
		}
	}()
	require.Eventually(t, 30*time.Second, "every process reports the same", func() bool {
		reports = nil
		for _, h := range hs {
			h.conserved(t)
			s, err := h.Stats(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, s)
		}
		return !slices.ContainsFunc(reports, func(s report.Stats) bool {
			return !reflect.DeepEqual(s.Kinds, reports[0].Kinds) || s.Refused != reports[0].Refused
		})
	})
}

// atOnce makes every process do something at the same time, each several times.
func atOnce(hs []*harness, do func(h *harness)) {
	var all sync.WaitGroup
	for _, h := range hs {
		for range 2 {
			all.Go(func() { do(h) })
		}
	}
	all.Wait()
}

// rounds is the number of repetitions of each race.
const rounds = 25

func testReceiptEverywhere(t *testing.T, hs []*harness) {
	for i := range rounds {
		var mu sync.Mutex
		first, again := 0, 0
		atOnce(hs, func(h *harness) {
			err := h.appendWith(receipt(fmt.Sprint(i), "1"), "x")
			mu.Lock()
			defer mu.Unlock()
			if same, ok := errors.AsType[*report.RepeatedError](err); ok && string(same.Answer) == "answer to 1" {
				again++
			} else if err == nil {
				first++
			} else {
				t.Error(err)
			}
		})
		if first != 1 || again != 2*len(hs)-1 {
			t.Fatalf("the delivery took effect %d times, and %d senders were told so; want once each", first, again)
		}
	}
	hs[0].expect(t, report.Advisories, fmt.Sprintf("index=%d superseded=%d pending=1", rounds, rounds-1))
}

// testOneCity delivers a city under its id and under its code at the same time. Whether
// it is new or not, there is one document, with the version given out last.
func testOneCity(t *testing.T, hs []*harness) {
	for i := range rounds {
		code := fmt.Sprintf("%c%cX", 'A'+i/26, 'A'+i%26)
		id := report.ID(fmt.Sprint(i))
		hs[0].append(t, city(string(id), code, "first"))
		var mu sync.Mutex
		newest := map[report.Version]string{}
		last := report.Version(0)
		turn := 0
		atOnce(hs, func(h *harness) {
			mu.Lock()
			turn++
			c := city(string(id), code, fmt.Sprintf("by id %d", turn))
			if turn%2 == 0 {
				c = city(code, code, fmt.Sprintf("by code %d", turn))
			}
			mu.Unlock()
			for range 3 {
				s := h.append(t, c)[0]
				mu.Lock()
				if s.ID != id {
					t.Errorf("%s became another document: %s", c.ID, s.ID)
				}
				newest[s.Version], last = string(c.Body), max(last, s.Version)
				mu.Unlock()
			}
		})
		e, err := hs[1].Lookup(context.Background(), report.Cities, []report.ID{id, report.ID(code)})
		if err != nil || len(e) != 1 || e[0].Version != last {
			t.Fatalf("there is %+v, %v; the last version was %d", e, err, last)
		}
		if c := hs[2].claimOne(t, report.Cities); string(c.Body) != newest[last] {
			t.Errorf("claimed %s, want the last, %s", c.Body, newest[last])
		} else {
			hs[2].settle(t, c, report.Indexed)
		}
	}
	testNewCity(t, hs)
}

// testNewCity delivers unknown cities under their code and under their id.
func testNewCity(t *testing.T, hs []*harness) {
	for i := range rounds {
		code, id := fmt.Sprintf("N%c%c", 'A'+i/26, 'A'+i%26), fmt.Sprint("new ", i)
		var mu sync.Mutex
		turn := 0
		atOnce(hs, func(h *harness) {
			mu.Lock()
			turn++
			c := city(id, code, "by id")
			if turn%2 == 0 {
				c = city(code, code, "by code")
				c.OwnID = report.ID(id) // as the body states it
			}
			mu.Unlock()
			h.append(t, c)
		})
		e, err := hs[0].Lookup(context.Background(), report.Cities, []report.ID{report.ID(id), report.ID(code)})
		if err != nil || len(e) != 1 {
			t.Fatalf("the city became %d documents: %+v, %v", len(e), e, err)
		}
	}
}

// testFeedEverywhere: they deliver at the same time, small and large, while a follower reads.
func testFeedEverywhere(t *testing.T, hs []*harness) {
	f := newFollower()
	done := make(chan struct{})
	following := make(chan error, 1)
	go func() { following <- f.follow(t.Context(), hs[0], done) }()
	var group sync.WaitGroup
	names := make(chan report.DeliveryName, len(hs)*60)
	for i, h := range hs {
		group.Go(func() {
			for n := range 60 {
				text, id := fmt.Sprint(i, n), fmt.Sprint(rand.N(40))
				changes := []report.Change{advisory(id, text)}
				switch n % 20 {
				case 7:
					changes[0] = remove(report.Advisories, id)
				case 9, 10: // a city that was known by its code alone is adopted, which takes a version more
					code := fmt.Sprintf("C%c%c", 'A'+i, 'A'+n/20)
					changes[0] = city(code, code, text)
					if n%20 == 10 {
						changes[0] = city(fmt.Sprint(1000+100*i+n), code, text)
						changes[0].OwnID = changes[0].ID
					}
				case 13:
					for large := range 600 {
						changes = append(changes, advisory(fmt.Sprint("large", large), text))
					}
				}
				stamps, err := h.Append(t.Context(), report.Delivery{Changes: changes})
				if err != nil {
					t.Error(err)
				}
				names <- report.NameDelivery(stamps)
			}
		})
	}
	group.Wait()
	close(done)
	close(names)
	require.NoError(t, <-following)
	var given []report.DeliveryName
	for n := range names {
		if n.Changes > 0 {
			given = append(given, n)
		}
	}
	slices.SortFunc(given, func(a, b report.DeliveryName) int { return cmp.Compare(a.First, b.First) })
	for i := range given[1:] {
		if given[i].Last >= given[i+1].First {
			t.Errorf("the deliveries %s and %s have versions between each other", given[i], given[i+1])
		}
	}
	if list, err := f.differs(t.Context(), hs[1]); err != nil || len(list) > 0 {
		t.Errorf("the follower differs: %v, %q", err, list)
	}
	if f.begun != 1 {
		t.Errorf("the follower began %d times", f.begun)
	}
}

// follow reads pages of every size until done is closed.
func (f *follower) follow(ctx context.Context, j journal.Journal, done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		told := j.Committed()
		more, err := f.read(ctx, j, 1+rand.N(50), 1<<rand.N(12))
		if err != nil {
			return err
		}
		if !more {
			select {
			case <-told:
			case <-done:
			}
		}
	}
}

func testRefusalRetriedEverywhere(t *testing.T, hs []*harness) {
	for i := range rounds {
		if _, err := hs[0].Append(context.Background(), report.Delivery{Refusals: []report.Refusal{{Kind: report.Advisories, Reason: "r"}}}); err != nil {
			t.Fatal(err)
		}
		list, err := hs[1].Refusals(context.Background(), 0, 10)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d refusals, %v", len(list), err)
		}
		var mu sync.Mutex
		done, turn := 0, 0
		atOnce(hs, func(h *harness) {
			mu.Lock()
			turn++
			c := advisory(fmt.Sprint(i, ".", turn), "x") // each has corrected it in another way
			mu.Unlock()
			_, err := h.Append(context.Background(), report.Delivery{Changes: []report.Change{c}, RetryOf: list[0].Seq})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if !errors.Is(err, report.ErrNotFound) {
				t.Error(err)
			}
		})
		if done != 1 {
			t.Fatalf("the refusal was retried %d times", done)
		}
	}
	hs[0].expect(t, report.Advisories, fmt.Sprintf("index=%d pending=%d", rounds, rounds))
}

func testLetterRetriedEverywhere(t *testing.T, hs []*harness) {
	hs[0].append(t, advisory("1", "x"))
	for range rounds {
		c := hs[1].claimOne(t, report.Advisories)
		hs[1].settle(t, c, report.Dead)
		var mu sync.Mutex
		done := 0
		atOnce(hs, func(h *harness) {
			n, err := h.RetryDead(context.Background(), []report.Stamp{{Key: c.Key, Version: c.Version}})
			mu.Lock()
			defer mu.Unlock()
			done += n
			if err != nil {
				t.Error(err)
			}
		})
		if done != 1 {
			t.Fatalf("the dead letter was retried %d times", done)
		}
	}
}
