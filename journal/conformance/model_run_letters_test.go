package conformance

import (
	"context"
	"errors"

	"pgregory.net/rapid"

	"riskdex/report"
)

func (m *machine) retryDead(r *rapid.T) {
	list := m.stamps(r, report.StateDead)
	m.h.retryDead(r, m.m.retryDead(list, m.h.clock.now()), list...)
}

func (m *machine) replaceDead(r *rapid.T) {
	s := m.stamps(r, report.StateDead)[0]
	c := m.change(r, s.Kind)
	c.Key = s.Key
	got, err := m.h.ReplaceDead(context.Background(), s, c)
	want, found := m.m.replaceDead(s, c, m.h.clock.now())
	if found != (err == nil) || !found && !errors.Is(err, report.ErrNotFound) || got != want {
		r.Fatalf("ReplaceDead(%+v) = %+v, %v, want %+v, found %t", s, got, err, want, found)
	}
}

func (m *machine) dropDead(r *rapid.T) {
	list := m.stamps(r, report.StateDead)
	m.h.dropDead(r, m.m.dropDead(list), list...)
}

// kept draws one of the kept refusals, or rarely one that is not kept.
func (m *machine) kept(r *rapid.T) report.Refusal {
	list := m.h.refusals(r)
	if len(list) == 0 || rapid.IntRange(0, 9).Draw(r, "none of them") == 0 {
		return report.Refusal{Seq: -1, Reason: "never kept"}
	}
	return rapid.SampledFrom(list).Draw(r, "refusal")
}

func (m *machine) retryRefused(r *rapid.T) {
	kept, records := m.kept(r), m.records(r)
	d := report.Delivery{RetryOf: kept.Seq}
	if kept.Seq < 0 {
		if stamps, err := m.h.Append(context.Background(), with(d, records)); !errors.Is(err, report.ErrNotFound) {
			r.Fatalf("a retry of what is not there: %+v, %v", stamps, err)
		}
		return
	}
	want, found := m.m.retry(kept.Reason, records, m.h.clock.now())
	if !found {
		r.Fatalf("%+v is kept", kept)
	}
	m.compare(r, records, m.deliver(r, with(d, records)), want)
}

func (m *machine) dropRefused(r *rapid.T) {
	kept := m.kept(r)
	want := m.m.dropRefusal(kept.Reason)
	if n, err := m.h.DropRefusals(context.Background(), []int64{kept.Seq}); err != nil || n != want {
		r.Fatalf("DropRefusals = %d, %v, want %d", n, err, want)
	}
}
