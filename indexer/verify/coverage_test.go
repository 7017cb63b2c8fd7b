package verify_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// shows is for an index that shows what it has taken at once.
func shows(context.Context, report.Kind) error { return nil }

// TestCoverageTellsWhatTheJournalLacks counts a real journal against an index of any size.
func TestCoverageTellsWhatTheJournalLacks(t *testing.T) {
	r := indexertest.Assemble(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 20, "text")...)
	claimed, err := r.Journal.Claim(t.Context(), report.Cities, 100, 1<<20)
	require.NoError(t, err)
	var settled []report.Settlement
	for _, c := range claimed {
		settled = append(settled, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
	}
	require.NoError(t, r.Journal.Settle(t.Context(), settled))
	r.Append(indexertest.Many(report.Advisories, 20, "text")...) // all of them wait, and may be deletes
	var indexed [3]atomic.Int64
	var foreign atomic.Bool
	var compared atomic.Int64
	reg := prometheus.NewRegistry()
	c := verify.NewCoverage(time.Millisecond, r.Journal, func(_ context.Context, kind report.Kind) (int, error) {
		compared.Add(1)
		for i, k := range report.Kinds() {
			if k == kind {
				return int(indexed[i].Load()), nil
			}
		}
		return 0, nil
	}, shows, func(report.Kind) bool { return foreign.Load() }, reg, slog.New(slog.DiscardHandler))
	own := &indexertest.Rig{T: t, Registry: reg}
	unknown := func(kind report.Kind) int { return int(own.Metric("riskdex_documents_unknown", "kind", string(kind))) }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go c.Run(ctx)
	set := func(cities, advisories, special int64) {
		t.Helper()
		indexed[0].Store(cities)
		indexed[1].Store(advisories)
		indexed[2].Store(special)
	}
	lacks := func(want ...report.Lacking) {
		t.Helper()
		r.Eventually("only these are reported", func() bool {
			got := c.Lacking()
			if len(got) != len(want) {
				return false
			}
			for i := range want {
				if got[i] != want[i] || unknown(want[i].Kind) != want[i].Indexed-want[i].Known {
					return false
				}
			}
			return true
		})
	}
	set(41, 60, 1)
	lacks(
		report.Lacking{Kind: report.Cities, Known: 20, Indexed: 41},
		report.Lacking{Kind: report.SpecialReports, Known: 0, Indexed: 1}, // it never knew one
	)
	set(41, 61, 0) // with what waits, 21 of 61 are unknown, which is less than half
	lacks(report.Lacking{Kind: report.Cities, Known: 20, Indexed: 41})
	set(41, 81, 0)
	lacks(report.Lacking{Kind: report.Cities, Known: 20, Indexed: 41}, report.Lacking{Kind: report.Advisories, Known: 20, Indexed: 81})
	r.Append(indexertest.Many(report.Cities, 21, "text")...)
	lacks(report.Lacking{Kind: report.Advisories, Known: 20, Indexed: 81})
	set(20, 0, 0)
	lacks()
	if n := unknown(report.Advisories); n != 0 {
		t.Errorf("%d are still reported as unknown", n)
	}
}

