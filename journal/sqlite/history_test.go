package sqlite

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TestHistoryIsCompressed later: nothing that can be read of it changes, and it counts for
// less.
func TestHistoryIsCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{History: 24 * time.Hour})
	key := report.Key{Kind: report.Advisories, ID: "1"}
	const many = 2*deflateStep + 10
	body := func(n int) string { return fmt.Sprint(n, strings.Repeat(" the same", 100)) }
	for n := range many {
		mustAppend(t, j, report.Delivery{Changes: []report.Change{{Key: key, Op: report.Index, Body: []byte(body(n))}}})
	}
	bytes := func() int64 {
		t.Helper()
		s, err := j.Stats(t.Context())
		require.NoError(t, err)
		return s.Kinds[key.Kind].HistoryBytes
	}
	before := bytes()
	check := func() {
		t.Helper()
		list, err := j.History(t.Context(), key, math.MaxInt64, many)
		if err != nil || len(list) != many {
			t.Fatalf("%d versions, %v", len(list), err)
		}
		for n, p := range list {
			whole, err := j.PastVersion(t.Context(), key, p.Version)
			if want := body(many - 1 - n); err != nil || string(whole.Body) != want || whole.Bytes != len(want) {
				t.Fatalf("version %d is %.40s, %s, %v", n, whole.Body, whole.Lost, err)
			}
		}
	}
	check()
	require.NoError(t, j.deflateHistory(t.Context()))
	if after := bytes(); after > before/2 {
		t.Errorf("it counts for %d bytes, and for %d before", after, before)
	}
	check()
	after := bytes()
	require.NoError(t, j.deflateHistory(t.Context()))
	require.NoError(t, j.Close())
	j = openTest(t, path, journal.Options{History: 24 * time.Hour})
	require.NoError(t, j.deflateHistory(t.Context()))
	if bytes() != after {
		t.Errorf("compressing it once more changed %d bytes to %d", after, bytes())
	}
	check()
	sumUp(t, j, key.Kind)
}

// sumUp compares the totals of the history with its rows.
func sumUp(t *testing.T, j *Journal, kind report.Kind) {
	t.Helper()
	s, err := j.Stats(t.Context())
	require.NoError(t, err)
	var rows int
	var bytes int64
	require.NoError(t, j.read(func(e *engine) error {
		return e.readers.QueryRowContext(t.Context(), `SELECT count(*), coalesce(sum(200 + coalesce(length(old_body), 0)), 0) FROM history WHERE kind = ?`, string(kind)).Scan(&rows, &bytes)
	}))
	if k := s.Kinds[kind]; rows != k.History || bytes != k.HistoryBytes {
		t.Errorf("the totals say %d entries of %d bytes, and there are %d of %d", k.History, k.HistoryBytes, rows, bytes)
	}
}

// TestHistoryIsInBackups: a backup of a journal in use has the same history.
func TestHistoryIsInBackups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{History: 24 * time.Hour})
	key := report.Key{Kind: report.Advisories, ID: "1"}
	for _, body := range []string{"one", "two", "two"} {
		mustAppend(t, j, report.Delivery{Changes: []report.Change{{Key: key, Op: report.Index, Body: []byte(body)}}, Source: report.Source{Sender: "publisher"}})
	}
	want, err := j.History(t.Context(), key, math.MaxInt64, 10)
	require.NoError(t, err)
	j = openTest(t, backUp(t, path, 1), journal.Options{})
	got, err := j.History(t.Context(), key, math.MaxInt64, 10)
	if err != nil || !reflect.DeepEqual(got, want) || len(got) != 3 {
		t.Errorf("the history of the backup is %+v, %v, want %+v", got, err, want)
	}
	p, err := j.PastVersion(t.Context(), key, got[2].Version)
	if err != nil || string(p.Body) != "one" || p.Sender != "publisher" {
		t.Errorf("its first version is %+v, %v", p, err)
	}
}

