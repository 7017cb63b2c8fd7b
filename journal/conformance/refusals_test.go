package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"riskdex/journal"
	"riskdex/report"
)

var refusalTests = []test{
	{"refusals are kept as they are, newest first", testRefusalsKept},
	{"page after page", testRefusalsPages},
	{"the oldest beyond the bound are dropped", testRefusalsBounded},
	{"of a too large body the start is kept", testRefusalsLarge},
	{"dropped refusals are gone, and no number is used again", testRefusalsDropped},
}

// refuse keeps refusals and returns the highest number given to them.
func (h *harness) refuse(t tester, refusals ...report.Refusal) int64 {
	t.Helper()
	if _, err := h.Append(context.Background(), report.Delivery{Refusals: refusals}); err != nil {
		t.Fatalf("Append: %v", err)
	}
	return h.refusals(t)[0].Seq
}

func (h *harness) refusals(t tester) []report.Refusal {
	t.Helper()
	list, err := h.Refusals(context.Background(), 0, 1000)
	if err != nil {
		t.Fatalf("Refusals: %v", err)
	}
	return list
}

// kept checks which refusals are kept, by their reasons, newest first, and that Stats
// counts as many.
func (h *harness) kept(t tester, want ...string) {
	t.Helper()
	var got []string
	for _, r := range h.refusals(t) {
		got = append(got, r.Reason)
	}
	if !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	if s, err := h.Stats(context.Background()); err != nil || s.Refused != len(want) {
		t.Errorf("Stats has %d refusals, %v, want %d", s.Refused, err, len(want))
	}
}

func refusal(kind report.Kind, id, reason string) report.Refusal {
	return report.Refusal{Kind: kind, Method: "PUT", Path: "/" + string(kind) + "/" + id, Position: -1, ID: id, Reason: reason, Body: []byte("{")}
}

func testRefusalsKept(t *testing.T, h *harness) {
	first := report.Refusal{
		At: h.start, Kind: report.Cities, Method: "PUT", Path: "/cities/%FF", Position: -1,
		ID: "\xff", Reason: "id", Detail: "the id is not UTF-8", Body: []byte("not\x00 JSON"), Cut: true,
	}
	second := report.Refusal{At: h.start, Method: "POST", Position: 3, Reason: "body"}
	d := report.Delivery{Changes: []report.Change{advisory("1", "a")}, Refusals: []report.Refusal{first, second}}
	if _, err := h.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	h.reopen(t)
	first.Seq, first.Bytes, second.Seq = 1, len(first.Body), 2
	listed := first
	listed.Body = nil
	if got := h.refusals(t); !reflect.DeepEqual(got, []report.Refusal{second, listed}) {
		t.Errorf("kept %+v", got)
	}
	for _, want := range []report.Refusal{first, second} {
		if got, err := h.Refusal(t.Context(), want.Seq); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("kept %+v, %v, want %+v", got, err, want)
		}
	}
	for _, seq := range []int64{0, 3, -1} {
		if got, err := h.Refusal(t.Context(), seq); !errors.Is(err, report.ErrNotFound) {
			t.Errorf("refusal %d: %+v, %v, want ErrNotFound", seq, got, err)
		}
	}
	h.expect(t, report.Advisories, "index=1 pending=1")
}

func testRefusalsPages(t *testing.T, h *harness) {
	h.refuse(t, report.Refusal{}, report.Refusal{}, report.Refusal{}, report.Refusal{}, report.Refusal{})
	for limit, want := range map[int][]int{1: {5, 4, 3, 2, 1}, 2: {5, 4, 3, 2, 1}, 3: {5, 4, 3, 2, 1}, 100: {5, 4, 3, 2, 1}, 0: nil} {
		var got []int
		for before := int64(0); ; {
			page, err := h.Refusals(t.Context(), before, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("%d refusals, %v, at most %d were asked for", len(page), err, limit)
			}
			if len(page) == 0 {
				break
			}
			for _, r := range page {
				got = append(got, int(r.Seq))
			}
			before = page[len(page)-1].Seq
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v, want %v", limit, got, want)
		}
	}
}

