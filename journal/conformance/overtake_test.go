package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"riskdex/internal/testkit/require"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// inOrder makes deliveries wait in this order for the writer, which is held up meanwhile, and
// returns the stamps of the first change of each.
func (h *harness) inOrder(t *testing.T, list ...report.Delivery) []report.Stamp {
	t.Helper()
	entered, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var held sync.WaitGroup
	held.Go(func() {
		d := delivery(index(report.SpecialReports, "held up", "", "{}"))
		d.Gone = func() bool { // the writer asks
			once.Do(func() { close(entered) })
			<-goOn
			return true
		}
		if _, err := h.Append(context.Background(), d); !errors.Is(err, report.ErrGone) {
			t.Errorf("a delivery whose sender has hung up: %v", err)
		}
	})
	<-entered
	answers := make([]chan report.Stamp, len(list))
	for i, d := range list {
		answers[i] = make(chan report.Stamp, 1)
		waits := waiting{context.Background(), make(chan struct{}, 1)}
		go func() {
			stamps, err := h.Append(waits, d)
			if err != nil {
				t.Error(err)
				stamps = make([]report.Stamp, 1)
			}
			answers[i] <- stamps[0]
		}()
		<-waits.begun
	}
	close(goOn)
	held.Wait()
	var stamps []report.Stamp
	for _, a := range answers {
		stamps = append(stamps, <-a)
	}
	return stamps
}

// waiting is a context that tells when somebody begins to wait for its end: a delivery that stands in
// the queue.
type waiting struct {
	context.Context
	begun chan struct{}
}

func (w waiting) Done() <-chan struct{} {
	select {
	case w.begun <- struct{}{}:
	default:
	}
	return w.Context.Done()
}

// large returns a delivery so large that no other of the kind fits into a group with it.
func large(kind report.Kind, more ...report.Change) report.Delivery {
	d := report.Delivery{Changes: more}
	for i := range commit.MaxGroupChanges {
		c := index(kind, fmt.Sprint("large ", i), "", "{}")
		c.OwnID = c.ID
		d.Changes = append(d.Changes, c)
	}
	return d
}

// TestKindsTakeTurns: a small delivery waits for one large delivery of another kind, not for all that
// came before it. It waits for all of its own kind.
func TestKindsTakeTurns(t *testing.T) {
	onEachEngine(t, func(t *testing.T, h *harness) {
		for kind, other := range map[report.Kind]report.Kind{report.Advisories: report.Cities, report.Cities: report.Advisories} {
			l, s := large(kind), delivery(index(other, "small", "", "{}"))
			got := h.inOrder(t, l, l, l, s, delivery(index(kind, "own", "", "{}")), s)
			var order []int
			for i := range got {
				order = append(order, i)
			}
			order = order[1:] // the first large one may be under way at the same time as the small ones
			slices.SortFunc(order, func(a, b int) int { return int(got[a].Version - got[b].Version) })
			if want := []int{3, 5, 1, 2, 4}; !slices.Equal(order, want) {
				t.Errorf("%s: they were executed in the order %v, want %v", kind, order, want)
			}
		}
	})
}

// TestNewerDoesNotOvertakeOlder: a small delivery waits for an earlier large one that is for
// the same document, whatever name either uses.
func TestNewerDoesNotOvertakeOlder(t *testing.T) {
	city := func(id, code string) report.Change { return city(id, code, "{}") }
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
	advisory := advisory("a", "{}")
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
			onEachEngine(t, func(t *testing.T, h *harness) {
				if len(c.known) > 0 {
					h.append(t, c.known...)
				}
				tiny := delivery(c.inTiny)
				got := h.inOrder(t, large(c.inLarge.Kind), large(c.inLarge.Kind, c.inLarge), tiny, tiny)
				last := got[2].Version < got[3].Version
				if c.inTiny.Op == report.Delete { // there is nothing left for the second
					last = got[2].Effect == report.Changed && got[3].Effect == report.Unknown
				}
				if !(got[1].Version < got[2].Version && last) {
					t.Errorf("the large delivery was stamped %v, those after it %v and %v; want them newer", got[1], got[2], got[3])
				}
			})
		})
	}
}

// TestRefusalIsNotOvertaken: a refused record is older than what came after it, and its retry
// must not replace that.
func TestRefusalIsNotOvertaken(t *testing.T) {
	onEachEngine(t, func(t *testing.T, h *harness) {
		l := large(report.Advisories)
		l.Refusals = []report.Refusal{{Kind: report.Advisories, ID: "a", Reason: "r", Position: -1}}
		h.inOrder(t, large(report.Advisories), l, delivery(advisory("a", "{}")))
		if list, err := h.Refusals(t.Context(), 0, 10); err != nil || len(list) != 0 {
			t.Errorf("refusals %v, %v; want none, because the newer delivery clears it", list, err)
		}
	})
}

// TestManyCitiesOfOneCode: deliveries that would block all others for minutes if each of
// their cities were compared with each other.
func TestManyCitiesOfOneCode(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	cities := func(from int, code string) (d report.Delivery) {
		for i := range n {
			c := city(fmt.Sprint(from+i), code, "{}")
			c.OwnID = c.ID
			d.Changes = append(d.Changes, c)
		}
		return d
	}
	onEachEngine(t, func(t *testing.T, h *harness) {
		for _, d := range []report.Delivery{cities(0, "AAA"), cities(n, "AAA"), cities(n, "BBB"), cities(0, ""), cities(0, "AAA")} {
			_, err := h.Append(t.Context(), d)
			require.NoError(t, err)
		}
		_, err := h.Append(t.Context(), delivery(remove(report.Cities, "AAA")))
		if !errors.Is(err, report.ErrAmbiguous) {
			t.Errorf("error %v, want ErrAmbiguous", err)
		}
	})
}
