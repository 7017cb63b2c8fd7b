package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

const (
	historyKept     = 10 * 24 * time.Hour
	historyMaxBytes = 1 << 20
	// historyEntryBytes is at most what an entry counts for besides its record.
	historyEntryBytes = 200
	// togetherMaxBytes is the bound of testHistoryEverywhere.
	togetherMaxBytes = 50 << 10
)

var historyTests = []test{
	{"of what was delivered, by whom, and when the index had it", testHistoryTold},
	{"what was valid at a time", testHistoryAt},
	{"a version that was overtaken", testHistoryOvertaken},
	{"a document that is sent again keeps the time at which the index first had it", testHistoryResent},
	{"a dead letter and its retry", testHistoryDead},
	{"a document that is refused when it is sent again was in the index before", testHistoryRefusedAgain},
	{"what states the same takes no space", testHistorySame},
	{"a body is read once there is memory for it", testHistoryMemory},
	{"of a city under its code, and of one that is adopted", testHistoryCities},
	{"a document that was deleted long ago", testHistoryForgotten},
	{"is dropped by age", testHistoryAge},
	{"is dropped by size", testHistorySize},
	{"in pages", testHistoryPages},
	{"what became of a delivery", testHistoryDelivered},
	{"agrees with what was acknowledged", testHistoryAgrees},
}

var somebody = report.Source{Sender: "publisher", Address: "192.0.2.7", Call: "PUT /cities/130", Request: "req-7"}

func (h *harness) deliver(t tester, by report.Source, changes ...report.Change) []report.Stamp {
	t.Helper()
	stamps, err := h.Append(context.Background(), report.Delivery{Changes: changes, Source: by})
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	return stamps
}

func (h *harness) history(t tester, key report.Key) []report.Past {
	t.Helper()
	list, err := h.History(context.Background(), key, math.MaxInt64, 1000)
	if err != nil {
		t.Fatalf("History: %v", err)
	}
	return list
}

func (h *harness) pastAt(t tester, key report.Key, at time.Time) report.Past {
	t.Helper()
	p, err := h.PastAt(context.Background(), key, at)
	if err != nil {
		t.Fatalf("PastAt(%v): %v", at, err)
	}
	return p
}

// told describes versions, oldest first: "index settled +1..+3" is one that the index had from
// one minute after the start to three.
func (h *harness) told(list []report.Past) string {
	var words []string
	minutes := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return fmt.Sprintf("+%g", t.Sub(h.start).Minutes())
	}
	for _, p := range slices.Backward(list) {
		s := fmt.Sprintf("%s %s", p.Op, p.State)
		if !p.SearchableAt.IsZero() {
			s += " " + minutes(p.SearchableAt) + ".." + minutes(p.SearchableUntil)
			if p.UntilUnknown {
				s += "?"
			}
		}
		if p.NeverSearchable() {
			s += " never"
		}
		if p.Gap {
			s += " gap"
		}
		words = append(words, s)
	}
	return strings.Join(words, ", ")
}

func (h *harness) tells(t tester, key report.Key, want string) {
	t.Helper()
	if got := h.told(h.history(t, key)); got != want {
		t.Errorf("the history of %s %q:\n got %s\nwant %s", key.Kind, key.ID, got, want)
	}
}

// index has everything that is pending indexed, a minute after now.
func (h *harness) indexAll(t tester, kind report.Kind) {
	t.Helper()
	h.clock.move(time.Minute)
	for _, c := range h.claim(t, kind) {
		o := report.Indexed
		if c.Op == report.Delete {
			o = report.Deleted
		}
		h.settle(t, c, o)
	}
}