func testRefusalsBounded(t *testing.T, h *harness) {
	for round := range 3 {
		var d report.Delivery
		for i := range 7 - round*3 { // 7, 4 and 1, with a bound of 5
			d.Refusals = append(d.Refusals, report.Refusal{At: h.start, Reason: fmt.Sprint(round, ".", i)})
		}
		if _, err := h.Append(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	h.kept(t, "2.0", "1.3", "1.2", "1.1", "1.0")
}

func testRefusalsLarge(t *testing.T, h *harness) {
	body := bytes.Repeat([]byte("0123456789"), journal.MaxRefusalBody/5)
	seq := h.refuse(t, report.Refusal{At: h.start, Body: body[:journal.MaxRefusalBody]}, report.Refusal{At: h.start, Body: body})
	for seq, cut := range map[int64]bool{seq: true, seq - 1: false} {
		got, err := h.Refusal(t.Context(), seq)
		if err != nil || !bytes.Equal(got.Body, body[:journal.MaxRefusalBody]) || got.Bytes != journal.MaxRefusalBody || got.Cut != cut {
			t.Errorf("the refusal has %d bytes (of %d), cut %t, %v; want cut %t", len(got.Body), got.Bytes, got.Cut, err, cut)
		}
	}
}

func testRefusalsDropped(t *testing.T, h *harness) {
	last := h.refuse(t, report.Refusal{Reason: "a"}, report.Refusal{Reason: "b"}, report.Refusal{Reason: "c"})
	if n, err := h.DropRefusals(t.Context(), []int64{last, last - 2, last, last + 1, 0}); err != nil || n != 2 {
		t.Errorf("dropped %d, %v, want 2", n, err)
	}
	h.kept(t, "b")
	if next := h.refuse(t, report.Refusal{Reason: "d"}); next <= last {
		t.Errorf("the number %d was given after %d", next, last)
	}
	h.kept(t, "d", "b")
	// What was dropped no longer counts against the bound.
	h.refuse(t, report.Refusal{Reason: "e"}, report.Refusal{Reason: "f"}, report.Refusal{Reason: "g"})
	h.kept(t, "g", "f", "e", "d", "b")
	h.reopen(t)
	h.kept(t, "g", "f", "e", "d", "b")
	if _, err := h.DropRefusals(t.Context(), []int64{h.refusals(t)[0].Seq}); err != nil {
		t.Fatal(err)
	}
	h.reopen(t)
	if next := h.refuse(t, report.Refusal{Reason: "h"}); next <= last+4 {
		t.Errorf("the number %d was given after %d", next, last+4)
	}
}

// testRefusalsShare: one delivery cannot evict the refusals of others. The first of its
// refusals are kept, with their total number.
func testRefusalsShare(t *testing.T, open opener) {
	many := func(n, bytes int) (d report.Delivery) {
		for i := range n {
			d.Refusals = append(d.Refusals, report.Refusal{Reason: fmt.Sprint(i), Detail: "Why.", Position: i, Body: make([]byte, bytes)})
		}
		return d
	}
	for name, c := range map[string]struct {
		opt  journal.Options
		d    report.Delivery
		more int
		want []string
		said string
	}{
		"a tenth of their number":     {journal.Options{MaxRefusals: 20}, many(30, 0), 0, []string{"1", "0", "other"}, "28 more records"},
		"those that did not come":     {journal.Options{MaxRefusals: 20}, many(1, 0), 41, []string{"0", "other"}, "41 more records"},
		"as many as it may have":      {journal.Options{MaxRefusals: 20}, many(2, 0), 0, []string{"1", "0", "other"}, ""},
		"a tenth of their bytes":      {journal.Options{MaxRefusalBytes: 10_000}, many(5, 400), 0, []string{"1", "0", "other"}, "3 more records"},
		"one that is large by itself": {journal.Options{MaxRefusalBytes: 10_000}, many(5, 4_000), 7, []string{"0", "other"}, "11 more records"},
	} {
		h := newHarness(t, open, c.opt)
		h.refuse(t, report.Refusal{Reason: "other"})
		c.d.MoreRefused = c.more
		if _, err := h.Append(t.Context(), c.d); err != nil {
			t.Fatal(err)
		}
		h.kept(t, c.want...)
		last := h.refusals(t)[0].Detail
		if !strings.HasPrefix(last, "Why.") || c.said == "" && last != "Why." || !strings.Contains(last, c.said) {
			t.Errorf("%s: the last says %q", name, last)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
