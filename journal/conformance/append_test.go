package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

var appendTests = []test{
	{"what is claimed is what was delivered", testAppendKeepsAll},
	{"any id and body is kept byte for byte", testAppendOddBytes},
	{"300 documents of 40 KB in one delivery", testAppendLarge},
	{"an invalid change fails all of its delivery and no other", testAppendInvalid},
	{"an overtaken pending change is superseded at once", testAppendSupersedes},
	{"two changes of a document in one delivery", testAppendTwice},
	{"a delete of an unknown document leaves nothing, and says so", testAppendDeleteUnknown},
	{"a delete of an unknown document is remembered while a refusal is kept", testAppendDeleteRemembered},
	{"a bounded number of deletes is remembered for a refusal", testAppendDeletesForgotten},
	{"a newer version clears a dead letter", testAppendOverDead},
	{"a document waits since its oldest pending change", testAppendWaiting},
	{"the time of waiting is known, whatever the clock did", testAppendWaitingClock},
	{"a change that is not from the publisher overtakes nothing", testAppendExactID},
	{"a change is made only to what it is for", testAppendIf},
	{"a delivery whose sender has hung up is not accepted", testAppendGone},
	{"versions grow when the clock jumps back", testVersionsClock},
	{"the last version survives a restart", testVersionsRestart},
}

func testAppendKeepsAll(t *testing.T, h *harness) {
	stamps := h.append(t, city("130", "LON", `{"id":130}`), city("131", "", "{}"), remove(report.Cities, "131"))
	stamps = slices.Delete(stamps, 1, 2)
	got := h.claim(t, report.Cities)
	if len(got) != 2 {
		t.Fatalf("%d changes, want 2", len(got))
	}
	for i, c := range got {
		if c.Key != stamps[i].Key || c.Version != stamps[i].Version || !c.AcceptedAt.Equal(h.start) {
			t.Errorf("claimed %+v, stamped %+v", c, stamps[i])
		}
	}
	if c := got[0]; c.Op != report.Index || c.Code != "LON" || string(c.Body) != `{"id":130}` {
		t.Errorf("the index came back as %+v", c)
	}
	if c := got[1]; c.Op != report.Delete || c.Body != nil {
		t.Errorf("the delete came back as %+v", c)
	}
	if stamps[0].Version < report.Version(h.start.UnixMicro()) {
		t.Errorf("version %d is behind the clock", stamps[0].Version)
	}
	h.claimNone(t, report.Advisories)
	h.expect(t, report.Cities, "index=2 delete=1 superseded=1 pending=2")
}

func testAppendOddBytes(t *testing.T, h *harness) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	want := map[report.ID][]byte{}
	for _, id := range []string{"a/b", "São Paulo\n", "nul\x00byte", "'; DROP TABLE documents", "%_", strings.Repeat("x", report.MaxIDBytes)} {
		c := advisory(id, id+string(all))
		want[c.ID] = c.Body
		h.append(t, c)
	}
	h.reopen(t)
	for _, c := range h.claim(t, report.Advisories) {
		if !bytes.Equal(c.Body, want[c.ID]) {
			t.Errorf("the body of %q came back different", c.ID)
		}
		delete(want, c.ID)
	}
	if len(want) != 0 {
		t.Errorf("%d documents are missing", len(want))
	}
}

func testAppendLarge(t *testing.T, h *harness) {
	var d []report.Change
	for i := range 300 {
		d = append(d, city(fmt.Sprint(i), "", strings.Repeat(fmt.Sprint(i%10), 40<<10)))
	}
	h.append(t, d...)
	h.reopen(t)
	got := h.claim(t, report.Cities)
	if len(got) != len(d) {
		t.Fatalf("%d documents, want %d", len(got), len(d))
	}
	for i, c := range got {
		if c.ID != d[i].ID || !bytes.Equal(c.Body, d[i].Body) {
			t.Fatalf("document %d came back different", i)
		}
	}
}

