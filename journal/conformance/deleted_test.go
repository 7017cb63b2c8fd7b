package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

var deletedTests = []test{
	{"a delete that was settled long ago is forgotten, and no other", testForgetDeleted},
	{"a delete is kept for the configured time after it was settled", testKeepDeleted},
	{"many deletes are forgotten in steps", testForgetManyDeleted},
	{"what was refused before a delete that is forgotten is not retried", testForgottenIsNotRetried},
	{"a forgotten document may come again, with a newer version", testForgottenComesAgain},
}

// dropDeleted expects so many tombstones to be dropped, and so many to remain.
func (h *harness) dropDeleted(t tester, kind report.Kind, dropped, left int) {
	t.Helper()
	before := h.stats(t, kind)
	n, err := h.DropDeleted(context.Background())
	if err != nil || n != dropped {
		t.Fatalf("DropDeleted = %d, %v, want %d", n, err, dropped)
	}
	after := h.stats(t, kind)
	if after.Tombstones != left || after.Dropped != before.Dropped+uint64(dropped) {
		t.Errorf("%d tombstones left, want %d; %d dropped in all after %d", after.Tombstones, left, after.Dropped, before.Dropped)
	}
	if describe(before) != describe(after) {
		t.Errorf("the totals were %s, and are %s", describe(before), describe(after))
	}
}

const longAfter = journal.DefaultKeepDeleted + time.Hour

func testForgetDeleted(t *testing.T, h *harness) {
	for _, id := range []string{"settled", "waits", "dead", "claimed", "resent", "live", "again", "dropped"} {
		h.append(t, advisory(id, "x"))
	}
	for _, id := range []string{"settled", "dead", "claimed", "resent", "again", "dropped"} {
		h.append(t, remove(report.Advisories, id))
	}
	for _, c := range h.claim(t, report.Advisories) {
		switch c.ID {
		case "dead", "dropped":
			h.settle(t, c, report.Dead)
			if c.ID == "dropped" {
				if n, err := h.DropDead(context.Background(), []report.Stamp{{Key: c.Key, Version: c.Version}}); n != 1 || err != nil {
					t.Fatal(n, err)
				}
			}
		case "waits", "claimed":
			h.settle(t, c, report.Retry)
		case "live":
			h.settle(t, c, report.Indexed)
		default:
			h.settle(t, c, report.Deleted)
		}
	}
	h.append(t, advisory("again", "x"), remove(report.Advisories, "waits"))
	h.clock.move(longAfter)
	h.resend(t, report.Advisories, 3) // settled, resent, live
	for _, c := range h.claim(t, report.Advisories) {
		if c.ID == "settled" || c.ID == "live" {
			h.settle(t, c, report.Superseded)
		}
	}
	h.clock.move(longAfter)
	h.dropDeleted(t, report.Advisories, 1, 5)
	if e, err := h.Entries(context.Background(), report.Advisories, "", 100); err != nil || len(e) != 7 {
		t.Errorf("%d documents remain: %+v, %v", len(e), e, err)
	}
	if e, err := h.Lookup(context.Background(), report.Advisories, []report.ID{"settled"}); err != nil || len(e) != 0 {
		t.Errorf("the forgotten document is found: %+v, %v", e, err)
	}
	h.reopen(t)
	h.dropDeleted(t, report.Advisories, 0, 5)
	for _, c := range h.claim(t, report.Advisories) {
		h.settle(t, c, report.Superseded)
	}
	h.clock.move(longAfter)
	h.dropDeleted(t, report.Advisories, 3, 2)
}

func testKeepDeleted(t *testing.T, h *harness) {
	h.append(t, city("1", "ABC", "x"))
	h.append(t, remove(report.Cities, "1"))
	h.clock.move(longAfter) // Elasticsearch was away
	h.dropDeleted(t, report.Cities, 0, 1)
	h.settle(t, h.claimOne(t, report.Cities), report.Deleted)
	h.clock.move(journal.DefaultKeepDeleted - time.Second)
	h.dropDeleted(t, report.Cities, 0, 1)
	h.clock.move(2 * time.Second)
	h.dropDeleted(t, report.Cities, 1, 0)
}

func testForgetManyDeleted(t *testing.T, h *harness) {
	const many = 700
	var all, gone []report.Change
	for i := range many {
		id := fmt.Sprint(i)
		all, gone = append(all, advisory(id, "x")), append(gone, remove(report.Advisories, id))
	}
	h.append(t, all...)
	h.append(t, gone...) // all at the same moment
	deleted := h.claim(t, report.Advisories)
	h.settleAll(t, deleted[:many-1], report.Deleted)
	h.clock.move(longAfter)
	h.settleAll(t, deleted[many-1:], report.Deleted)
	h.dropDeleted(t, report.Advisories, many-1, 1)
}

func testForgottenIsNotRetried(t *testing.T, h *harness) {
	h.append(t, city("1", "ABC", "x"))
	before := h.refuse(t, refusal(report.Cities, "", "before"))
	h.append(t, remove(report.Cities, "1"))
	after := h.refuse(t, refusal(report.Cities, "", "after"))
	h.settle(t, h.claimOne(t, report.Cities), report.Deleted)
	h.clock.move(longAfter)
	h.dropDeleted(t, report.Cities, 1, 0)
	retry := func(seq int64) error {
		_, err := h.Append(t.Context(), report.Delivery{RetryOf: seq, Changes: []report.Change{city("1", "ABC", "old")}})
		return err
	}
	if err := retry(before); !errors.Is(err, report.ErrPlaceForgotten) {
		t.Errorf("the retry of what was refused before the delete returned %v, want ErrPlaceForgotten", err)
	}
	h.kept(t, "after", "before")
	if err := retry(after); err != nil {
		t.Errorf("the retry of what was refused after the delete: %v", err)
	}
}

func testForgottenComesAgain(t *testing.T, h *harness) {
	h.append(t, city("1", "ABC", "x"))
	deleted := h.append(t, remove(report.Cities, "1"))[0]
	h.settle(t, h.claimOne(t, report.Cities), report.Deleted)
	h.clock.move(longAfter)
	h.dropDeleted(t, report.Cities, 1, 0)
	again := h.append(t, city("1", "ABC", "y"))[0]
	if again.ID != "1" || again.Version <= deleted.Version {
		t.Errorf("the forgotten document was delivered again as %+v, and before as %+v; want a newer version", again, deleted)
	}
	h.settle(t, h.claimOne(t, report.Cities), report.Indexed)
	h.expect(t, report.Cities, "index=2 delete=1 indexed=1 deleted=1 superseded=1")
}
