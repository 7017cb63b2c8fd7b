package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"riskdex/journal"
	"riskdex/report"
)

var refusalTests = []test{
	{"refusals are kept as they are, newest first", testRefusalsKept},
	{"the oldest beyond the bound are dropped", testRefusalsBounded},
	{"the start of a large body is kept", testRefusalsLarge},
}

var lifecycleTests = []test{
	{"a new journal is empty and ready", testEmpty},
	{"everything is an error once closed", testClosed},
}

func testRefusalsKept(t *testing.T, h *harness) {
	first := report.Refusal{
		At: h.start, Kind: report.Cities, Method: "PUT", Path: "/cities/%FF", Position: -1,
		ID: "\xff", Reason: "id", Detail: "the id is not UTF-8", Body: []byte("not\x00 JSON"),
	}
	second := report.Refusal{At: h.start, Method: "POST", Position: 3, Reason: "body"}
	d := report.Delivery{Changes: []report.Change{advisory("1", "a")}, Refusals: []report.Refusal{first, second}}
	if _, err := h.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	h.reopen(t)
	got, err := h.Refusals(t.Context(), 10)
	if err != nil || !reflect.DeepEqual(got, []report.Refusal{second, first}) {
		t.Errorf("kept %+v, %v", got, err)
	}
	if got, err := h.Refusals(t.Context(), 1); err != nil || len(got) != 1 {
		t.Errorf("asked for one, got %d, %v", len(got), err)
	}
	h.expect(t, report.Advisories, "index=1 pending=1")
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
	got, err := h.Refusals(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, r := range got {
		reasons = append(reasons, r.Reason)
	}
	if want := []string{"2.0", "1.3", "1.2", "1.1", "1.0"}; !reflect.DeepEqual(reasons, want) {
		t.Errorf("kept %v, want %v", reasons, want)
	}
	if s, err := h.Stats(t.Context()); err != nil || s.Refused != 5 {
		t.Errorf("Stats has %d refusals, %v", s.Refused, err)
	}
}

func testRefusalsLarge(t *testing.T, h *harness) {
	body := bytes.Repeat([]byte("0123456789"), journal.MaxRefusalBody/5)
	if _, err := h.Append(t.Context(), report.Delivery{Refusals: []report.Refusal{{At: h.start, Body: body}}}); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Refusals(t.Context(), 1); err != nil || len(got) != 1 || !bytes.Equal(got[0].Body, body[:journal.MaxRefusalBody]) {
		t.Errorf("it was not kept up to %d bytes: %v", journal.MaxRefusalBody, err)
	}
}

func testEmpty(t *testing.T, h *harness) {
	if err := h.Ready(); err != nil {
		t.Error(err)
	}
	s, err := h.Stats(t.Context())
	if err != nil || len(s.Kinds) != len(report.Kinds()) || s.Bytes <= 0 {
		t.Errorf("Stats = %+v, %v", s, err)
	}
	for _, k := range report.Kinds() {
		if s := s.Kinds[k]; len(s.Accepted) != len(report.Ops()) || len(s.Settled) != len(report.Outcomes()) {
			t.Errorf("%s lacks labels: %+v", k, s)
		}
		h.expect(t, k, "")
	}
	if stamps, err := h.Append(t.Context(), report.Delivery{}); err != nil || len(stamps) != 0 {
		t.Errorf("an empty delivery: %v, %v", stamps, err)
	}
}

func testClosed(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"Append": func() error {
			_, err := h.Append(ctx, report.Delivery{Changes: []report.Change{advisory("1", "a")}})
			return err
		},
		"Claim":    func() error { _, err := h.Claim(ctx, report.Advisories, 1, 1); return err },
		"Settle":   func() error { return h.Settle(ctx, nil) },
		"Resend":   func() error { _, err := h.Resend(ctx, report.Advisories); return err },
		"Stats":    func() error { _, err := h.Stats(ctx); return err },
		"Refusals": func() error { _, err := h.Refusals(ctx, 1); return err },
		"Ready":    h.Ready,
	} {
		if err := call(); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
	h.reopen(t)
	h.expect(t, report.Advisories, "index=1 pending=1")
}