func testHistoryTold(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "a\x00b'"}
	first := h.deliver(t, somebody, advisory(string(key.ID), `{"level":1}`))[0]
	h.indexAll(t, key.Kind)
	h.clock.move(time.Minute)
	h.deliver(t, report.Source{Call: "DELETE /advisories/a"}, remove(key.Kind, string(key.ID)))
	h.indexAll(t, key.Kind)
	h.clock.move(time.Minute)
	h.append(t, advisory(string(key.ID), `{"level":30}`))
	check := func() {
		t.Helper()
		h.tells(t, key, "index settled +1..+3, delete settled +3.., index pending")
		list := h.history(t, key)
		if p := list[2]; p.Source != somebody || p.Bytes != 11 || p.Version != first.Version || !p.AcceptedAt.Equal(h.start) || !p.ReplacedAt.Equal(h.start.Add(2*time.Minute)) || p.Key != key || p.Body != nil {
			t.Errorf("the first version is %+v", p)
		}
		if p := list[1]; p.Call != "DELETE /advisories/a" || p.Bytes != 0 {
			t.Errorf("the second version is %+v", p)
		}
		for i, want := range map[int]string{0: `{"level":30}`, 1: "", 2: `{"level":1}`} {
			p, err := h.PastVersion(t.Context(), key, list[i].Version)
			if err != nil || string(p.Body) != want || p.Lost != report.NotLost || p.Version != list[i].Version {
				t.Errorf("version %d is %+v, %v", i, p, err)
			}
		}
		if s := h.stats(t, key.Kind); s.History != 3 || s.HistoryBytes != 3*historyEntryBytes+11 || s.HistoryDropped != 0 {
			t.Errorf("%d entries of %d bytes, %d dropped", s.History, s.HistoryBytes, s.HistoryDropped)
		}
	}
	check()
	h.reopen(t)
	check()
	for _, v := range []report.Version{-1, 0, 1, first.Version + 1, math.MaxInt64} {
		if p, err := h.PastVersion(t.Context(), key, v); !errors.Is(err, report.ErrNotFound) {
			t.Errorf("version %d is %+v, %v", v, p, err)
		}
	}
	if list := h.history(t, report.Key{Kind: key.Kind, ID: "unknown"}); len(list) != 0 {
		t.Errorf("the history of an unknown document is %+v", list)
	}
	if s, err := h.Stats(t.Context()); err != nil || s.History.Keep != historyKept || s.History.MaxBytes != historyMaxBytes || !s.History.Since.Equal(h.start) {
		t.Errorf("its bounds are %+v, %v", s.History, err)
	}
}

func testHistoryAt(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	h.append(t, advisory("1", "one"), advisory("1", "two"))
	h.clock.move(time.Hour)
	h.append(t, remove(key.Kind, "1"))
	h.clock.move(time.Hour)
	h.append(t, advisory("1", "three"))
	for at, want := range map[time.Duration]string{0: "two", time.Hour - 1: "two", time.Hour: "", 2*time.Hour - time.Microsecond: "", 2 * time.Hour: "three", 1000 * time.Hour: "three"} {
		p := h.pastAt(t, key, h.start.Add(at))
		if string(p.Body) != want || (p.Op == report.Delete) != (want == "") {
			t.Errorf("after %v it is %+v, want %q", at, p, want)
		}
	}
	for _, id := range []report.ID{"1", "2"} {
		if p, err := h.PastAt(t.Context(), report.Key{Kind: key.Kind, ID: id}, h.start.Add(-time.Second)); !errors.Is(err, report.ErrNotFound) {
			t.Errorf("before all, %q was %+v, %v", id, p, err)
		}
	}
}

func testHistoryOvertaken(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	h.append(t, advisory("1", "never claimed"))
	h.append(t, advisory("1", "overtaken in flight, and indexed"))
	c := h.claimOne(t, key.Kind)
	h.clock.move(time.Minute)
	h.append(t, advisory("1", "overtaken in flight, and not indexed"))
	h.settle(t, c, report.Indexed)
	h.clock.move(time.Minute)
	c = h.claimOne(t, key.Kind)
	h.append(t, advisory("1", "four"))
	h.settle(t, c, report.Superseded)
	h.indexAll(t, key.Kind)
	h.tells(t, key, "index pending never, index settled +1..+3, index pending never, index settled +3..")
	// Both in one group, as far as the engine lets them.
	h.append(t, advisory("1", "five"))
	h.clock.move(time.Minute)
	c = h.claimOne(t, key.Kind)
	ended := make(chan error, 1)
	go func() {
		_, err := h.Append(context.Background(), report.Delivery{Changes: []report.Change{advisory("1", "six")}})
		ended <- err
	}()
	h.settle(t, c, report.Indexed)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if p := h.history(t, key)[1]; p.State != report.StateSettled || !p.SearchableAt.Equal(h.start.Add(4*time.Minute)) {
		t.Errorf("a version that was indexed while the next one came is %+v", p)
	}
}

