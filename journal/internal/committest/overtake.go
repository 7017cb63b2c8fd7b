package committest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// UnderTest is an empty journal of any engine.
type UnderTest struct {
	journal.Journal
	Queue *commit.Queue
	// FillUp makes the journal exceed Options.MaxBytes.
	FillUp func()
}

// atOnce makes deliveries wait in this order for the blocked writer, and returns the
// stamps of the first change of each.
func (u UnderTest) atOnce(t *testing.T, list ...report.Delivery) []report.Stamp {
	t.Helper()
	entered, goOn := make(chan struct{}), make(chan struct{})
	answers := make([]chan report.Stamp, len(list))
	go func() {
		_ = u.Queue.Do(context.Background(), &commit.Request{Run: func(*commit.Transaction) error {
			close(entered)
			<-goOn
			return nil
		}})
	}()
	<-entered
	for i, d := range list {
		answers[i] = make(chan report.Stamp, 1)
		go func() {
			stamps, err := u.Append(context.Background(), d)
			if err != nil {
				t.Error(err)
				stamps = make([]report.Stamp, 1)
			}
			answers[i] <- stamps[0]
		}()
		Eventually(t, "it waits", func() bool { return u.Queue.Len() == i+1 })
	}
	close(goOn)
	var stamps []report.Stamp
	for _, a := range answers {
		stamps = append(stamps, <-a)
	}
	return stamps
}

// large returns a delivery so large that no other of the kind fits into a group with it.
func large(kind report.Kind, more ...report.Change) report.Delivery {
	d := report.Delivery{Changes: more}
	for i := range commit.MaxGroupChanges {
		c := report.Change{Key: report.Key{Kind: kind, ID: report.ID(fmt.Sprint("large ", i))}, OwnID: report.ID(fmt.Sprint("large ", i)), Op: report.Index, Body: []byte("{}")}
		d.Changes = append(d.Changes, c)
	}
	return d
}

// SmallOvertakesLarge: a small delivery waits for one large one, not for all that came
// before it.
func SmallOvertakesLarge(t *testing.T, open func(*testing.T) UnderTest) {
	for _, kind := range []report.Kind{report.Advisories, report.Cities} {
		t.Run(string(kind), func(t *testing.T) {
			j := open(t)
			l, s := large(kind), report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: kind, ID: "small"}, Op: report.Index, Body: []byte("{}")}}}
			got := j.atOnce(t, l, l, l, s, s)
			var order []int
			for i := range got {
				order = append(order, i)
			}
			slices.SortFunc(order, func(a, b int) int { return int(got[a].Version - got[b].Version) })
			want := []int{0, 3, 4, 1, 2}
			if j.Queue.Concurrent { // the first large one and the small ones are under way at the same time
				order = slices.DeleteFunc(order, func(i int) bool { return i == 0 })
				want = want[1:]
			}
			if !slices.Equal(order, want) {
				t.Errorf("they were executed in the order %v, want %v", order, want)
			}
		})
	}
}

// NewerDoesNotOvertakeOlder: a small delivery waits for an earlier large one that is for
// the same document, whatever name either uses.
func NewerDoesNotOvertakeOlder(t *testing.T, open func(*testing.T) UnderTest) {
	city := func(id, code string) report.Change {
		return report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: report.Index, Code: code, Body: []byte("{}")}
	}
	byID := func(c report.Change) report.Change {
		c.OwnID = c.ID
		return c
	}
	remove := func(c report.Change) report.Change {
		c.Op, c.Code, c.Body = report.Delete, "", nil
		return c
	}
	own := func(c report.Change, id report.ID) report.Change {
		c.OwnID = id
		return c
	}
	advisory := Put("a", "{}").Changes[0]
	for _, c := range []struct {
		name            string
		known           []report.Change // before
		inLarge, inTiny report.Change
	}{
		{"id", nil, advisory, advisory},
		{"delete", []report.Change{advisory}, advisory, remove(advisory)},
		{"delete of a new one", nil, city("130", ""), remove(city("130", ""))},
		{"code that the large one states", nil, byID(city("130", "LON")), city("lon", "")},
		{"code that the small one states", nil, city("LON", ""), byID(city("130", "LON"))},
		{"code that only the journal knows", []report.Change{city("130", "LON")}, byID(city("130", "")), city("LON", "")},
		{"id whose code only the journal knows", []report.Change{city("130", "LON")}, city("LON", ""), byID(city("130", ""))},
		{"own id", nil, city("130", ""), own(city("LON", ""), "130")},
		{"delete by code", []report.Change{city("130", "LON")}, byID(city("130", "")), remove(city("LON", ""))},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := open(t)
			if len(c.known) > 0 {
				_, err := j.Append(t.Context(), report.Delivery{Changes: c.known})
				require.NoError(t, err)
			}
			tiny := report.Delivery{Changes: []report.Change{c.inTiny}}
			got := j.atOnce(t, large(c.inLarge.Kind), large(c.inLarge.Kind, c.inLarge), tiny, tiny)
			last := got[2].Version < got[3].Version
			if c.inTiny.Op == report.Delete { // there is nothing left for the second
				last = got[2].Effect == report.Changed && got[3].Effect == report.Unknown
			}
			if !(got[1].Version < got[2].Version && last) {
				t.Errorf("the large delivery was stamped %v, those after it %v and %v; want them newer", got[1], got[2], got[3])
			}
		})
	}
}

// RefusalIsNotOvertaken: a refused record is older than what came after it, and its retry
// must not replace that.
func RefusalIsNotOvertaken(t *testing.T, open func(*testing.T) UnderTest) {
	j := open(t)
	l := large(report.Advisories)
	l.Refusals = []report.Refusal{{Kind: report.Advisories, ID: "a", Reason: "r", Position: -1}}
	j.atOnce(t, large(report.Advisories), l, Put("a", "{}"))
	if list, err := j.Refusals(t.Context(), 0, 10); err != nil || len(list) != 0 {
		t.Errorf("refusals %v, %v; want none, because the newer delivery clears it", list, err)
	}
}

// ManyCitiesOfOneCode: deliveries that would block all others for minutes if each of
// their cities were compared with each other.
func ManyCitiesOfOneCode(t *testing.T, open func(*testing.T) UnderTest) {
	j := open(t)
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	cities := func(from int, code string) (d report.Delivery) {
		for i := range n {
			id := report.ID(fmt.Sprint(from + i))
			d.Changes = append(d.Changes, report.Change{Key: report.Key{Kind: report.Cities, ID: id}, OwnID: id, Op: report.Index, Code: code, Body: []byte("{}")})
		}
		return d
	}
	for _, d := range []report.Delivery{cities(0, "AAA"), cities(n, "AAA"), cities(n, "BBB"), cities(0, ""), cities(0, "AAA")} {
		if _, err := j.Append(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	_, err := j.Append(t.Context(), report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Cities, ID: "AAA"}, Op: report.Delete}}})
	if !errors.Is(err, report.ErrAmbiguous) {
		t.Errorf("error %v, want ErrAmbiguous", err)
	}
}
