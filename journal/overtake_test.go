package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/report"
)

// underTest is a journal of any engine, with its queue.
type underTest struct {
	Journal
	*requests
}

// bothEngines runs a test with an empty journal of each engine.
func bothEngines(t *testing.T, opt Options, test func(t *testing.T, j underTest)) {
	t.Run("SQLite", func(t *testing.T) {
		j, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "journal.db"), opt)
		must(t, err)
		t.Cleanup(func() { must(t, j.Close()) })
		test(t, underTest{j, &j.requests})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		j := process(t, postgrestest.URL(t), silent(), opt)
		test(t, underTest{j, &j.requests})
	})
}

// atOnce delivers in this order while the writer is held up, and returns the stamps of
// the first change of each.
func (u underTest) atOnce(t *testing.T, list ...report.Delivery) []report.Stamp {
	t.Helper()
	entered, goOn := make(chan struct{}), make(chan struct{})
	answers := make([]chan report.Stamp, len(list))
	go func() {
		_ = u.queue.do(context.Background(), &request{run: func(*transaction) error {
			close(entered)
			<-goOn
			return nil
		}})
	}()
	<-entered
	for i, d := range list {
		answers[i] = make(chan report.Stamp, 1)
		go func() {
			stamps, err := u.Journal.Append(context.Background(), d)
			if err != nil {
				t.Error(err)
				stamps = make([]report.Stamp, 1)
			}
			answers[i] <- stamps[0]
		}()
		eventually(t, "it waits", func() bool {
			u.queue.mu.Lock()
			defer u.queue.mu.Unlock()
			return len(u.queue.waiting) == i+1
		})
	}
	close(goOn)
	var stamps []report.Stamp
	for _, a := range answers {
		stamps = append(stamps, <-a)
	}
	return stamps
}

// large is a delivery so large that no other of the kind fits into a group with it.
func large(kind report.Kind, more ...report.Change) report.Delivery {
	d := report.Delivery{Changes: more}
	for i := range maxGroupChanges {
		c := report.Change{Key: report.Key{Kind: kind, ID: report.ID(fmt.Sprint("large ", i))}, OwnID: report.ID(fmt.Sprint("large ", i)), Op: report.Index, Body: []byte("{}")}
		d.Changes = append(d.Changes, c)
	}
	return d
}

// TestSmallOvertakesLarge has a small delivery wait for one large one, and not for all
// that came before it.
func TestSmallOvertakesLarge(t *testing.T) {
	for _, kind := range []report.Kind{report.Advisories, report.Cities} {
		t.Run(string(kind), func(t *testing.T) {
			bothEngines(t, Options{}, func(t *testing.T, j underTest) {
				l, s := large(kind), report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: kind, ID: "small"}, Op: report.Index, Body: []byte("{}")}}}
				got := j.atOnce(t, l, l, l, s, s)
				var order []int
				for i := range got {
					order = append(order, i)
				}
				slices.SortFunc(order, func(a, b int) int { return int(got[a].Version - got[b].Version) })
				want := []int{0, 3, 4, 1, 2}
				if j.queue.beside { // the first large one and the small ones are under way at the same time
					order = slices.DeleteFunc(order, func(i int) bool { return i == 0 })
					want = want[1:]
				}
				if !slices.Equal(order, want) {
					t.Errorf("they were carried out in the order %v, want %v", order, want)
				}
			})
		})
	}
}

// TestNewerDoesNotOvertakeOlder has a small delivery come after a large one that is for
// the same document, under whatever name.
func TestNewerDoesNotOvertakeOlder(t *testing.T) {
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
	advisory := put("a", "{}").Changes[0]
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
			bothEngines(t, Options{}, func(t *testing.T, j underTest) {
				if len(c.known) > 0 {
					_, err := j.Journal.Append(t.Context(), report.Delivery{Changes: c.known})
					must(t, err)
				}
				tiny := report.Delivery{Changes: []report.Change{c.inTiny}}
				got := j.atOnce(t, large(c.inLarge.Kind), large(c.inLarge.Kind, c.inLarge), tiny, tiny)
				last := got[2].Version < got[3].Version
				if c.inTiny.Op == report.Delete { // there is nothing left for the second
					last = got[2].Effect == report.Changed && got[3].Effect == report.Unknown
				}
				if !(got[1].Version < got[2].Version && last) {
					t.Errorf("the large one has %v, those after it %v and %v", got[1], got[2], got[3])
				}
			})
		})
	}
}

