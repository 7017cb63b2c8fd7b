package conformance

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// clock is a clock that moves only when told to.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// harness is a journal under test, with short forms of its methods that fail the test on
// an error.
type harness struct {
	journal.Journal
	clock *clock
	start time.Time
	opt   journal.Options        // of the next time that it is opened
	again func() journal.Journal // opens it
	fresh func() journal.Journal // a journal in another folder
}

func newHarness(t testing.TB, open opener, opt journal.Options) *harness {
	return newHarnesses(t, 1, open, opt)[0]
}

// newHarnesses opens one journal n times, as n processes would.
func newHarnesses(t testing.TB, n int, open opener, opt journal.Options) (list []*harness) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	common := &clock{t: start}
	opt.Now = common.now
	opt.Log = slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	for range n {
		list = append(list, openHarness(t, open, dir, opt, common))
	}
	return list
}

func openHarness(t testing.TB, open opener, dir string, opt journal.Options, clock *clock) *harness {
	h := &harness{clock: clock, start: clock.now(), opt: opt}
	h.again = func() journal.Journal { return open(t, dir, h.opt) }
	h.fresh = func() journal.Journal { return open(t, t.TempDir(), opt) }
	h.Journal = h.again()
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return h
}

// other opens another journal.
func (h *harness) other(t *testing.T) journal.Journal {
	j := h.fresh()
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return j
}

// reopen closes the journal cleanly and opens it again.
func (h *harness) reopen(t tester) {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	h.Journal = h.again()
}

func (h *harness) append(t tester, changes ...report.Change) []report.Stamp {
	t.Helper()
	var named report.Document
	if len(changes) == 1 && changes[0].Op == report.Delete && !changes[0].ExactID && changes[0].If == nil {
		named = h.document(t, changes[0].Kind, changes[0].ID)
	}
	stamps, err := h.Append(context.Background(), report.Delivery{Changes: changes})
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	if named.By != "" {
		foretold(t, named, stamps[0])
	}
	if len(stamps) != len(changes) {
		t.Fatalf("Append of %d changes returned %d stamps", len(changes), len(stamps))
	}
	return stamps
}

// claim claims everything that can be claimed.
func (h *harness) claim(t tester, kind report.Kind) (all []report.Change) {
	t.Helper()
	for {
		got := h.claimUpTo(t, kind, 1000, 1<<30)
		if len(got) == 0 {
			return all
		}
		all = append(all, got...)
	}
}

func (h *harness) claimUpTo(t tester, kind report.Kind, changes, bytes int) []report.Change {
	t.Helper()
	got, err := h.Claim(context.Background(), kind, changes, bytes)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return got
}

// claimOne expects exactly one claimable change.
func (h *harness) claimOne(t tester, kind report.Kind) report.Change {
	t.Helper()
	got := h.claim(t, kind)
	if len(got) != 1 {
		t.Fatalf("Claim(%s) = %d changes (%v), want 1", kind, len(got), ids(got))
	}
	return got[0]
}

// claimOneOf expects the document to be claimable, and releases the others.
func (h *harness) claimOneOf(t tester, kind report.Kind, id report.ID) (found report.Change) {
	t.Helper()
	for _, c := range h.claim(t, kind) {
		if c.ID == id {
			found = c
		} else {
			h.settle(t, c, report.Retry)
		}
	}
	if found.ID == "" {
		t.Fatalf("%s %q is not claimable", kind, id)
	}
	return found
}

func (h *harness) claimNone(t tester, kind report.Kind) {
	t.Helper()
	if got := h.claim(t, kind); len(got) != 0 {
		t.Fatalf("Claim(%s) = %v, want nothing", kind, ids(got))
	}
}

func (h *harness) settle(t tester, c report.Change, o report.Outcome) {
	t.Helper()
	h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: o})
}

// settleAll settles many claimed changes at once.
func (h *harness) settleAll(t tester, changes []report.Change, o report.Outcome) {
	t.Helper()
	var list []report.Settlement
	for _, c := range changes {
		list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: o})
	}
	if err := h.Settle(context.Background(), list); err != nil {
		t.Fatalf("Settle: %v", err)
	}
}

func (h *harness) settleWith(t tester, s report.Settlement) {
	t.Helper()
	if err := h.Settle(context.Background(), []report.Settlement{s}); err != nil {
		t.Fatalf("Settle: %v", err)
	}
}

func (h *harness) resend(t tester, kind report.Kind, want int) {
	t.Helper()
	n, err := report.ResendAll(context.Background(), h, kind)
	if err != nil || n != want {
		t.Fatalf("Resend(%s) = %d, %v, want %d", kind, n, err, want)
	}
}

func (h *harness) stats(t tester, kind report.Kind) report.KindStats {
	t.Helper()
	s, err := h.Stats(context.Background())
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	k, ok := s.Kinds[kind]
	if !ok {
		t.Fatalf("Stats has no %s", kind)
	}
	return k
}

// conserved checks that every accepted change is in exactly one place.
func (h *harness) conserved(t tester) {
	t.Helper()
	s, err := h.Stats(context.Background())
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	for k, s := range s.Kinds {
		if in, out := sum(s.Accepted), sum(s.Settled)+uint64(s.Pending); in != out {
			t.Errorf("%s: %d changes accepted, but %d settled or pending: %+v", k, in, out, s)
		}
		if s.Pending < 0 || s.Resending < 0 || s.DeadLetters < 0 {
			t.Errorf("%s: less than none: %+v", k, s)
		}
		if (s.Pending == 0) != s.OldestWaiting.IsZero() || (s.Pending == 0) != s.NewestWaiting.IsZero() {
			t.Errorf("%s: %d pending, from %v to %v", k, s.Pending, s.OldestWaiting, s.NewestWaiting)
		}
	}
}

// expect compares the totals of a kind, written as "index=2 superseded=1". Totals that
// are not named must be zero.
func (h *harness) expect(t tester, kind report.Kind, want string) {
	t.Helper()
	if got := describe(h.stats(t, kind)); got != want {
		t.Errorf("totals of %s:\n got %s\nwant %s", kind, got, want)
	}
}

// notified reports whether Changed has a value, now or soon.
func (h *harness) notified() bool {
	select {
	case <-h.Changed():
		return true
	case <-time.After(10 * time.Second):
		return false
	}
}

// drain empties Changed, and reports whether there was a signal.
func (h *harness) drain() bool {
	select {
	case <-h.Changed():
		return true
	default:
		return false
	}
}

// gone creates and deletes a document.
func (h *harness) gone(t tester, kind report.Kind, id string) report.Stamp {
	t.Helper()
	return h.append(t, index(kind, id, "", "{}"), remove(kind, id))[1]
}

func city(id, code, body string) report.Change {
	return index(report.Cities, id, code, body)
}

func advisory(id, body string) report.Change {
	return index(report.Advisories, id, "", body)
}

func index(kind report.Kind, id, code, body string) report.Change {
	return report.Change{
		Key: report.Key{Kind: kind, ID: report.ID(id)}, Op: report.Index,
		Code: strings.ToUpper(code), Body: []byte(body),
	}
}

func remove(kind report.Kind, id string) report.Change {
	return report.Change{Key: report.Key{Kind: kind, ID: report.ID(id)}, Op: report.Delete}
}

func delivery(changes ...report.Change) report.Delivery { return report.Delivery{Changes: changes} }