func testHistoryResent(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	h.append(t, advisory("1", "one"))
	h.indexAll(t, key.Kind)
	h.resend(t, key.Kind, 1)
	h.tells(t, key, "index resending +1..")
	h.indexAll(t, key.Kind)
	h.tells(t, key, "index settled +1..")
	e := h.entries(t, key.Kind, "", 1)[0]
	h.reissue(t, 1, e.Stamp)
	h.indexAll(t, key.Kind)
	h.tells(t, key, "index settled +1..")
	h.append(t, advisory("1", "two"))
	e = h.entries(t, key.Kind, "", 1)[0]
	if n, err := h.RaiseVersions(t.Context(), []report.Ahead{{Stamp: e.Stamp, Index: e.Version + 1000}}); n != 1 || err != nil {
		t.Fatalf("passed %d, %v", n, err)
	}
	h.indexAll(t, key.Kind)
	h.append(t, advisory("1", "three"))
	h.tells(t, key, "index settled +1..+4, index settled +4.., index pending")
	for i, want := range []string{"three", "two", "one"} {
		p, err := h.PastVersion(t.Context(), key, h.history(t, key)[i].Version)
		if err != nil || string(p.Body) != want {
			t.Errorf("version %d is %+v, %v, want %s", i, p, err, want)
		}
	}
}

func testHistoryRefusedAgain(t *testing.T, h *harness) {
	for _, drop := range []bool{false, true} {
		key := report.Key{Kind: report.Advisories, ID: report.ID(fmt.Sprint(drop))}
		begin := h.clock.now()
		first := h.append(t, advisory(string(key.ID), "one"))
		h.indexAll(t, key.Kind)
		h.reissue(t, 1, first[0])
		h.clock.move(time.Minute)
		c := h.claimOne(t, key.Kind)
		h.settle(t, c, report.Dead)
		if p := h.history(t, key)[0]; p.State != report.StateDead || p.NeverSearchable() || !p.SearchableAt.Equal(begin.Add(time.Minute)) {
			t.Errorf("what the index had a minute after %v is %+v", begin, p)
		}
		if drop {
			h.dropDead(t, 1, report.Stamp{Key: key, Version: c.Version})
		}
		h.append(t, advisory(string(key.ID), "two"))
		h.indexAll(t, key.Kind)
		if p := h.history(t, key)[1]; p.NeverSearchable() || !p.SearchableAt.Equal(begin.Add(time.Minute)) || !p.SearchableUntil.Equal(begin.Add(3*time.Minute)) {
			t.Errorf("what the index had a minute after %v, once it is replaced, is %+v", begin, p)
		}
		page, err := h.Delivered(t.Context(), report.NameDelivery(first), 0, 10)
		if err != nil || len(page.Documents) != 1 || !page.Documents[0].SearchableAt.Equal(begin.Add(time.Minute)) {
			t.Errorf("its delivery is %+v, %v", page, err)
		}
	}
}

func testHistoryDead(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	dead := h.append(t, advisory("1", "bad"))
	h.settle(t, h.claimOne(t, key.Kind), report.Dead)
	if n, err := h.RetryDead(t.Context(), dead); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	h.settle(t, h.claimOne(t, key.Kind), report.Dead)
	s := h.entries(t, key.Kind, "", 1)[0].Stamp
	edited, err := h.ReplaceDead(t.Context(), s, advisory("1", "edited"))
	if err != nil {
		t.Fatal(err)
	}
	h.settle(t, h.claimOne(t, key.Kind), report.Dead)
	h.dropDead(t, 1, edited)
	h.append(t, advisory("1", "good"))
	h.tells(t, key, "index dead never, index dead never, index dropped never, index pending")
	list := h.history(t, key)
	if list[2].Call == "" || list[1].Call == "" || list[2].Call == list[1].Call {
		t.Errorf("what was retried and edited is from %+v, %+v", list[2].Source, list[1].Source)
	}
	for i, want := range []string{"good", "", "bad", "bad"} {
		p, err := h.PastVersion(t.Context(), key, list[i].Version)
		if err != nil || string(p.Body) != want || (p.Lost == report.LostDropped) != (want == "") {
			t.Errorf("version %d is %+v, %v, want %s", i, p, err, want)
		}
	}
}