// TestDamagedHistory: a version that cannot be trusted is not given out, and the others are.
func TestDamagedHistory(t *testing.T) {
	for name, damage := range map[string]string{
		"body":    `UPDATE history SET old_body = CAST('two' AS BLOB)`,
		"length":  `UPDATE history SET old_body = NULL`,
		"form":    `UPDATE history SET old_form = 3`,
		"version": `UPDATE history SET old_version = old_version - 1`,
		"code":    `UPDATE history SET old_code = 'LON'`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			j := openTest(t, path, journal.Options{History: 24 * time.Hour})
			key := report.Key{Kind: report.Advisories, ID: "1"}
			for _, body := range []string{"one", "two", "three"} {
				mustAppend(t, j, report.Delivery{Changes: []report.Change{{Key: key, Op: report.Index, Body: []byte(body)}}})
			}
			list, err := j.History(t.Context(), key, math.MaxInt64, 10)
			require.NoError(t, err)
			require.NoError(t, j.Close())
			execRaw(t, path, damage+fmt.Sprint(" WHERE version = ", list[1].Version))
			j = openTest(t, path, journal.Options{History: 24 * time.Hour})
			for i, want := range []string{"three", "two", ""} {
				p, err := j.PastVersion(t.Context(), key, list[i].Version)
				if err != nil || string(p.Body) != want || (p.Lost != "") != (want == "") {
					t.Errorf("version %d is %q, %q, %v, want %q", i, p.Body, p.Lost, err, want)
				}
			}
		})
	}
}

// TestDamagedDocumentIsReplaced while history is on, as it is while it is off.
func TestDamagedDocumentIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{History: 24 * time.Hour})
	key := report.Key{Kind: report.Advisories, ID: "1"}
	deliver := func(body string) {
		t.Helper()
		mustAppend(t, j, report.Delivery{Changes: []report.Change{{Key: key, Op: report.Index, Body: []byte(body)}}})
	}
	deliver("one")
	require.NoError(t, j.Close())
	// As a page that has other bytes: STRICT is checked when a row is written only.
	execRaw(t, path, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'documents'; PRAGMA writable_schema = RESET;
		UPDATE documents SET body = 'a text', crc = 'another';
		PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'documents'`)
	j = openTest(t, path, journal.Options{History: 24 * time.Hour})
	deliver("two")
	deliver("three")
	list, err := j.History(t.Context(), key, math.MaxInt64, 10)
	if err != nil || len(list) != 3 || list[2].State != "" || list[1].Gap {
		t.Errorf("its history is %+v, %v", list, err)
	}
	sumUp(t, j, key.Kind)
}

// TestHistoryOfAGroup: what became of a version before it was replaced is kept, in one group with that, too.
func TestHistoryOfAGroup(t *testing.T) {
	for outcome, state := range map[report.Outcome]string{report.Indexed: "settled", report.Dead: "dead"} {
		for _, others := range [][]string{nil, {"p", "q"}} { // which are looked up together with it
			j, err := open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), commit.WithDefaults(journal.Options{History: 24 * time.Hour, HistoryMaxBytes: 1 << 30}))
			require.NoError(t, err)
			request := func(keys []report.Key, run func(*commit.Transaction) error) *commit.Request {
				return &commit.Request{Ctx: t.Context(), Keys: keys, Sync: true, Done: make(chan error, 1), Task: task(run)}
			}
			put := func(id, body string) *commit.Request {
				d := journaltest.Put(id, body)
				return request([]report.Key{d.Changes[0].Key}, func(tx *commit.Transaction) error { _, err := tx.Deliver(d, j.opt); return err })
			}
			serve := func(group ...*commit.Request) {
				j.serve(group)
				for _, r := range group {
					require.NoError(t, <-r.Done)
				}
			}
			serve(put("x", `{"a":1}`))
			got, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
			require.NoError(t, err)
			settlements := []report.Settlement{{Key: got[0].Key, Version: got[0].Version, Outcome: outcome}}
			claims, keys := j.claims.of(settlements)
			group := []*commit.Request{request(keys, func(tx *commit.Transaction) error { return tx.Settle(settlements, claims) }), put("x", `{"a":2}`)}
			for _, id := range others {
				group = append(group, put(id, "{}"))
			}
			serve(group...)
			go j.run()
			past, err := j.History(t.Context(), got[0].Key, 1<<62, 10)
			require.NoError(t, err)
			if len(past) != 2 || string(past[1].State) != state || past[1].SearchableAt.IsZero() != (outcome == report.Dead) {
				t.Errorf("%v with %v beside it: %+v", outcome, others, past)
			}
			require.NoError(t, j.Close())
		}
	}
}

// TestEndedTransactionIsNoticed: after some errors of reading, SQLite has ended the transaction, and what
// followed is in the table.
func TestEndedTransactionIsNoticed(t *testing.T) {
	j, err := open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), commit.WithDefaults(journal.Options{}))
	require.NoError(t, err)
	for _, sql := range []string{begin, "ROLLBACK"} {
		_, err := j.e.write.exec(sql)
		require.NoError(t, err)
	}
	if err := j.rollback(report.ErrNotFound); classify(err) != commit.FaultEngine {
		t.Errorf("a request that failed in it is told as %v", err)
	}
	go j.run()
	require.NoError(t, j.Close())
}
