package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"riskdex/report"
)

var receiptTests = []test{
	{"a delivery that comes twice takes effect once", testReceiptOnce},
	{"a receipt survives a restart", testReceiptRestart},
	{"a receipt is forgotten in time, and not earlier", testReceiptForgotten},
	{"a delivery that was not accepted leaves no receipt", testReceiptOfFailure},
	{"of many repeats at once, one takes effect", testReceiptConcurrent},
	{"a receipt must name its delivery", testReceiptInvalid},
	{"a repeat is told the newest versions of its documents", testReceiptNewest},
}

func receipt(id, digest string) *report.Receipt {
	return &report.Receipt{Sender: "s", ID: id, Digest: []byte(digest), Answer: []byte("answer to " + digest)}
}

// appendWith delivers an advisory with a receipt.
func (h *harness) appendWith(r *report.Receipt, body string) error {
	_, err := h.Append(context.Background(), report.Delivery{Changes: []report.Change{advisory("1", body)}, Receipt: r})
	return err
}

// repeated expects a delivery to be recognised as a repeat, with this answer.
func repeated(t tester, err error, answer string) {
	t.Helper()
	if same, ok := errors.AsType[*report.RepeatedError](err); !ok || string(same.Answer) != answer {
		t.Errorf("%v (%+v), want a repeated delivery with the answer %q", err, same, answer)
	}
}

func testReceiptOnce(t *testing.T, h *harness) {
	if err := h.appendWith(receipt("a", "1"), "first"); err != nil {
		t.Fatal(err)
	}
	repeated(t, h.appendWith(receipt("a", "1"), "first"), "answer to 1")
	if err := h.appendWith(receipt("a", "2"), "another"); !errors.Is(err, report.ErrIDReused) {
		t.Errorf("another delivery with the same id returned %v, want ErrIDReused", err)
	}
	repeated(t, h.appendWith(receipt("a", "1"), "first"), "answer to 1")
	_, err := h.Append(t.Context(), report.Delivery{
		Changes: []report.Change{advisory("2", "x")}, Refusals: []report.Refusal{{Reason: "r"}}, Receipt: receipt("a", "1"),
	})
	repeated(t, err, "answer to 1")
	h.kept(t)
	h.expect(t, report.Advisories, "index=1 pending=1")
	if c := h.claimOne(t, report.Advisories); string(c.Body) != "first" {
		t.Errorf("claimed %q, want only the first delivery", c.Body)
	}

	other := receipt("a", "2")
	other.Sender = "another"
	for _, r := range []*report.Receipt{receipt("A", "1"), other, nil, nil, {Sender: "s", ID: "no answer", Digest: []byte("1")}} {
		if err := h.appendWith(r, "next"); err != nil {
			t.Errorf("a delivery with the receipt %+v was not accepted: %v", r, err)
		}
	}
	repeated(t, h.appendWith(&report.Receipt{Sender: "s", ID: "no answer", Digest: []byte("1")}, "next"), "")
	h.expect(t, report.Advisories, "index=6 superseded=5 pending=1")
}

func testReceiptNewest(t *testing.T, h *harness) {
	d := report.Delivery{Receipt: receipt("a", "1"), Changes: []report.Change{
		city("LON", "", "x"), city("2", "", "x"), remove(report.Cities, "never"), city("2", "", "y"),
	}}
	h.append(t, city("1", "LON", "x"))
	if _, err := h.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	newer := h.append(t, city("1", "LON", "newer"), remove(report.Cities, "2"))
	_, err := h.Append(t.Context(), d)
	if again, ok := errors.AsType[*report.RepeatedError](err); !ok || again.Newest != nil {
		t.Errorf("a repeat that does not ask for it returned %v, %+v", err, again)
	}
	d.Receipt.Newest = true
	_, err = h.Append(t.Context(), d)
	again, ok := errors.AsType[*report.RepeatedError](err)
	unknown := report.Stamp{Key: report.Key{Kind: report.Cities, ID: "never"}, Effect: report.Unknown}
	if want := []report.Stamp{newer[0], newer[1], unknown, newer[1]}; !ok || !slices.Equal(again.Newest, want) {
		t.Errorf("the repeat returned %v, %+v, want %+v", err, again, want)
	}
}