func testHistorySame(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	body := strings.Repeat("the same ", 100)
	for i := range 5 {
		h.append(t, advisory("1", body))
		if i == 2 {
			h.append(t, advisory("1", strings.ToUpper(body)))
		}
	}
	h.append(t, advisory("1", body), advisory("1", body), advisory("1", "last"))
	if s := h.stats(t, key.Kind); s.History != 9 || s.HistoryBytes != 9*historyEntryBytes+3*int64(len(body)) {
		t.Errorf("%d entries of %d bytes", s.History, s.HistoryBytes)
	}
	for i, v := range h.history(t, key) {
		want := map[int]string{0: "last", 5: strings.ToUpper(body)}[i]
		if want == "" {
			want = body
		}
		p, err := h.PastVersion(t.Context(), key, v.Version)
		if err != nil || string(p.Body) != want || p.Lost != "" || v.Bytes != len(want) {
			t.Errorf("version %d is %.100q, %s, %v", i, p.Body, p.Lost, err)
		}
	}
}

func testHistoryCities(t *testing.T, h *harness) {
	h.deliver(t, somebody, city("LON", "LON", "by code"))
	h.clock.move(time.Minute)
	c := city("LON", "LON", "by id")
	c.OwnID = "130"
	h.deliver(t, somebody, c)
	h.tells(t, report.Key{Kind: report.Cities, ID: "LON"}, "index pending never, delete pending")
	h.tells(t, report.Key{Kind: report.Cities, ID: "130"}, "index pending")
	if s := h.stats(t, report.Cities); s.History != 3 {
		t.Errorf("%d entries", s.History)
	}
	if p := h.pastAt(t, report.Key{Kind: report.Cities, ID: "LON"}, h.start); string(p.Body) != "by code" || p.Code != "LON" || p.Sender != somebody.Sender {
		t.Errorf("it was %+v", p)
	}
}