// TestCoverageTellsWhatTheIndexLacks counts a real journal against an index of any size. Documents
// that searches rightly do not find are not said to be missing.
func TestCoverageTellsWhatTheIndexLacks(t *testing.T) {
	r := indexertest.Assemble(t, indexertest.Quick())
	settle := func(outcome report.Outcome) (of []report.Stamp) {
		t.Helper()
		claimed, err := r.Journal.Claim(t.Context(), report.Cities, 100, 1<<20)
		require.NoError(t, err)
		var all []report.Settlement
		for _, c := range claimed {
			end := outcome
			if c.Op == report.Delete {
				end = report.Deleted
			}
			all, of = append(all, report.Settlement{Key: c.Key, Version: c.Version, Outcome: end}), append(of, report.Stamp{Key: c.Key, Version: c.Version})
		}
		require.NoError(t, r.Journal.Settle(t.Context(), all))
		return of
	}
	var indexed, compared, left atomic.Int64
	var foreign, churns atomic.Bool
	c := verify.NewCoverage(time.Millisecond, r.Journal, func(_ context.Context, kind report.Kind) (int, error) {
		if kind != report.Cities {
			return 0, nil
		}
		if n := left.Add(-1); n >= 0 { // one is deleted between two comparisons
			r.Append(indexertest.Delete(kind, fmt.Sprint(n)))
			settle(report.Deleted)
			indexed.Add(-1)
		}
		compared.Add(1)
		return int(indexed.Load()), nil
	}, shows, func(kind report.Kind) bool {
		if churns.Load() && kind == report.Cities { // between two comparisons
			for range 7 {
				r.Append(indexertest.Many(kind, 1, "comes")...)
				settle(report.Indexed)
				r.Append(indexertest.Delete(kind, "0"))
				settle(report.Deleted)
			}
		}
		return foreign.Load()
	}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	missing := func(what string, want int) {
		t.Helper()
		from := compared.Load()
		r.Eventually(what, func() bool { return compared.Load() > from+4 && c.Missing()[report.Cities] == want })
	}
	r.Append(indexertest.Many(report.Cities, 20, "text")...)
	settle(report.Indexed)
	indexed.Store(20)
	go c.Run(ctx)
	missing("nothing is missing", 0)
	indexed.Store(13)
	missing("somebody has deleted seven", 7)
	indexed.Store(20)
	missing("they are back", 0)

	left.Store(5)
	r.Eventually("five are deleted", func() bool {
		if n := c.Missing()[report.Cities]; n > 0 {
			t.Fatalf("%d are said to be missing while some are deleted", n)
		}
		return indexed.Load() == 15
	})
	missing("five were deleted", 0)

	churns.Store(true) // the document 0 is deleted
	indexed.Store(11)
	missing("one comes and goes all the time, and somebody has deleted four", 4)
	churns.Store(false)
	indexed.Store(15)
	missing("they are back again", 0)

	r.Append(indexertest.Many(report.Cities, 25, "newer")...) // ten of them are new
	missing("ten are on their way", 0)
	dead := settle(report.Dead)
	missing("ten were refused", 0)
	_, err := r.Journal.DropDead(t.Context(), dead)
	require.NoError(t, err)
	missing("they were dropped", 0)

	r.Append(indexertest.Many(report.Cities, 25, "accepted")...)
	settle(report.Indexed)
	indexed.Store(20)
	missing("dead letters of the past hide nothing", 5)
	foreign.Store(true)
	r.Eventually("another journal fills the index, and only that is told", func() bool { return c.Missing()[report.Cities] == 0 })
	foreign.Store(false)
	missing("it does no more", 5)
	indexed.Store(25)
	missing("they are back", 0)

	_, err = report.ResendAll(t.Context(), r.Journal, report.Cities)
	require.NoError(t, err)
	dead = settle(report.Dead)[:7] // with three that were deleted
	indexed.Store(0)
	missing("all were refused for a new index", 0)
	_, err = r.Journal.DropDead(t.Context(), dead)
	require.NoError(t, err)
	missing("some of these were dropped", 0)
}

// TestCoverageWaitsForRefreshes: while a backlog drains, an index with a long refresh_interval shows
// new documents late. These are not missing, and what is deleted there meanwhile is.
func TestCoverageWaitsForRefreshes(t *testing.T) {
	r := indexertest.Assemble(t, indexertest.Quick())
	var taken, shown, compared atomic.Int64
	c := verify.NewCoverage(time.Millisecond, r.Journal, func(_ context.Context, kind report.Kind) (int, error) {
		if kind != report.Cities {
			return 0, nil
		}
		return int(shown.Load()), nil
	}, func(context.Context, report.Kind) error {
		shown.Store(taken.Load())
		return nil
	}, func(kind report.Kind) bool {
		if kind != report.Cities {
			return false
		}
		r.Append(report.Change{Key: report.Key{Kind: kind, ID: report.ID(fmt.Sprint(compared.Add(1)))}, Op: report.Index, Body: []byte("{}")})
		claimed, err := r.Journal.Claim(t.Context(), kind, 100, 1<<20)
		if err == nil && len(claimed) == 1 {
			_ = r.Journal.Settle(t.Context(), []report.Settlement{{Key: claimed[0].Key, Version: claimed[0].Version, Outcome: report.Indexed}})
			taken.Add(1)
		}
		return false
	}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	defer running.Wait()
	defer cancel()
	r.Eventually("new documents come", func() bool {
		if n := c.Missing()[report.Cities]; n > 0 {
			t.Fatalf("%d are said to be missing, and are only not shown yet", n)
		}
		return compared.Load() > 30
	})
	taken.Add(-5)
	r.Eventually("somebody has deleted five", func() bool { return c.Missing()[report.Cities] == 5 })
}

// TestCoverageWithoutRefreshes: where riskdex may not refresh, an index that shows within a minute what
// it has taken lacks nothing, and what is deleted there is told all the same, until it is there again.
func TestCoverageWithoutRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := busy{time.Now().Add(-time.Hour)}
		var lost atomic.Int64
		var may atomic.Bool
		c := verify.NewCoverage(verify.CoverageEvery, j, func(_ context.Context, kind report.Kind) (int, error) {
			if kind != report.Cities {
				return 0, nil
			}
			came, went := j.until(time.Now().Add(-50 * time.Second))
			if may.Load() {
				came, went = j.until(time.Now())
			}
			return came - went - int(lost.Load()), nil
		}, func(context.Context, report.Kind) error {
			if may.Load() {
				return nil
			}
			return &elastic.ResponseError{Status: http.StatusForbidden, Type: "security_exception"}
		}, func(report.Kind) bool { return false }, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.Run(ctx)
		told := func() int { return c.Missing()[report.Cities] }
		time.Sleep(time.Second / 2) // what follows changes nothing in the middle of a comparison
		for range 600 {
			time.Sleep(time.Second)
			if n := told(); n > 0 {
				t.Fatalf("%d are said to be missing, and are only not shown yet", n)
			}
		}
		lost.Store(200)
		time.Sleep(2 * time.Minute) // as the alert has it
		for range 3600 {
			may.Store(time.Now().Second() > 50) // somebody changes the privileges again and again
			time.Sleep(time.Second)
			if n := told(); n < 200-120 || n > 200 {
				t.Fatalf("%d are said to be missing of 200", n)
			}
		}
		lost.Store(0)
		time.Sleep(time.Minute)
		if n := told(); n != 0 {
			t.Errorf("%d are still said to be missing", n)
		}
	})
}

