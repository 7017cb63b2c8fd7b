package sqlite

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/logtest"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// quotaRig is a journal on a disk that the test simulates.
type quotaRig struct {
	*Journal
	free  atomic.Int64
	looks atomic.Int64
	clock atomic.Int64 // nanoseconds
	log   logtest.Buffer
}

func newQuotaRig(t *testing.T, opt journal.Options) *quotaRig {
	t.Helper()
	r := &quotaRig{}
	r.free.Store(1 << 40)
	r.clock.Store(time.Now().UnixNano())
	opt.Now = func() time.Time { return time.Unix(0, r.clock.Load()) }
	opt.Log = slog.New(slog.NewTextHandler(&r.log, nil))
	j, err := open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), commit.WithDefaults(opt))
	if err != nil {
		t.Fatal(err)
	}
	r.Journal = j
	j.testWriteEvery = time.Millisecond
	j.quota.diskFree = func(string) (int64, error) {
		r.looks.Add(1)
		return r.free.Load(), nil
	}
	start(t, j)
	return r
}

func (r *quotaRig) pass(d time.Duration) { r.clock.Add(int64(d)) }

// noSpace checks that a delivery is refused for lack of space, with a helpful message,
// and that nothing of it is there.
func (r *quotaRig) noSpace(t *testing.T, d report.Delivery, words ...string) {
	t.Helper()
	before := r.accepted(t)
	_, err := r.Append(t.Context(), d)
	for _, e := range []error{err, r.Ready()} {
		if !errors.Is(e, report.ErrNoRoom) {
			t.Fatalf("error %v, want ErrNoRoom", e)
		}
		for _, w := range words {
			if !strings.Contains(e.Error(), w) {
				t.Errorf("the error %v does not contain %q", e, w)
			}
		}
	}
	if after := r.accepted(t); after != before {
		t.Errorf("%d changes accepted, and %d before the refused delivery", after, before)
	}
}

func (r *quotaRig) accepted(t *testing.T) (n uint64) {
	t.Helper()
	s, err := r.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range s.Kinds {
		for _, a := range k.Accepted {
			n += a
		}
	}
	return n
}

// drain claims and settles everything, as the indexer does.
func (r *quotaRig) drain(t *testing.T) (n int) {
	t.Helper()
	for {
		changes, err := r.Claim(t.Context(), report.Advisories, 100, 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		var list []report.Settlement
		for _, c := range changes {
			list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
		}
		if err := r.Settle(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		if n += len(changes); len(changes) == 0 {
			return n
		}
	}
}
