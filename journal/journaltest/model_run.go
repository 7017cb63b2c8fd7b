package journaltest

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"riskdex/journal"
	"riskdex/report"
)

// testModel does random things to the engine and to the model, and compares all
// that can be seen of them after each step.
func testModel(t *testing.T, open Open) {
	rapid.Check(t, func(r *rapid.T) {
		m := &machine{h: newHarness(t, open, journal.Options{}), m: newModel()}
		defer func() {
			if err := m.h.Close(); err != nil {
				r.Errorf("Close: %v", err)
			}
		}()
		r.Repeat(map[string]func(*rapid.T){
			"append": m.append,
			"claim":  m.claim,
			"settle": m.settle,
			"resend": m.resend,
			"reopen": m.reopen,
			"clock":  m.clock,
			"":       m.check,
		})
	})
}

type machine struct {
	h     *harness
	m     *model
	given []report.Change // everything ever claimed, to be settled in any order, also twice
}

var (
	kinds    = rapid.SampledFrom([]report.Kind{report.Cities, report.Cities, report.Advisories})
	names    = rapid.SampledFrom([]string{"1", "2", "3", "LON", "PAR", "lon"})
	codes    = rapid.SampledFrom([]string{"", "", "LON", "PAR", "1"})
	outcomes = rapid.SampledFrom(append(report.Outcomes(), report.Indexed, report.Retry))
)

func (m *machine) append(r *rapid.T) {
	var d report.Delivery
	for range rapid.IntRange(1, 4).Draw(r, "changes") {
		kind := kinds.Draw(r, "kind")
		if rapid.IntRange(0, 3).Draw(r, "delete") == 0 {
			d.Changes = append(d.Changes, remove(kind, names.Draw(r, "id")))
			continue
		}
		c := index(kind, names.Draw(r, "id"), "", rapid.StringN(1, 40, 40).Draw(r, "body"))
		if kind == report.Cities {
			c.Code = codes.Draw(r, "code")
			if rapid.Bool().Draw(r, "own") {
				c.OwnID = report.ID(names.Draw(r, "own id"))
			}
		}
		d.Changes = append(d.Changes, c)
	}
	stamps := m.h.append(r, d.Changes...)
	for i, c := range d.Changes {
		if want := m.m.append(c, m.h.clock.now()); stamps[i] != want {
			r.Fatalf("change %d (%s %q) was stamped %+v, want %+v", i, c.Kind, c.ID, stamps[i], want)
		}
	}
}

func (m *machine) claim(r *rapid.T) {
	kind, changes, size := kinds.Draw(r, "kind"), rapid.IntRange(0, 4).Draw(r, "changes"), rapid.IntRange(0, 100).Draw(r, "bytes")
	got := m.h.claimUpTo(r, kind, changes, size)
	want := m.m.claim(kind, changes, size, m.h.clock.now())
	if !slices.EqualFunc(got, want, sameChange) {
		r.Fatalf("claimed\n%+v\nwant\n%+v", got, want)
	}
	m.given = append(m.given, got...)
}

func sameChange(a, b report.Change) bool {
	return a.Key == b.Key && a.Op == b.Op && a.Code == b.Code && a.OwnID == b.OwnID &&
		a.Version == b.Version && a.AcceptedAt.Equal(b.AcceptedAt) && bytes.Equal(a.Body, b.Body)
}

func (m *machine) settle(r *rapid.T) {
	if len(m.given) == 0 {
		r.Skip("nothing was claimed yet")
	}
	var list []report.Settlement
	for range rapid.IntRange(1, 3).Draw(r, "settlements") {
		c := rapid.SampledFrom(m.given).Draw(r, "change")
		s := report.Settlement{Key: c.Key, Version: c.Version, Outcome: outcomes.Draw(r, "outcome"), ErrorType: "t", Reason: "r"}
		if s.Outcome == report.Retry {
			s.NotBefore = m.h.clock.now().Add(time.Duration(rapid.IntRange(-1, 3).Draw(r, "wait")) * time.Second)
		}
		list = append(list, s)
		m.m.settle(s, m.h.clock.now())
	}
	if err := m.h.Settle(context.Background(), list); err != nil {
		r.Fatalf("Settle: %v", err)
	}
}

func (m *machine) resend(r *rapid.T) {
	kind := kinds.Draw(r, "kind")
	m.h.resend(r, kind, m.m.resend(kind))
}

func (m *machine) reopen(r *rapid.T) {
	m.h.reopen(r)
	m.m.restart()
}

func (m *machine) clock(r *rapid.T) {
	m.h.clock.move(time.Duration(rapid.IntRange(-2, 5).Draw(r, "seconds")) * time.Second)
}

// check compares the sums of every kind.
func (m *machine) check(r *rapid.T) {
	m.h.conserved(r)
	for _, k := range report.Kinds() {
		got, want := m.h.stats(r, k), m.m.count(k)
		if describe(got) != describe(want) || !got.OldestWaiting.Equal(want.OldestWaiting) {
			r.Fatalf("%s:\n got %s, waiting since %v\nwant %s, waiting since %v",
				k, describe(got), got.OldestWaiting, describe(want), want.OldestWaiting)
		}
	}
}
