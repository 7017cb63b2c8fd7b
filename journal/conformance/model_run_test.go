package conformance

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"riskdex/journal"
	"riskdex/report"
)

// testModel does random things to the engine and to the model, and compares everything
// visible after each step.
func testModel(t *testing.T, open opener) {
	rapid.Check(t, func(r *rapid.T) {
		m := &machine{h: newHarness(t, open, journal.Options{}), m: newModel()}
		defer func() {
			if err := m.h.Close(); err != nil {
				r.Errorf("Close: %v", err)
			}
		}()
		r.Repeat(map[string]func(*rapid.T){
			"append":        m.append,
			"claim":         m.claim,
			"settle":        m.settle,
			"end all":       m.settleAll,
			"resend":        m.resend,
			"renew":         m.renew,
			"retry dead":    m.retryDead,
			"replace dead":  m.replaceDead,
			"drop dead":     m.dropDead,
			"retry refused": m.retryRefused,
			"drop refused":  m.dropRefused,
			"reopen":        m.reopen,
			"clock":         m.clock,
			"much later":    m.muchLater,
			"":              m.check,
		})
	})
}

type machine struct {
	h       *harness
	m       *model
	given   []report.Change // everything ever claimed, to be settled in any order, also twice
	stamped []report.Stamp  // everything ever stamped
	refused int             // all refusals ever made
}

func (m *machine) append(r *rapid.T) {
	records := m.records(r)
	d := with(report.Delivery{Receipt: m.receipt(r)}, records)
	if m.repeats(r, d) {
		return
	}
	m.compare(r, records, m.deliver(r, d), m.m.deliver(records, 0, m.h.clock.now()))
}

// compare checks the results of the changes among records.
func (m *machine) compare(r *rapid.T, records []record, got, want []report.Stamp) {
	if len(got) != len(want) {
		r.Fatalf("%d stamps, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			r.Fatalf("change %d of %+v was stamped %+v, want %+v", i, records, got[i], want[i])
		}
		if got[i].Version != 0 {
			m.stamped = append(m.stamped, got[i])
		}
	}
}

func (m *machine) claim(r *rapid.T) {
	kind, changes, size := kinds.Draw(r, "kind"), rapid.IntRange(0, 6).Draw(r, "changes"), rapid.IntRange(0, 100).Draw(r, "bytes")
	got := m.h.claimUpTo(r, kind, changes, size)
	m.took(r, kind, changes, size, got)
	m.given = append(m.given, got...)
}

func (m *machine) settle(r *rapid.T) {
	if len(m.given) == 0 {
		r.Skip("nothing was claimed yet")
	}
	var list []report.Settlement
	for range rapid.IntRange(1, 3).Draw(r, "settlements") {
		c := rapid.SampledFrom(m.given).Draw(r, "change")
		s := report.Settlement{Key: c.Key, Version: c.Version, Outcome: outcomes.Draw(r, "outcome"), ErrorType: "t", Reason: "r"}
		if wait := rapid.IntRange(-1, 3).Draw(r, "wait"); wait > -1 {
			s.NotBefore = m.h.clock.now().Add(time.Duration(wait-1) * time.Second)
		}
		list = append(list, s)
	}
	m.settleThese(r, list)
}

// settleAll settles all that is in flight, so that more documents become indexed or dead
// than by single settlements.
func (m *machine) settleAll(r *rapid.T) {
	o := rapid.SampledFrom([]report.Outcome{report.Indexed, report.Dead}).Draw(r, "outcome")
	var list []report.Settlement
	for _, c := range m.given {
		if m.m.held[c.Key] == c.Version {
			list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: o, ErrorType: "t", Reason: "r"})
		}
	}
	m.settleThese(r, list)
}

func (m *machine) settleThese(r *rapid.T, list []report.Settlement) {
	if err := m.h.Settle(context.Background(), list); err != nil {
		r.Fatalf("Settle: %v", err)
	}
	for _, s := range list {
		m.m.settle(s, m.h.clock.now())
	}
}

func (m *machine) resend(r *rapid.T) {
	kind := kinds.Draw(r, "kind")
	m.h.resend(r, kind, m.m.resend(kind))
}

func (m *machine) renew(r *rapid.T) {
	list := m.stamps(r, report.StateSettled)
	m.h.reissue(r, m.m.renew(list, m.h.clock.now()), list...)
}

func (m *machine) reopen(r *rapid.T) {
	m.h.reopen(r)
	m.m.restart()
}

func (m *machine) clock(r *rapid.T) {
	m.h.clock.move(time.Duration(rapid.IntRange(-40, 100).Draw(r, "twentieths of a second")) * time.Second / 20)
}