func testReceiptRestart(t *testing.T, h *harness) {
	if err := h.appendWith(receipt("a", "1"), "old"); err != nil {
		t.Fatal(err)
	}
	h.append(t, advisory("1", "newer"))
	h.reopen(t)
	repeated(t, h.appendWith(receipt("a", "1"), "old"), "answer to 1")
	if c := h.claimOne(t, report.Advisories); string(c.Body) != "newer" {
		t.Errorf("the older delivery came over the newer one: %q", c.Body)
	}
}

func testReceiptForgotten(t *testing.T, h *harness) {
	if err := h.appendWith(receipt("a", "1"), "x"); err != nil {
		t.Fatal(err)
	}
	h.clock.move(-time.Hour)
	repeated(t, h.appendWith(receipt("a", "1"), "x"), "answer to 1")
	h.clock.move(time.Hour + report.ReceiptsFor)
	repeated(t, h.appendWith(receipt("a", "1"), "x"), "answer to 1")
	h.clock.move(time.Microsecond)
	if err := h.appendWith(receipt("a", "2"), "y"); err != nil {
		t.Errorf("the receipt is not forgotten: %v", err)
	}
	repeated(t, h.appendWith(receipt("a", "2"), "y"), "answer to 2")
}

func testReceiptOfFailure(t *testing.T, h *harness) {
	bad := report.Delivery{Changes: []report.Change{advisory("1", "")}, Receipt: receipt("a", "1")}
	if _, err := h.Append(t.Context(), bad); err == nil {
		t.Error("a change without a body was accepted")
	}
	bad = report.Delivery{Changes: []report.Change{advisory("1", "x")}, Receipt: receipt("a", "1"), RetryOf: 17}
	if _, err := h.Append(t.Context(), bad); !errors.Is(err, report.ErrNotFound) {
		t.Errorf("a retry of an unknown refusal returned %v, want ErrNotFound", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	bad.RetryOf = 0
	if _, err := h.Append(ended, bad); err == nil {
		t.Error("the delivery was accepted although the sender had gone")
	}
	if err := h.appendWith(receipt("a", "1"), "x"); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
	h.expect(t, report.Advisories, "index=1 pending=1")
}

func testReceiptConcurrent(t *testing.T, h *harness) {
	const ids, senders = 10, 16
	errs := make([]error, ids*senders)
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() { errs[i] = h.appendWith(receipt(fmt.Sprint(i%ids), "1"), "x") })
	}
	wait.Wait()
	taken := map[int]int{}
	for i, err := range errs {
		if err == nil {
			taken[i%ids]++
			continue
		}
		repeated(t, err, "answer to 1")
	}
	for id := range ids {
		if taken[id] != 1 {
			t.Errorf("the delivery %d was taken %d times", id, taken[id])
		}
	}
	if got := h.stats(t, report.Advisories).Accepted[report.Index]; got != ids {
		t.Errorf("%d changes are accepted, want %d", got, ids)
	}
}

func testReceiptInvalid(t *testing.T, h *harness) {
	long := make([]byte, report.MaxIDBytes+1)
	for i := range long {
		long[i] = 'x'
	}
	for name, r := range map[string]*report.Receipt{
		"no id":       {Sender: "s", Digest: []byte("1")},
		"no sender":   {ID: "a", Digest: []byte("1")},
		"no digest":   {Sender: "s", ID: "a"},
		"too long":    receipt(string(long), "1"),
		"id no UTF-8": receipt("\xff", "1"),
	} {
		if err := h.appendWith(r, "x"); err == nil {
			t.Errorf("%s: the delivery was accepted, want an error", name)
		}
	}
	h.expect(t, report.Advisories, "")
}
