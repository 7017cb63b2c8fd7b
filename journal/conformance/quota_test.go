package conformance

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestOnlyWhatFreesSpaceIsAcceptedPastTheLimit: past the limit, only deletes are accepted, of
// existing documents or such that leave nothing behind.
func TestOnlyWhatFreesSpaceIsAcceptedPastTheLimit(t *testing.T) {
	onEachEngine(t, testPastTheLimit)
}

func testPastTheLimit(t *testing.T, h *harness) {
	put := func(id string) report.Delivery { return delivery(advisory(id, "{}")) }
	remove := func(id string) report.Delivery { return delivery(remove(report.Advisories, id)) }
	deliver := func(d report.Delivery) error {
		_, err := h.Append(t.Context(), d)
		return err
	}
	require.NoError(t, deliver(put("deleted")))
	require.NoError(t, deliver(remove("deleted")))
	require.NoError(t, deliver(put("live")))
	require.NoError(t, deliver(delivery(city("130", "LON", "{}"))))
	require.NoError(t, deliver(report.Delivery{Refusals: []report.Refusal{{At: time.Now(), Kind: report.Advisories, Reason: "bad"}}}))
	refused, err := h.Refusals(t.Context(), 0, 1)
	require.NoError(t, err)
	h.opt.MaxBytes = 1
	h.reopen(t)
	require.Eventually(t, 30*time.Second, "the journal is full", func() bool { return h.Ready() != nil })
	for name, d := range map[string]report.Delivery{"unknown": remove("unknown"), "deleted before": remove("deleted")} {
		if err := deliver(d); !errors.Is(err, report.ErrNoRoom) {
			t.Errorf("%s, while a refusal is kept: %v, want ErrNoRoom", name, err)
		}
	}
	_, err = h.DropRefusals(t.Context(), []int64{refused[0].Seq})
	require.NoError(t, err)
	before, err := h.Stats(t.Context())
	require.NoError(t, err)
	city := remove("LON")
	city.Changes[0].Kind = report.Cities
	signed := remove("unknown")
	signed.Receipt = &report.Receipt{Sender: "s", ID: "1", Digest: []byte("d")}
	for name, d := range map[string]report.Delivery{
		"a put": put("live"), "unknown, with a receipt": signed,
		"a put, and a delete that leaves nothing": {Changes: append(remove("unknown").Changes, put("new").Changes...)},
	} {
		if err := deliver(d); !errors.Is(err, report.ErrNoRoom) {
			t.Errorf("%s: %v, want ErrNoRoom", name, err)
		}
	}
	require.NoError(t, deliver(remove("unknown")))
	require.NoError(t, deliver(remove("deleted")))
	if after, err := h.Stats(t.Context()); err != nil || fmt.Sprint(after.Kinds) != fmt.Sprint(before.Kinds) {
		t.Errorf("the totals were %v and are %v, %v; want no change", before.Kinds, after.Kinds, err)
	}
	live := remove("live")
	live.Receipt = &report.Receipt{Sender: "s", ID: "2", Digest: []byte("d")}
	require.NoError(t, deliver(live))
	if _, repeated := errors.AsType[*report.RepeatedError](deliver(live)); !repeated {
		t.Error("past the limit, a repeat is not answered as one")
	}
	require.NoError(t, deliver(city))
	require.NoError(t, deliver(city))
}