func testHistoryForgotten(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	h.append(t, advisory("1", "one"))
	h.indexAll(t, key.Kind)
	h.append(t, remove(key.Kind, "1"))
	h.indexAll(t, key.Kind)
	h.clock.move(historyKept/2 + time.Hour)
	if n, err := h.DropDeleted(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	h.tells(t, key, "index settled +1..?, delete settled")
	if p := h.pastAt(t, key, h.start); string(p.Body) != "one" {
		t.Errorf("it was %+v", p)
	}
	if p := h.pastAt(t, key, h.clock.now()); p.Op != report.Delete {
		t.Errorf("it is %+v", p)
	}
	h.append(t, advisory("1", "two"))
	h.tells(t, key, "index settled +1..?, delete settled, index pending")
	if p := h.pastAt(t, key, h.start.Add(time.Hour)); p.Op != report.Delete {
		t.Errorf("after an hour it was %+v", p)
	}
}

func (h *harness) dropHistory(t tester, want int) {
	t.Helper()
	n, err := h.DropHistory(context.Background())
	for until := time.Now().Add(patience); n < want && err == nil && time.Now().Before(until); { // the journal may be doing so itself
		var more int
		more, err = h.DropHistory(context.Background())
		n += more
	}
	if n != want || err != nil {
		t.Errorf("dropped %d entries, %v, want %d", n, err, want)
	}
}

// patience is less than the time between two regular looks at the history.
const patience = 30 * time.Second

// soon waits until ok, less long than the next regular look at the history takes.
func soon(t tester, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !ok(); runtime.Gosched() {
		if time.Now().After(until) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func testHistoryAge(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	const many = 300
	for n := range many {
		h.append(t, advisory("1", fmt.Sprint("old ", n)))
	}
	h.append(t, city("1", "", "{}"))
	h.clock.move(historyKept)
	h.append(t, advisory("1", "new"))
	h.dropHistory(t, 0)
	h.clock.move(time.Microsecond)
	h.dropHistory(t, many+1)
	h.dropHistory(t, 0)
	if s := h.stats(t, key.Kind); s.History != 1 || s.HistoryDropped != many || s.HistoryBytes != historyEntryBytes+int64(len("old 299")) {
		t.Errorf("%d entries of %d bytes, %d dropped", s.History, s.HistoryBytes, s.HistoryDropped)
	}
	if s := h.stats(t, report.Cities); s.History != 0 || s.HistoryDropped != 1 || s.HistoryBytes != 0 {
		t.Errorf("%d entries of cities of %d bytes, %d dropped", s.History, s.HistoryBytes, s.HistoryDropped)
	}
	if s, err := h.Stats(t.Context()); err != nil || !report.HistoryCutIn(s.Notes).IsZero() {
		t.Errorf("entries that were too old count as dropped because of the size: %v, %v", s.Notes, err)
	}
	// What was valid within that time is known, though it was accepted before.
	if p := h.pastAt(t, key, h.start.Add(historyKept-1)); string(p.Body) != "old 299" {
		t.Errorf("it was %+v", p)
	}
	h.tells(t, key, "index pending never, index pending")
	if _, err := h.PastAt(t.Context(), key, h.start.Add(-1)); !errors.Is(err, report.ErrHistoryTooShort) {
		t.Errorf("PastAt before the history begins: %v", err)
	}
}

func testHistorySize(t *testing.T, h *harness) {
	record := strings.Repeat("x", 10_000)
	for n := range 300 {
		h.append(t, advisory("1", fmt.Sprint(n, record)))
	}
	var s report.KindStats
	within := func(most int64) func() bool {
		return func() bool {
			s = h.stats(t, report.Advisories)
			return s.HistoryBytes <= most
		}
	}
	soon(t, "the history is not much larger than it may be", within(historyMaxBytes+historyMaxBytes/32))
	const each = historyEntryBytes + 10_003
	soon(t, "the history is no larger than it may be", func() bool {
		if _, err := h.DropHistory(t.Context()); err != nil {
			t.Fatal(err)
		}
		return within(historyMaxBytes)()
	})
	if s.HistoryBytes < historyMaxBytes-each || s.History+int(s.HistoryDropped) != 300 {
		t.Errorf("%d entries of %d bytes are left, %d dropped", s.History, s.HistoryBytes, s.HistoryDropped)
	}
	if got := len(h.history(t, report.Key{Kind: report.Advisories, ID: "1"})); got != s.History+1 {
		t.Errorf("%d versions are told of, want %d", got, s.History+1)
	}
	if s, err := h.Stats(t.Context()); err != nil || !report.HistoryCutIn(s.Notes).Equal(h.clock.now()) {
		t.Errorf("entries were dropped because of the size at %v, %v; want now", report.HistoryCutIn(s.Notes), err)
	}
	h.dropHistory(t, 0)
}

func testHistoryPages(t *testing.T, h *harness) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	for n := range 20 {
		h.append(t, advisory("1", fmt.Sprint(n)))
		if n%3 == 0 {
			h.indexAll(t, key.Kind)
		}
		h.clock.move(time.Minute)
	}
	if n := len(h.history(t, key)); n != 20 {
		t.Errorf("history has %d versions, want 20", n)
	}
	h.pages(t, key)
}

// pages reads the history of a document in pages, which must tell the same as all at once.
func (h *harness) pages(t tester, key report.Key) {
	t.Helper()
	want := h.history(t, key)
	for _, limit := range []int{1, 3, 7} {
		var got []report.Past
		for before := report.Version(math.MaxInt64); ; {
			list, err := h.History(context.Background(), key, before, limit)
			if err != nil {
				t.Fatalf("History: %v", err)
			}
			if len(list) == 0 {
				break
			}
			got = append(got, list...)
			before = list[len(list)-1].Version
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in pages of %d:\n got %s\nwant %s", limit, h.told(got), h.told(want))
		}
	}
}

// testHistoryAgrees compares what history says of random deliveries with what was
// acknowledged.
func testHistoryAgrees(t *testing.T, h *harness) {
	type valid struct {
		from time.Time
		body string
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1)) // #nosec G404 -- a test
	acknowledged := map[report.ID][]valid{}
	for n := range 400 {
		h.clock.move(time.Duration(random.IntN(100)) * time.Microsecond) // often none
		switch random.IntN(5) {
		case 0:
			for _, c := range h.claimUpTo(t, report.Advisories, 1+random.IntN(3), 1<<20) {
				h.settle(t, c, []report.Outcome{report.Indexed, report.Superseded, report.Retry, report.Dead}[random.IntN(4)])
			}
		case 1:
			if random.IntN(20) == 0 {
				h.reopen(t)
			}
		default:
			var d []report.Change
			for range 1 + random.IntN(4) {
				id := fmt.Sprint(random.IntN(3))
				body := fmt.Sprint("body ", n, " ", random.IntN(3))
				if random.IntN(4) == 0 {
					body = "common"
				}
				if random.IntN(6) == 0 {
					d = append(d, remove(report.Advisories, string(id)))
				} else {
					d = append(d, advisory(id, body))
				}
			}
			for i, s := range h.deliver(t, somebody, d...) {
				if s.Version != 0 {
					acknowledged[s.ID] = append(acknowledged[s.ID], valid{h.clock.now(), string(d[i].Body)})
				}
			}
		}
	}
	for id, list := range acknowledged {
		key := report.Key{Kind: report.Advisories, ID: id}
		told := h.history(t, key)
		if len(told) != len(list) {
			t.Errorf("%q: history has %d versions, want %d", id, len(told), len(list))
			continue
		}
		slices.Reverse(told)
		for i, want := range list {
			p, err := h.PastVersion(t.Context(), key, told[i].Version)
			if err != nil || string(p.Body) != want.body || !p.AcceptedAt.Equal(want.from) || p.Source != somebody || p.Gap || p.Lost != "" {
				t.Errorf("%q, version %d of %d is %+v, %v, want %+v", id, i, len(list), p, err, want)
			}
			if i+1 < len(list) && list[i+1].from.Equal(want.from) {
				continue
			}
			if p := h.pastAt(t, key, want.from); string(p.Body) != want.body {
				t.Errorf("%q was %q at %v, want %q", id, p.Body, want.from, want.body)
			}
		}
	}
}

// testHistoryOff: nothing is added while history is off, what there is stays, and it says so
// where something is missing.
func testHistoryOff(t *testing.T, open opener) {
	dir := t.TempDir()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ticks := &clock{t: start}
	with := func(keep time.Duration, f func(h *harness)) {
		t.Helper()
		h := &harness{Journal: open(t, dir, journal.Options{Now: ticks.now, History: keep, KeepDeleted: historyKept}), clock: ticks, start: start}
		defer func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(h)
	}
	key := report.Key{Kind: report.Advisories, ID: "1"}
	next := func(h *harness, body string) {
		h.append(t, advisory("1", body))
		h.indexAll(t, key.Kind)
	}
	with(0, func(h *harness) {
		next(h, "one")
		next(h, "two")
		if s := h.stats(t, key.Kind); s.History != 0 || s.HistoryBytes != 0 {
			t.Errorf("%d entries while history is off", s.History)
		}
		h.tells(t, key, "index settled +2..")
	})
	with(historyKept, func(h *harness) {
		next(h, "three")
		h.tells(t, key, "index settled +2..+3, index settled +3..")
		next(h, "four")
	})
	with(0, func(h *harness) {
		h.dropHistory(t, 0)
		h.tells(t, key, "index settled +2..+3, index settled +3..+4, index settled +4..")
		next(h, "five")
		next(h, "six")
		h.tells(t, key, "index settled +2..+3, index settled +3..?, index  gap, index settled +6..")
	})
	with(historyKept, func(h *harness) {
		next(h, "seven")
		h.tells(t, key, "index settled +2..+3, index settled +3..?, index  gap, index settled +6..+7, index settled +7..")
		h.pages(t, key)
		for at, want := range map[int]string{2: "two", 3: "three", 6: "six", 7: "seven"} {
			if p := h.pastAt(t, key, start.Add(time.Duration(at)*time.Minute-1)); string(p.Body) != want {
				t.Errorf("in minute %d it was %q, want %s", at, p.Body, want)
			}
		}
		for _, at := range []int{1, 4, 5} {
			if p, err := h.PastAt(t.Context(), key, start.Add(time.Duration(at)*time.Minute-1)); !errors.Is(err, report.ErrHistoryTooShort) {
				t.Errorf("in minute %d it was %+v, %v, want nobody to know", at, p, err)
			}
		}
		list := h.history(t, key)
		p, err := h.PastVersion(t.Context(), key, list[2].Version)
		if err != nil || p.Lost != report.LostUnknown || !p.ReplacedAt.IsZero() {
			t.Errorf("the one before the gap is %+v, %v", p, err)
		}
	})
	with(-1, func(h *harness) {
		next(h, "eight")
		for s := h.stats(t, key.Kind); s.History != 0 || s.HistoryBytes != 0; s = h.stats(t, key.Kind) {
			runtime.Gosched()
		}
		h.tells(t, key, "index settled +8..")
		if s, err := h.Stats(t.Context()); err != nil || s.History.Keep != 0 {
			t.Errorf("history is said to be kept for %v, %v", s.History.Keep, err)
		}
	})
	// A document that was deleted while history was off, and whose tombstone is gone, is not said to
	// have been there since.
	key = report.Key{Kind: report.Advisories, ID: "2"}
	with(historyKept, func(h *harness) {
		h.append(t, advisory("2", "one"))
		h.indexAll(t, key.Kind)
	})
	with(0, func(h *harness) {
		h.append(t, remove(report.Advisories, "2"))
		h.indexAll(t, key.Kind)
		h.clock.move(2 * historyKept)
		if n, err := h.DropDeleted(t.Context()); n != 1 || err != nil {
			t.Errorf("DropDeleted: %d, %v", n, err)
		}
	})
	with(historyKept, func(h *harness) {
		for range 2 {
			if p, err := h.PastAt(t.Context(), key, h.clock.now().Add(-1)); !errors.Is(err, report.ErrHistoryTooShort) {
				t.Errorf("across the gap it was %+v, %v, want nobody to know", p, err)
			}
			h.append(t, advisory("2", "two"))
		}
		h.indexAll(t, key.Kind)
		h.pages(t, key)
	})
}

// testHistoryEverywhere delivers a few documents through all processes at once, which then drop
// old entries at the same time.
func testHistoryEverywhere(t *testing.T, hs []*harness) {
	var mu sync.Mutex
	sent := map[report.Version]string{}
	atOnce(hs, func(h *harness) {
		for n := range rounds {
			var d []report.Change
			for id := range 3 {
				d = append(d, advisory(fmt.Sprint(id), fmt.Sprintf("%p %d %d", &n, n, rand.IntN(1000)))) // #nosec G404 -- a test
			}
			for i, s := range h.deliver(t, somebody, d...) {
				mu.Lock()
				sent[s.Version] = string(d[i].Body)
				mu.Unlock()
			}
		}
	})
	// All drop the same entries, each of them once.
	drop := func(h *harness) {
		if _, err := h.DropHistory(context.Background()); err != nil {
			t.Errorf("DropHistory: %v", err)
		}
	}
	const most, least = togetherMaxBytes, togetherMaxBytes - historyEntryBytes - 100
	var s report.KindStats
	soon(t, "the history is no larger than it may be", func() bool {
		atOnce(hs, drop)
		s = hs[0].stats(t, report.Advisories)
		return s.HistoryBytes <= most
	})
	if s.History+int(s.HistoryDropped) != len(sent) || s.HistoryBytes < least {
		t.Errorf("%d of %d entries are left, of %d bytes, %d are dropped; want %d to %d", s.History, len(sent), s.HistoryBytes, s.HistoryDropped, least, most)
	}
	told := 0
	for id := range 3 {
		key := report.Key{Kind: report.Advisories, ID: report.ID(fmt.Sprint(id))}
		for _, v := range hs[0].history(t, key) {
			p, err := hs[1].PastVersion(t.Context(), key, v.Version)
			if err != nil || string(p.Body) != sent[v.Version] || p.Gap || p.Lost != "" {
				t.Errorf("version %d of %d is %+v, %v, want %q", v.Version, id, p, err, sent[v.Version])
			}
			told++
		}
	}
	if told < s.History || told > s.History+3 {
		t.Errorf("history has %d versions, and %d entries", told, s.History)
	}
	hs[0].clock.move(historyKept + time.Minute)
	soon(t, "the history is dropped by age", func() bool {
		atOnce(hs, drop)
		s = hs[0].stats(t, report.Advisories)
		return s.History == 0
	})
	if s.HistoryBytes != 0 || int(s.HistoryDropped) != len(sent) {
		t.Errorf("%d of %d entries are dropped, and %d bytes are left", s.HistoryDropped, len(sent), s.HistoryBytes)
	}
}

// testHistoryRoom: the journal is full of documents that were delivered and deleted, and the history
// keeps each. It gives way, so that the deletes make room.
func testHistoryRoom(t *testing.T, h *harness) {
	var live []report.ID
	body := make([]byte, 20_000)
	for n := range 1000 {
		for i := range body {
			body[i] = byte('a' + rand.IntN(26)) // #nosec G404 -- a test
		}
		id := report.ID(fmt.Sprint(n))
		_, err := h.Append(t.Context(), report.Delivery{Changes: []report.Change{advisory(string(id), string(body))}})
		if errors.Is(err, report.ErrNoRoom) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		live = append(live, id)
	}
	if len(live)*len(body) < historyRoom/2 {
		t.Fatalf("%d documents fill the journal", len(live))
	}
	soon(t, "the journal is full", func() bool { return errors.Is(h.Ready(), report.ErrNoRoom) })
	for _, id := range live {
		h.append(t, remove(report.Advisories, string(id)))
	}
	soon(t, "the journal has room again", func() bool {
		_, err := h.Append(t.Context(), report.Delivery{Changes: []report.Change{advisory("new", "{}")}})
		return err == nil
	})
	if s := h.stats(t, report.Advisories); s.HistoryBytes >= historyRoom {
		t.Errorf("the history has %d bytes", s.HistoryBytes)
	}
}

// historyRoom is the limit of the journal of testHistoryRoom.
const historyRoom = 2 << 20

// TestHistoryCountsWhatItKeeps, also of a body that only seems to be the same as the one before: it has the
// same length and the same checksum.
func TestHistoryCountsWhatItKeeps(t *testing.T) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	first, second, seen := "", "", map[uint32]string{}
	for i := 0; second == ""; i++ {
		body := fmt.Sprintf(`{"a":"%012d%0200d"}`, i*7919, i*104729)
		sum := crc32.Checksum([]byte(body), castagnoli)
		if other, ok := seen[sum]; ok && other != body {
			first, second = other, body
		}
		seen[sum] = body
	}
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			h := newHarness(t, e.open, journal.Options{History: 24 * time.Hour, HistoryMaxBytes: 1 << 30})
			for _, body := range []string{first, second, second} {
				h.append(t, advisory("x", body))
				h.clock.move(time.Second)
			}
			if s, want := h.stats(t, report.Advisories), int64(3*historyEntryBytes+len(first)); s.HistoryBytes != want {
				t.Errorf("the history counts for %d bytes, want %d", s.HistoryBytes, want)
			}
			h.clock.move(48 * time.Hour)
			_, err := h.DropHistory(t.Context())
			require.NoError(t, err)
			if s := h.stats(t, report.Advisories); s.History != 0 || s.HistoryBytes != 0 {
				t.Errorf("without its %d entries, the history counts for %d bytes", s.History, s.HistoryBytes)
			}
		})
	}
}
