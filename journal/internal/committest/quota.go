package committest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"riskdex/internal/require"
	"riskdex/report"
)

// OnlyWhatFreesSpaceIsAcceptedPastTheLimit: past the limit, only deletes are accepted, of
// existing documents or such that leave nothing behind.
func OnlyWhatFreesSpaceIsAcceptedPastTheLimit(t *testing.T, open func(*testing.T) UnderTest) {
	j := open(t)
	deliver := func(d report.Delivery) error {
		_, err := j.Append(t.Context(), d)
		return err
	}
	require.NoError(t, deliver(Put("deleted", "{}")))
	require.NoError(t, deliver(Delete("deleted")))
	require.NoError(t, deliver(Put("live", "{}")))
	require.NoError(t, deliver(PutCity("130", "LON", "{}")))
	require.NoError(t, deliver(report.Delivery{Refusals: []report.Refusal{{At: time.Now(), Kind: report.Advisories, Reason: "bad"}}}))
	refused, err := j.Refusals(t.Context(), 0, 1)
	require.NoError(t, err)
	j.FillUp()
	Eventually(t, "the journal is full", func() bool { return j.Ready() != nil })
	for name, d := range map[string]report.Delivery{"unknown": Delete("unknown"), "deleted before": Delete("deleted")} {
		if err := deliver(d); !errors.Is(err, report.ErrNoRoom) {
			t.Errorf("%s, while a refusal is kept: %v, want ErrNoRoom", name, err)
		}
	}
	_, err = j.DropRefusals(t.Context(), []int64{refused[0].Seq})
	require.NoError(t, err)
	before, err := j.Stats(t.Context())
	require.NoError(t, err)
	city := Delete("LON")
	city.Changes[0].Kind = report.Cities
	signed := Delete("unknown")
	signed.Receipt = &report.Receipt{Sender: "s", ID: "1", Digest: []byte("d")}
	for name, d := range map[string]report.Delivery{
		"a put": Put("live", "{}"), "unknown, with a receipt": signed,
		"a put, and a delete that leaves nothing": {Changes: append(Delete("unknown").Changes, Put("new", "{}").Changes...)},
	} {
		if err := deliver(d); !errors.Is(err, report.ErrNoRoom) {
			t.Errorf("%s: %v, want ErrNoRoom", name, err)
		}
	}
	require.NoError(t, deliver(Delete("unknown")))
	require.NoError(t, deliver(Delete("deleted")))
	if after, err := j.Stats(t.Context()); err != nil || fmt.Sprint(after.Kinds) != fmt.Sprint(before.Kinds) {
		t.Errorf("the totals were %v and are %v, %v; want no change", before.Kinds, after.Kinds, err)
	}
	live := Delete("live")
	live.Receipt = &report.Receipt{Sender: "s", ID: "2", Digest: []byte("d")}
	require.NoError(t, deliver(live))
	if _, repeated := errors.AsType[*report.RepeatedError](deliver(live)); !repeated {
		t.Error("past the limit, a repeat is not answered as one")
	}
	require.NoError(t, deliver(city))
	require.NoError(t, deliver(city))
}
