package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/report"
)

// atLimit has a journal be past Options.MaxBytes.
func (u underTest) atLimit(t *testing.T) {
	t.Helper()
	switch j := u.Journal.(type) {
	case *SQLite:
		must(t, j.queue.do(t.Context(), &request{sync: true, run: func(*transaction) error { j.room.max, j.probeEvery = 1, time.Hour; return nil }}))
	case *Postgres:
		must(t, j.queue.do(t.Context(), &request{sync: true, run: func(*transaction) error { j.requests.opt.MaxBytes = 1; return nil }}))
		j.used.Store(1)
	}
	eventually(t, "there is no room", func() bool { return u.Ready() != nil })
}

// TestOnlyWhatMakesRoomIsTakenPastTheLimit: deletes of what is there, and such as leave
// nothing behind.
func TestOnlyWhatMakesRoomIsTakenPastTheLimit(t *testing.T) {
	bothEngines(t, Options{}, func(t *testing.T, j underTest) {
		deliver := func(d report.Delivery) error {
			_, err := j.Journal.Append(t.Context(), d)
			return err
		}
		must(t, deliver(put("deleted", "{}")))
		must(t, deliver(del("deleted")))
		must(t, deliver(put("live", "{}")))
		must(t, deliver(putCity("130", "LON", "{}")))
		must(t, deliver(report.Delivery{Refusals: []report.Refusal{{At: time.Now(), Kind: report.Advisories, Reason: "bad"}}}))
		refused, err := j.Refusals(t.Context(), 0, 1)
		must(t, err)
		j.atLimit(t)
		for name, d := range map[string]report.Delivery{"unknown": del("unknown"), "deleted before": del("deleted")} {
			if err := deliver(d); !errors.Is(err, ErrNoRoom) {
				t.Errorf("%s, while a refusal is kept: %v, want that there is no room", name, err)
			}
		}
		_, err = j.Journal.DropRefusals(t.Context(), []int64{refused[0].Seq})
		must(t, err)
		before, err := j.Stats(t.Context())
		must(t, err)
		city := del("LON")
		city.Changes[0].Kind = report.Cities
		signed := del("unknown")
		signed.Receipt = &report.Receipt{Sender: "s", ID: "1", Digest: []byte("d")}
		for name, d := range map[string]report.Delivery{
			"a put": put("live", "{}"), "unknown, with a receipt": signed,
			"a put, and a delete that leaves nothing": {Changes: append(del("unknown").Changes, put("new", "{}").Changes...)},
		} {
			if err := deliver(d); !errors.Is(err, ErrNoRoom) {
				t.Errorf("%s: %v, want that there is no room", name, err)
			}
		}
		must(t, deliver(del("unknown")))
		must(t, deliver(del("deleted")))
		if after, err := j.Stats(t.Context()); err != nil || fmt.Sprint(after.Kinds) != fmt.Sprint(before.Kinds) {
			t.Errorf("before %v, after %v, %v", before.Kinds, after.Kinds, err)
		}
		live := del("live")
		live.Receipt = &report.Receipt{Sender: "s", ID: "2", Digest: []byte("d")}
		must(t, deliver(live))
		if _, repeated := errors.AsType[*report.RepeatedError](deliver(live)); !repeated {
			t.Error("a repeat is not answered past the limit")
		}
		must(t, deliver(city))
		must(t, deliver(city))
	})
}

// TestFileGivesRoomBack drops tombstones while deliveries go on, and looks at the file.
func TestFileGivesRoomBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var passed atomic.Int64
	began := time.Now()
	j := openTest(t, path, Options{Now: func() time.Time { return began.Add(time.Duration(passed.Load())) }})
	const many = 5000
	var gone []report.Change
	for i := range many {
		gone = append(gone, del(fmt.Sprint(i, strings.Repeat("x", 400))).Changes...)
	}
	var all []report.Change
	for _, c := range gone {
		c.Op, c.Body = report.Index, []byte("{}")
		all = append(all, c)
	}
	mustAppend(t, j, report.Delivery{Changes: all})
	mustAppend(t, j, report.Delivery{Changes: gone})
	for n := 0; n < many; {
		changes, err := j.Claim(t.Context(), report.Advisories, many, 1<<30)
		must(t, err)
		var list []report.Settlement
		for _, c := range changes {
			list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Deleted})
		}
		must(t, j.Settle(t.Context(), list))
		n += len(changes)
	}
	mustAppend(t, j, put("live", strings.Repeat("x", 100<<10)))
	must(t, j.queue.do(t.Context(), &request{sync: true, run: func(*transaction) error { return nil }}))
	passed.Store(int64(DefaultKeepDeleted + time.Hour))
	if n, err := j.DropDeleted(t.Context()); n != many || err != nil {
		t.Fatal(n, err)
	}
	must(t, j.giveBack(t.Context()))
	must(t, j.queue.do(t.Context(), &request{sync: true, run: func(*transaction) error { return j.e.freePages(t) }}))
	closeTest(t, j)
	if info, err := os.Stat(path); err != nil || info.Size() > 2*vacuumPages*pageSize+1<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	j = openTest(t, path, Options{})
	c, err := j.Claim(context.Background(), report.Advisories, 10, 1<<20)
	if err != nil || len(c) != 1 || len(c[0].Body) != 100<<10 {
		t.Errorf("%d changes, %v", len(c), err)
	}
	checkTables(t, j)
	closeTest(t, j)

	// A copy can give room back as well.
	to := filepath.Join(t.TempDir(), "copy.db")
	_, err = Copy(t.Context(), path, to, nil)
	must(t, err)
	j = openTest(t, to, Options{})
	var mode int
	if err := j.e.write.QueryRowContext(t.Context(), "PRAGMA auto_vacuum").Scan(&mode); err != nil || mode != 2 {
		t.Errorf("auto_vacuum is %d in a copy, %v", mode, err)
	}
}

// freePages checks that what is free is no large part.
func (e *engine) freePages(t *testing.T) error {
	var pages, free int64
	err := e.write.QueryRowContext(context.Background(), "SELECT page_count, freelist_count FROM pragma_page_count, pragma_freelist_count").Scan(&pages, &free)
	if free >= 2*vacuumPages && free*vacuumFrom >= pages {
		t.Errorf("%d of %d pages are free", free, pages)
	}
	return err
}
