package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"riskdex/report"
)

// giver is memory that others have until somebody waits for it.
type giver struct {
	has    int64
	awaits error // where it is not nil, what a wait ends with
	needed []int64
	waited []int64
}

func (g *giver) Need(bodies int64, wait bool) error {
	if wait && g.awaits == nil {
		g.has = bodies
	}
	switch {
	case wait:
		g.waited = append(g.waited, bodies)
		return g.awaits
	case bodies > g.has:
		return report.ErrNoMemory
	}
	g.needed = append(g.needed, bodies)
	return nil
}

// testHistoryMemory: whoever reads a body has the memory first, for as long as the body is and not
// more, and holds nothing that others need while it waits.
func testHistoryMemory(t *testing.T, h *harness) {
	const small, large = 100, 50_000
	text := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	first := h.append(t, city("a", "", text(large)))[0]
	h.clock.move(time.Second)
	last := h.append(t, city("a", "", text(small)))[0]
	h.kill(t, advisory("dead", text(large)))
	if _, err := h.Append(context.Background(), report.Delivery{Refusals: []report.Refusal{{Kind: report.Cities, Method: "PUT", ID: "x", Reason: "json", Body: []byte(text(large))}}}); err != nil {
		t.Fatal(err)
	}
	refusals, err := h.Refusals(context.Background(), 0, 1)
	if err != nil || len(refusals) != 1 {
		t.Fatalf("%d refusals, %v", len(refusals), err)
	}
	key := last.Key
	for what, c := range map[string]struct {
		bytes int64
		read  func(context.Context) (int, error)
	}{
		"Document": {small, func(ctx context.Context) (int, error) {
			d, err := h.Document(ctx, key.Kind, key.ID)
			return len(d.Body), err
		}},
		"DeadLetter": {large, func(ctx context.Context) (int, error) {
			d, err := h.DeadLetter(ctx, report.Key{Kind: report.Advisories, ID: "dead"})
			return len(d.Body), err
		}},
		"Refusal": {large, func(ctx context.Context) (int, error) {
			r, err := h.Refusal(ctx, refusals[0].Seq)
			return len(r.Body), err
		}},
		"PastVersion": {large, func(ctx context.Context) (int, error) {
			p, err := h.PastVersion(ctx, key, first.Version)
			return len(p.Body), err
		}},
		"PastVersion, the newest": {small, func(ctx context.Context) (int, error) {
			p, err := h.PastVersion(ctx, key, last.Version)
			return len(p.Body), err
		}},
		"PastAt": {large, func(ctx context.Context) (int, error) {
			p, err := h.PastAt(ctx, key, h.start)
			return len(p.Body), err
		}},
		"Feed": {large + small, func(ctx context.Context) (n int, err error) {
			page, err := h.Feed(ctx, report.Cursor{Kinds: report.Kinds()}, 10, 1<<20)
			for _, r := range page.Changes {
				n += len(r.Body)
			}
			return n, err
		}},
		"Records": {large, func(ctx context.Context) (n int, err error) {
			for r, failed := range h.Records(ctx, report.Advisories) {
				n, err = n+len(r.Body), errors.Join(err, failed)
			}
			return n, err
		}},
	} {
		g := &giver{}
		n, err := c.read(report.WithMemory(context.Background(), g))
		if err != nil || int64(n) != c.bytes || len(g.waited) != 1 || g.waited[0] != c.bytes {
			t.Errorf("%s: %d bytes, %v; waited for %d, want %d", what, n, err, g.waited, c.bytes)
		}
		if records := what == "Records"; records != (len(g.needed) == 0) {
			t.Errorf("%s: then needed %d", what, g.needed)
		}
		g = &giver{awaits: errors.New("too busy")}
		if n, err := c.read(report.WithMemory(context.Background(), g)); n != 0 || !errors.Is(err, g.awaits) {
			t.Errorf("%s without memory: %d bytes, %v", what, n, err)
		}
	}
}