func testAppendInvalid(t *testing.T, h *harness) {
	good := advisory("1", "{}")
	for name, bad := range map[string]report.Change{
		"unknown kind":        index("countries", "1", "", "{}"),
		"empty id":            advisory("", "{}"),
		"id too long":         advisory(strings.Repeat("x", report.MaxIDBytes+1), "{}"),
		"no body":             advisory("1", ""),
		"a delete with body":  {Key: good.Key, Op: report.Delete, Body: []byte("{}")},
		"unknown operation":   {Key: good.Key, Op: "create", Body: []byte("{}")},
		"own id not UTF-8":    {Key: good.Key, Op: report.Index, Body: []byte("{}"), OwnID: "\xff"},
		"code that is no key": {Key: good.Key, Op: report.Index, Body: []byte("{}"), Code: "\xff"},
		"code in lower case":  {Key: good.Key, Op: report.Index, Body: []byte("{}"), Code: "lon"},
	} {
		if _, err := h.Append(context.Background(), report.Delivery{Changes: []report.Change{good, bad}}); err == nil {
			t.Errorf("%s: the delivery was accepted, want an error", name)
		}
	}
	h.expect(t, report.Advisories, "")
	h.append(t, good)
	h.expect(t, report.Advisories, "index=1 pending=1")
}

func testAppendSupersedes(t *testing.T, h *harness) {
	h.append(t, advisory("1", "old"))
	h.append(t, advisory("1", "newer"))
	h.expect(t, report.Advisories, "index=2 superseded=1 pending=1")
	inFlight := h.claimOne(t, report.Advisories)
	h.append(t, remove(report.Advisories, "1"))
	h.expect(t, report.Advisories, "index=2 delete=1 superseded=2 pending=1")
	h.settle(t, inFlight, report.Indexed)
	h.expect(t, report.Advisories, "index=2 delete=1 superseded=2 pending=1")
	if c := h.claimOne(t, report.Advisories); c.Op != report.Delete {
		t.Errorf("claimed %+v, want the delete", c)
	}
}

func testAppendTwice(t *testing.T, h *harness) {
	stamps := h.append(t, advisory("1", "first"), advisory("1", "second"))
	if stamps[0].Version >= stamps[1].Version {
		t.Errorf("versions %v do not grow", stamps)
	}
	h.expect(t, report.Advisories, "index=2 superseded=1 pending=1")
	if c := h.claimOne(t, report.Advisories); string(c.Body) != "second" || c.Version != stamps[1].Version {
		t.Errorf("claimed %+v, want the second", c)
	}
}

func testAppendDeleteUnknown(t *testing.T, h *harness) {
	unknown := func(id string) {
		t.Helper()
		if s := h.append(t, remove(report.Advisories, id))[0]; s.ID != report.ID(id) || s.Version != 0 || s.Effect != report.Unknown {
			t.Errorf("the delete was stamped %+v, want no effect", s)
		}
	}
	unknown("1")
	h.reopen(t)
	h.expect(t, report.Advisories, "")
	if got := h.entries(t, report.Advisories, "", 10); len(got) > 0 {
		t.Errorf("the journal has %+v, want nothing", got)
	}
	h.gone(t, report.Advisories, "1")
	unknown("1")
	h.expect(t, report.Advisories, "index=1 delete=1 superseded=1 pending=1")
	h.settle(t, h.claimOne(t, report.Advisories), report.Dead) // the index may still have it
	if s := h.append(t, remove(report.Advisories, "1"))[0]; s.Version == 0 || s.Effect != report.Changed {
		t.Errorf("a delete after one that was refused by the index is stamped %+v", s)
	}
	h.settle(t, h.claimOne(t, report.Advisories), report.Deleted)
	unknown("1")
	h.resend(t, report.Advisories, 1)
	unknown("1")
	h.expect(t, report.Advisories, "index=1 delete=2 deleted=1 superseded=1 dead=1 resending=1")
}