// TestCoverageWithoutRefreshesInARebuild: a new index lacks what is not sent yet, and shows the rest late.
func TestCoverageWithoutRefreshesInARebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		const begins, ends = 30 * time.Second, 130 * time.Second
		j := rebuilding{busy{begin.Add(-5 * time.Hour)}, func(at time.Time) int {
			if in := at.Sub(begin); in >= begins && in < ends {
				return int(100 * (ends - in) / time.Second)
			}
			return 0
		}}
		c := verify.NewCoverage(verify.CoverageEvery, j, func(_ context.Context, kind report.Kind) (int, error) {
			if kind != report.Cities {
				return 0, nil
			}
			shown := time.Now().Add(-30 * time.Second)
			if shown.Sub(begin) < begins && time.Since(begin) >= begins {
				return 0, nil
			}
			came, went := j.until(shown)
			return came - went - j.resending(shown), nil
		}, func(context.Context, report.Kind) error {
			return &elastic.ResponseError{Status: http.StatusForbidden, Type: "security_exception"}
		}, func(report.Kind) bool { return false }, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.Run(ctx)
		for range 600 {
			time.Sleep(time.Second)
			if n := c.Missing()[report.Cities]; n > 0 {
				t.Fatalf("%d are said to be missing after %s, and are only not sent or not shown yet", n, time.Since(begin))
			}
		}
	})
}

// rebuilding is a busy journal whose documents are sent again.
type rebuilding struct {
	busy
	resending func(at time.Time) int
}

func (r rebuilding) Stats(ctx context.Context) (report.Stats, error) {
	stats, err := r.busy.Stats(ctx)
	k := stats.Kinds[report.Cities]
	k.Resending = r.resending(time.Now())
	stats.Kinds[report.Cities] = k
	return stats, err
}

// busy is a journal to which a document comes each second, and from which each third is deleted. Its
// index takes both at once.
type busy struct{ since time.Time }

func (b busy) until(t time.Time) (came, went int) {
	n := int(t.Sub(b.since) / time.Second)
	return n, n / 3
}

func (b busy) Documents(_ context.Context, kind report.Kind) (int, error) {
	if kind != report.Cities {
		return 0, nil
	}
	came, went := b.until(time.Now())
	return came - went, nil
}

func (b busy) Stats(context.Context) (report.Stats, error) {
	came, went := b.until(time.Now())
	return report.Stats{Kinds: map[report.Kind]report.KindStats{
		report.Cities: {Accepted: map[report.Op]uint64{report.Index: uint64(came), report.Delete: uint64(went)}},
	}}, nil
}

// empty is a journal that has nothing.
type empty struct{}

func (empty) Documents(context.Context, report.Kind) (int, error) { return 0, nil }
func (empty) Stats(context.Context) (report.Stats, error)         { return report.Stats{}, nil }

// TestCoverageBelievesNoSingleComparison: when a riskdex has died, its index may not yet show what
// it wrote. Another one that starts with a wrong journal at once must not take that for well.
func TestCoverageBelievesNoSingleComparison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := verify.NewCoverage(verify.CoverageEvery, empty{}, func(context.Context, report.Kind) (int, error) {
			if time.Since(begin) < time.Second {
				return 0, nil
			}
			return 40, nil
		}, shows, func(report.Kind) bool { return false }, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		go c.Run(ctx)
		time.Sleep(30 * time.Second) // as the runbook has it
		if n := len(c.Lacking()); n != len(report.Kinds()) {
			t.Errorf("%d kinds are reported after 30 seconds", n)
		}
		cancel()
		synctest.Wait()
	})
}

// TestCoverageLeavesWhatIsToldAlready: if another journal fills an index, only that is
// reported.
func TestCoverageLeavesWhatIsToldAlready(t *testing.T) {
	r := indexertest.Assemble(t, indexertest.Quick())
	var looks atomic.Int64
	c := verify.NewCoverage(time.Millisecond, r.Journal, func(context.Context, report.Kind) (int, error) { return 504, nil },
		shows, func(report.Kind) bool { looks.Add(1); return true }, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go c.Run(ctx)
	r.Eventually("it has compared often", func() bool { return looks.Load() > 30 })
	if got := c.Lacking(); len(got) != 0 {
		t.Errorf("lacking %+v, want nothing reported", got)
	}
}
