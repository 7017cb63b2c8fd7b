package conformance

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"pgregory.net/rapid"

	"riskdex/report"
)

// took checks a claim: of the pending changes, or of those that are sent again, it has
// those that have waited longest, as many as fit.
func (m *machine) took(r *rapid.T, kind report.Kind, maxChanges, maxBytes int, got []report.Change) {
	now := m.h.clock.now()
	rest := m.m.claimable(kind, false, now)
	if again := m.m.claimable(kind, true, now); len(rest) == 0 || len(got) > 0 && got[0].Resent {
		rest = again
	}
	size := 0
	for i, c := range got {
		if len(rest) == 0 || !sameChange(c, rest[0]) {
			r.Fatalf("change %d that was claimed is\n%+v\nof\n%+v", i, c, rest)
		}
		rest = rest[1:]
		size += len(c.Body)
		m.m.held[c.Key] = c.Version
		delete(m.m.deferred, c.Key)
	}
	if len(got) > maxChanges || size > maxBytes && len(got) > 1 {
		r.Fatalf("claimed %d changes of %d bytes, at most %d of %d were asked for", len(got), size, maxChanges, maxBytes)
	}
	if full := len(got) == maxChanges || len(got) > 0 && len(rest) > 0 && size+len(rest[0].Body) > maxBytes; len(rest) > 0 && !full {
		r.Fatalf("claimed %d changes of %d bytes only, of up to %d of %d, and left %+v", len(got), size, maxChanges, maxBytes, rest)
	}
}

func sameChange(a, b report.Change) bool {
	return a.Key == b.Key && a.Op == b.Op && a.Code == b.Code && a.OwnID == b.OwnID && a.Resent == b.Resent && a.NoCode == b.NoCode && a.ExactID == b.ExactID &&
		a.Version == b.Version && a.AcceptedAt.Equal(b.AcceptedAt) && bytes.Equal(a.Body, b.Body)
}

// sorted returns the documents of a kind in the order of their ids.
func (m *model) sorted(kind report.Kind) []*modelDocument {
	var list []*modelDocument
	for k, d := range m.documents {
		if k.Kind == kind {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *modelDocument) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// check compares the totals, the documents, the dead letters and the refusals.
func (m *machine) check(r *rapid.T) {
	m.h.conserved(r)
	for _, k := range report.Kinds() {
		got, want := m.h.stats(r, k), m.m.count(k)
		if describe(got) != describe(want) || got.RefusedDocuments != want.RefusedDocuments || !got.OldestWaiting.Equal(want.OldestWaiting) || !got.NewestWaiting.Equal(want.NewestWaiting) {
			r.Fatalf("%s:\n got %s, %d refused, waiting from %v to %v\nwant %s, %d refused, waiting from %v to %v",
				k, describe(got), got.RefusedDocuments, got.OldestWaiting, got.NewestWaiting, describe(want), want.RefusedDocuments, want.OldestWaiting, want.NewestWaiting)
		}
		m.checkDocuments(r, k)
	}
	var want []string
	for _, refused := range m.m.refusals {
		want = append(want, refused.Reason)
	}
	slices.Reverse(want)
	m.h.kept(r, want...)
}

func (m *machine) checkDocuments(r *rapid.T, kind report.Kind) {
	var entries []report.Entry
	var dead []*modelDocument
	for _, d := range m.m.sorted(kind) {
		entries = append(entries, report.Entry{Stamp: report.Stamp{Key: d.Key, Version: d.Version}, Op: d.Op, State: d.state})
		if d.state == report.StateDead {
			dead = append(dead, d)
		}
	}
	if got := m.h.entries(r, kind, "", 1000); !slices.Equal(got, entries) {
		r.Fatalf("entries\n%+v\nwant\n%+v", got, entries)
	}
	letters := m.h.letters(r, kind, "", 1000)
	if len(letters) != len(dead) {
		r.Fatalf("%d dead letters are listed, want %d", len(letters), len(dead))
	}
	for i, d := range dead {
		l, err := m.h.DeadLetter(context.Background(), d.Key)
		if err != nil || l.Key != d.Key || l.Version != d.Version || !bytes.Equal(l.Body, d.Body) || letters[i].Key != d.Key || letters[i].Version != d.Version {
			r.Fatalf("the dead letter is %+v, %v, listed as %+v, want %+v", l, err, letters[i], d)
		}
	}
}