func testAppendDeleteRemembered(t *testing.T, h *harness) {
	seq := h.refuse(t, refusal(report.Cities, "", "bad"), refusal(report.Advisories, "other", "kept"))
	s := h.append(t, remove(report.Advisories, "1"))[0]
	if s.Version == 0 || s.Effect != report.Unknown {
		t.Errorf("while refusals are kept, a delete of an unknown document is stamped %+v", s)
	}
	h.expect(t, report.Advisories, "delete=1 pending=1")
	if s := h.retry(t, seq, advisory("1", "older"))[0]; s.Version != 0 {
		t.Errorf("a retry of an older refusal was stamped %+v, want it left out", s)
	}
	if n, err := h.DropRefusals(context.Background(), []int64{h.refusals(t)[0].Seq}); n != 1 || err != nil {
		t.Errorf("dropped %d refusals, %v", n, err)
	}
	if s := h.append(t, remove(report.Advisories, "2"))[0]; s.Version != 0 {
		t.Errorf("once none is kept, a delete of an unknown document is stamped %+v", s)
	}
	// Refused in the same delivery, and before.
	d := report.Delivery{Changes: []report.Change{remove(report.Advisories, "3"), remove(report.Advisories, "4")}}
	d.Refusals = []report.Refusal{refusal(report.Advisories, "", "between")}
	d.Refusals[0].Position = 1
	stamps, err := h.Append(context.Background(), d)
	if err != nil || stamps[0].Version != 0 || stamps[1].Version == 0 {
		t.Errorf("the deletes were stamped %+v, %v; want only the second one remembered", stamps, err)
	}
}

// testAppendDeletesForgotten: while a refusal is kept, the journal remembers a bounded
// number of deletes. Beyond that, the refusal can no longer be retried.
func testAppendDeletesForgotten(t *testing.T, h *harness) {
	const beyond = 7
	first := h.refuse(t, refusal(report.Advisories, "", "first"))
	h.refuse(t, refusal(report.Advisories, "last", "of what is deleted"))
	n := 0
	next := func(many int) (stamps []report.Stamp) {
		t.Helper()
		var deletes []report.Change
		for range many {
			n++
			deletes = append(deletes, remove(report.Advisories, fmt.Sprint(n)))
		}
		stamps = h.append(t, deletes...)
		for _, s := range stamps {
			if s.Effect != report.Unknown {
				t.Errorf("stamped %+v", s)
			}
		}
		return stamps
	}
	for n < journal.MaxRemembered { // in parts: a delivery of all takes a slow machine longer than an engine waits
		for _, s := range next(journal.MaxRemembered / 10) {
			if s.Version == 0 {
				t.Fatalf("the delete of %q is not remembered", s.ID)
			}
		}
	}
	h.kept(t, "of what is deleted", "first")
	h.reopen(t)
	for _, s := range next(beyond) {
		if s.Version != 0 {
			t.Errorf("the delete of %q is remembered, want it dropped", s.ID)
		}
	}
	h.append(t, remove(report.Advisories, "last"))
	h.kept(t, "first")
	retry := func(seq int64) error {
		_, err := h.Append(t.Context(), report.Delivery{RetryOf: seq, Changes: []report.Change{advisory(fmt.Sprint(n), "back?")}})
		return err
	}
	if err := retry(first); !errors.Is(err, report.ErrPlaceForgotten) {
		t.Errorf("a retry returned %v, want ErrPlaceForgotten", err)
	}
	h.reopen(t)
	if err := retry(first); !errors.Is(err, report.ErrPlaceForgotten) {
		t.Errorf("a later retry returned %v, want ErrPlaceForgotten", err)
	}
	h.kept(t, "first")
	h.expect(t, report.Advisories, fmt.Sprintf("delete=%d pending=%d", journal.MaxRemembered, journal.MaxRemembered))

	// A later refusal keeps its place.
	second := h.refuse(t, refusal(report.Advisories, "", "second"))
	if err := retry(second); err != nil {
		t.Errorf("a retry of a later refusal: %v", err)
	}
	h.kept(t, "first")
	if s := h.append(t, remove(report.Advisories, fmt.Sprint(n)), remove(report.Cities, "LON")); s[0].Effect != report.Changed || s[1].Version == 0 {
		t.Errorf("deletes of an existing document, and of another kind, are stamped %+v", s)
	}
}