// TestRefusalIsNotOvertaken: a record that was refused is older than what came after it,
// and a retry of it must not take its place.
func TestRefusalIsNotOvertaken(t *testing.T) {
	bothEngines(t, Options{}, func(t *testing.T, j underTest) {
		l := large(report.Advisories)
		l.Refusals = []report.Refusal{{Kind: report.Advisories, ID: "a", Reason: "r", Position: -1}}
		j.atOnce(t, large(report.Advisories), l, put("a", "{}"))
		if list, err := j.Refusals(t.Context(), 0, 10); err != nil || len(list) != 0 {
			t.Errorf("%v, %v: the newer delivery has not cleared it", list, err)
		}
	})
}

// TestAnsweredDoesNotWait: whoever has an answer and reads the journal next must not be
// refused because of the request that was answered, although it took long.
func TestAnsweredDoesNotWait(t *testing.T) {
	q := newQueue()
	r := &request{of: q, since: time.Now().Add(-time.Hour), done: make(chan error)}
	q.unanswered[r] = struct{}{}
	go r.answer(nil)
	eventually(t, "it does not count any longer", func() bool {
		wait, _ := q.oldest()
		return wait == 0
	})
	<-r.done
}

// TestNeitherStarves has large and small requests that wait take turns.
func TestNeitherStarves(t *testing.T) {
	q := newQueue()
	for i := range 12 {
		r := &request{seq: uint64(i), size: 1}
		if i%3 == 0 {
			r.size = largeRequest
			if i > 0 {
				r.size = maxGroupChanges
			}
		}
		q.waiting = append(q.waiting, r)
	}
	var got [][]uint64
	for len(q.waiting) > 0 {
		var seqs []uint64
		group, _ := q.take(nil)
		for _, r := range group {
			seqs = append(seqs, r.seq)
		}
		got = append(got, seqs)
		if last := uint64(20 + len(got)); last < 24 {
			q.waiting = append(q.waiting, &request{seq: last, size: 1})
		}
	}
	want := "[[0 1 2] [4 5 7 8 10 11 21] [3] [22 23] [6] [9]]"
	if s := fmt.Sprint(got); s != want {
		t.Errorf("the groups are %s, want %s", s, want)
	}
}

// TestLargeGoesApart has small requests be taken while a large delivery is carried out
// beside them, but those that name what it names, and no other large one.
func TestLargeGoesApart(t *testing.T) {
	q := newQueue()
	q.beside = true
	add := func(seq uint64, size int, id report.ID) {
		d := report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Advisories, ID: id}}}}
		q.waiting = append(q.waiting, &request{seq: seq, size: size, turn: newTurn(d)})
	}
	take := func(want string) {
		t.Helper()
		seqs := []uint64{}
		group, _ := q.take(nil)
		for _, r := range group {
			seqs = append(seqs, r.seq)
		}
		if got := fmt.Sprint(seqs); got != want {
			t.Errorf("the group is %s, want %s", got, want)
		}
	}
	add(0, 1, "a")
	add(1, largeRequest, "b")
	add(2, 1, "c")
	add(3, largeRequest, "d")
	add(4, 1, "b")
	add(5, 1, "e")
	take("[0]")
	take("[1]")
	take("[2 5]")
	take("[]")
	q.end()
	take("[4]")
	take("[3]")
	take("[]")
	q.end()
}

// TestManyCitiesOfOneCode has deliveries that would hold up all others for minutes if each
// of their cities were compared with the others.
func TestManyCitiesOfOneCode(t *testing.T) {
	bothEngines(t, Options{}, func(t *testing.T, j underTest) {
		const n = 20_000
		cities := func(from int, code string) (d report.Delivery) {
			for i := range n {
				id := report.ID(fmt.Sprint(from + i))
				d.Changes = append(d.Changes, report.Change{Key: report.Key{Kind: report.Cities, ID: id}, OwnID: id, Op: report.Index, Code: code, Body: []byte("{}")})
			}
			return d
		}
		for _, d := range []report.Delivery{cities(0, "A"), cities(n, "A"), cities(n, "B"), cities(0, ""), cities(0, "A")} {
			if _, err := j.Journal.Append(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		_, err := j.Journal.Append(t.Context(), report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Cities, ID: "A"}, Op: report.Delete}}})
		if !errors.Is(err, report.ErrAmbiguous) {
			t.Errorf("%v, want that it is ambiguous", err)
		}
	})
}
