package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// TestRowsAreFoundAsTheyAre: one transaction changes documents that it has looked up in
// advance, one of them twice, and by a mark that finds none of them individually.
func TestRowsAreFoundAsTheyAre(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	opt := commit.WithDefaults(journal.Options{})
	j, err := open(t.Context(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		go j.run()
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	d := report.Delivery{}
	var keys []report.Key
	for _, id := range []string{"0", "1", "2", "3", "1", "4"} {
		d.Changes = append(d.Changes, journaltest.Put(id, "{}").Changes...)
		keys = append(keys, d.Changes[len(d.Changes)-1].Key)
	}
	carryOut := func(runs ...func(*commit.Transaction) error) {
		t.Helper()
		group := []*commit.Request{{Keys: keys}}
		for _, run := range runs {
			group = append(group, &commit.Request{Task: task(run)})
		}
		if _, _, err := j.commit(group, true); err != nil {
			t.Fatal(err)
		}
		checkTables(t, j)
	}
	var stamps []report.Stamp
	deliver := func(d report.Delivery) func(*commit.Transaction) error {
		return func(tx *commit.Transaction) (err error) {
			stamps, err = tx.Deliver(d, opt)
			return err
		}
	}
	carryOut(deliver(d), deliver(d))
	var settlements []report.Settlement
	for _, s := range stamps {
		settlements = append(settlements, report.Settlement{Key: s.Key, Version: s.Version, Outcome: report.Indexed})
	}
	settle := func(tx *commit.Transaction) error {
		return tx.Settle(settlements, make([]commit.Claim, len(settlements)))
	}
	carryOut(settle, settle)
	resend := func(tx *commit.Transaction) error {
		_, err := tx.Find(keys[0])
		if err == nil {
			err = (&commit.Resend{Kind: report.Advisories, Limit: 10}).Execute(tx)
		}
		return err
	}
	carryOut(resend, deliver(journaltest.Put("2", "{}")), settle)
	if n := totalsOf(t, j)[report.Advisories]; n.Resending != 0 || n.Pending != 1 || n.Indexed != 5 {
		t.Errorf("totals %+v", n)
	}

	// By their claims, documents are settled without being found, here each one twice,
	// and one of them although it was overtaken.
	carryOut(deliver(d))
	changes, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
	if err != nil || len(changes) != 5 {
		t.Fatalf("claimed %v, %v", changes, err)
	}
	settlements = nil
	for _, c := range append(changes, changes...) {
		settlements = append(settlements, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
	}
	held, others := j.claims.of(settlements)
	if len(others) != 0 {
		t.Fatalf("no claims of %v", others)
	}
	byClaim := func(tx *commit.Transaction) error { return tx.Settle(settlements, held) }
	carryOut(deliver(journaltest.Put("0", "{}")), byClaim, deliver(journaltest.Put("2", "{}")))
	if n := totalsOf(t, j)[report.Advisories]; n.Pending != 2 || n.Indexed != 9 {
		t.Errorf("totals %+v", n)
	}
}

func totalsOf(t *testing.T, j *Journal) map[report.Kind]commit.Totals {
	t.Helper()
	all, err := tables.ReadTotals(t.Context(), j.e.write.Conn)
	require.NoError(t, err)
	return all
}

// TestInsertedRowsAreFound: one transaction looks up in advance what it has not inserted yet.
func TestInsertedRowsAreFound(t *testing.T) {
	opt := commit.WithDefaults(journal.Options{})
	j, err := Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	city := func(id, code string) report.Change {
		return report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, OwnID: report.ID(id), Op: report.Index, Code: code, Body: []byte("{}")}
	}
	byCode := city("LON", "LON")
	byCode.OwnID = ""

	// The first one is known, so the statement that inserts is never full when the next
	// are looked up.
	_, err = j.Append(t.Context(), report.Delivery{Changes: []report.Change{city("0", "CZZ")}})
	require.NoError(t, err)
	d := report.Delivery{Changes: []report.Change{city("0", "CZZ"), byCode}}
	for i := range 3 * many {
		d.Changes = append(d.Changes, city(fmt.Sprint("n", i), journaltest.Code(i)))
	}
	d.Changes[many+many/2] = city("130", "LON") // adopts the one that is known by its code
	_, err = j.Append(t.Context(), d)
	require.NoError(t, err)
	stamps, err := j.Append(t.Context(), report.Delivery{Changes: []report.Change{
		{Key: report.Key{Kind: report.Cities, ID: "LON"}, Op: report.Delete},
	}})
	require.NoError(t, err)
	if stamps[0].ID != "130" {
		t.Errorf("stamped %+v, want the city adopted", stamps)
	}

	// Requests that join a group look up in advance again.
	superseded := func() uint64 {
		n, err := j.Stats(t.Context())
		require.NoError(t, err)
		return n.Kinds[report.Cities].Settled[report.Superseded]
	}
	before := superseded()
	require.NoError(t, j.queue.Do(t.Context(), &commit.Request{Task: task(func(tx *commit.Transaction) error {
		group := func(ids ...string) (d report.Delivery) {
			for _, id := range ids {
				d.Changes = append(d.Changes, city(id, "JJ"+strings.ToUpper(id)))
			}
			return d
		}
		for _, d := range []report.Delivery{group("a", "b", "c"), group("d", "b", "e")} {
			var keys []report.Key
			for _, c := range d.Changes {
				keys = append(keys, c.Key)
			}
			deliver := func(tx *commit.Transaction) error { _, err := tx.Deliver(d, opt); return err }
			if err := tx.Execute([]*commit.Request{{Keys: keys, Changes: d.Changes, Task: task(deliver)}}); err != nil {
				return err
			}
			if err := tx.Flush(); err != nil {
				return err
			}
		}
		return nil
	})}))
	if n := superseded() - before; n != 1 {
		t.Errorf("%d were superseded, want b alone", n)
	}
}