func testAppendOverDead(t *testing.T, h *harness) {
	h.append(t, advisory("1", "bad"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Dead)
	h.expect(t, report.Advisories, "index=1 dead=1 letters=1")
	h.append(t, advisory("1", "good"))
	h.expect(t, report.Advisories, "index=2 dead=1 pending=1")
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.expect(t, report.Advisories, "index=2 indexed=1 dead=1")
}

func testAppendWaiting(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	h.clock.move(time.Minute)
	h.append(t, advisory("1", "b"))
	if got := h.stats(t, report.Advisories).OldestWaiting; !got.Equal(h.start) {
		t.Errorf("it waits since %v, want %v: the index has lacked it since then", got, h.start)
	}
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.clock.move(time.Minute)
	h.append(t, advisory("1", "c"))
	if got, want := h.stats(t, report.Advisories).OldestWaiting, h.start.Add(2*time.Minute); !got.Equal(want) {
		t.Errorf("it waits since %v, want %v", got, want)
	}
}

func testAppendWaitingClock(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	h.clock.move(time.Hour)
	h.append(t, advisory("2", "a"))
	h.clock.move(-2 * time.Hour)
	h.append(t, advisory("3", "a"))
	s := h.stats(t, report.Advisories)
	if from, to := h.start.Add(-time.Hour), h.start.Add(time.Hour); !s.OldestWaiting.Equal(from) || !s.NewestWaiting.Equal(to) {
		t.Errorf("they wait since %v to %v, want %v to %v", s.OldestWaiting, s.NewestWaiting, from, to)
	}
	h.settle(t, h.claimOneOf(t, report.Advisories, "2"), report.Indexed)
	if s := h.stats(t, report.Advisories); !s.NewestWaiting.Equal(h.start) {
		t.Errorf("the newest that is left waits since %v, want %v", s.NewestWaiting, h.start)
	}
}

func testAppendExactID(t *testing.T, h *harness) {
	exact := func(id string) report.Change {
		c := remove(report.Cities, id)
		c.ExactID = true
		return c
	}
	h.append(t, city("1", "LON", "{}"))
	seq := h.refuse(t, refusal(report.Cities, "PAR", "bad"))
	stamps := h.append(t, exact("1"), exact("LON"), exact("PAR"))
	if stamps[0].Version != 0 || stamps[1].Version == 0 || stamps[1].ID != "LON" || stamps[2].Version == 0 {
		t.Errorf("stamped %+v, want the first left out and the others as they are", stamps)
	}
	h.expect(t, report.Cities, "index=1 delete=2 pending=3")
	h.kept(t, "bad")
	if s := h.retry(t, seq, city("PAR", "", "{}"))[0]; s.ID != "PAR" || s.Version == 0 {
		t.Errorf("a delivery that had been refused before was stamped %+v", s)
	}
	if s := h.append(t, city("LON", "", "{}"))[0]; s.ID != "1" {
		t.Errorf("LON is for %q, want 1", s.ID)
	}
}

// only is the condition that a document has this version.
func only(v report.Version) func(report.Version, time.Time) bool {
	return func(newest report.Version, _ time.Time) bool { return newest == v }
}

func testAppendIf(t *testing.T, h *harness) {
	delete := func(id string, v report.Version) report.Change {
		c := remove(report.Cities, id)
		c.If = only(v)
		return c
	}
	put := func(id, code string, v report.Version) report.Change {
		c := city(id, code, "{}")
		c.If = only(v)
		return c
	}
	first := h.append(t, city("1", "LON", "{}"))[0].Version
	newer := h.append(t, city("1", "LON", `{"newer":true}`))[0].Version
	h.append(t, city("PAR", "PAR", "{}"), city("9", "", "{}"), remove(report.Cities, "9"))
	adopts := put("PAR", "PAR", 0)
	adopts.OwnID = "2"
	for _, c := range []struct {
		change report.Change
		want   report.Effect
	}{
		{delete("1", first), report.Outdated},
		{delete("1", newer+1), report.Outdated},
		{delete("1", 0), report.Outdated},
		{delete("LON", first), report.Outdated}, // a code
		{delete("2", newer), report.Unknown},
		{delete("9", newer), report.Unknown},
		{put("1", "LON", first), report.Outdated},
		{put("1", "LON", 0), report.Outdated},
		{put("2", "", newer), report.Outdated},
		{put("9", "", newer), report.Outdated},
		{adopts, report.Outdated}, // the path is that of a city that is there
	} {
		if s := h.append(t, c.change)[0]; s.Effect != c.want || s.Version != 0 {
			t.Errorf("%s of %q is stamped %+v, want effect %v", c.change.Op, c.change.ID, s, c.want)
		}
	}
	h.expect(t, report.Cities, "index=4 delete=1 superseded=2 pending=3")
	h.refuse(t, refusal(report.Cities, "3", "bad")) // while which a delete of what is not there is remembered
	stamps := h.append(t, delete("1", newer), delete("1", newer), delete("3", newer), put("4", "", 0), put("9", "", 0))
	if stamps[0].Effect != report.Changed || stamps[0].Version == 0 || stamps[1].Effect != report.Unknown || stamps[1].Version != 0 ||
		stamps[2].Version != 0 || stamps[3].Version == 0 || stamps[4].Version == 0 {
		t.Errorf("stamped %+v", stamps)
	}
	h.expect(t, report.Cities, "index=6 delete=2 superseded=4 pending=4")
	h.kept(t, "bad")
	at := h.clock.now()
	h.append(t, city("5", "", "{}"))
	c := city("5", "", "{}")
	c.If = func(_ report.Version, accepted time.Time) bool { return accepted.Equal(at) }
	if s := h.append(t, c)[0]; s.Version == 0 {
		t.Errorf("with the time of its acceptance it is stamped %+v", s)
	}
}

// testAppendGone: a sender hangs up before the delivery is executed, in a group with one
// who stays.
func testAppendGone(t *testing.T, h *harness) {
	h.append(t, advisory("1", "newer"))
	left := report.Delivery{Changes: []report.Change{advisory("1", "older")}, Gone: func() bool { return true }}
	stays := report.Delivery{Changes: []report.Change{advisory("2", "{}")}, Gone: func() bool { return false }}
	var both sync.WaitGroup
	for range 10 {
		both.Go(func() {
			if _, err := h.Append(context.Background(), left); !errors.Is(err, report.ErrGone) {
				t.Errorf("Append for a sender who has hung up: %v", err)
			}
		})
		both.Go(func() {
			if _, err := h.Append(context.Background(), stays); err != nil {
				t.Errorf("Append for a sender who waits: %v", err)
			}
		})
	}
	both.Wait()
	if c := h.claimOneOf(t, report.Advisories, "1"); string(c.Body) != "newer" {
		t.Errorf("the journal has %q, want only the delivery of the one who stayed", c.Body)
	}
	h.expect(t, report.Advisories, "index=11 superseded=9 pending=2")
}

func testVersionsClock(t *testing.T, h *harness) {
	first := h.append(t, advisory("1", "a"))[0]
	h.clock.move(-24 * time.Hour)
	second := h.append(t, advisory("2", "b"), advisory("1", "c"))
	if second[0].Version <= first.Version || second[1].Version <= second[0].Version {
		t.Errorf("version %d, and after the clock went back %v; want them to grow", first.Version, second)
	}
}

func testVersionsRestart(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	last := h.append(t, advisory("1", "b"), advisory("2", "c"))[1]
	h.clock.move(-24 * time.Hour)
	h.reopen(t)
	if next := h.append(t, advisory("2", "d"))[0]; next.Version <= last.Version {
		t.Errorf("version %d after %d", next.Version, last.Version)
	}
}
