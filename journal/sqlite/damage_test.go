package sqlite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/report"
)

// TestDamage changes one stored field of one document, as a failing disk would: that
// document is never given out, and the others are.
func TestDamage(t *testing.T) {
	for _, damage := range []string{
		"body = CAST(replace(body, 'yy', 'yz') AS BLOB)",
		"body = NULL",
		"version = version + 1",
		"op = 'delete'",
		"code = 'PAR'",
		"accepted_at = accepted_at + 1",
		"crc = crc + 1",
	} {
		t.Run(damage, func(t *testing.T) {
			j := openTest(t, damaged(t, damage), journal.Options{})
			want := []string{"0", "2"}
			var got []string
			for _, c := range claimAll(t, j) {
				got = append(got, string(c.ID))
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("given out: %v, want %v", got, want)
			}
			s, err := j.Stats(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if k := s.Kinds[report.Cities]; k.DeadLetters != 1 || k.Settled[report.Dead] != 1 || k.Pending != 2 {
				t.Errorf("totals %+v, want 1 dead letter and 2 pending", k)
			}
			checkTables(t, j)
			var errorType, reason string
			if err := j.e.readers.QueryRow(`SELECT error_type, reason FROM documents WHERE state = 4`).Scan(&errorType, &reason); err != nil {
				t.Fatal(err)
			}
			if errorType != report.ErrorTypeDamaged || !strings.Contains(reason, `cities "1"`) {
				t.Errorf("the dead letter says %q, %q", errorType, reason)
			}
			redelivered(t, j)
			checkTables(t, j)
		})
	}
}

// TestSumsThatMakeNoSense opens a journal whose totals were changed on disk.
func TestSumsThatMakeNoSense(t *testing.T) {
	path := damaged(t, "code = 'PAR'")
	execRaw(t, path, "DELETE FROM meta WHERE name = 'last_version'")
	mustNotOpen(t, path)
}

// TestTableThatLacksAColumn opens a journal in which a bit changed the name of a column.
func TestTableThatLacksAColumn(t *testing.T) {
	path := damaged(t, "code = 'PAR'")
	execRaw(t, path, "ALTER TABLE history RENAME COLUMN old_ended TO old_dnded")
	mustNotOpen(t, path)
}

// mustNotOpen opens a damaged journal, and expects an error that says which it is and what to do.
func mustNotOpen(t *testing.T, path string) {
	t.Helper()
	j, err := Open(t.Context(), path, journal.Options{})
	if err == nil {
		t.Fatal("Open succeeded, want an error", j.Close())
	}
	if !strings.Contains(err.Error(), "restore a backup") || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v", err)
	}
}

// TestDamageInResend does the same when a settled document is given out again.
func TestDamageInResend(t *testing.T) {
	path := damaged(t, "state = 5, body = x'00'")
	execRaw(t, path, `UPDATE totals SET pending = 2, resending = 1, indexed = 1 WHERE kind = 'cities'`)
	j := openTest(t, path, journal.Options{})
	if got := claimAll(t, j); len(got) != 2 {
		t.Errorf("%d given out, want 2", len(got))
	}
	s, err := j.Stats(t.Context())
	if k := s.Kinds[report.Cities]; err != nil || k.DeadLetters != 1 || k.Settled[report.Dead] != 0 || k.Resending != 0 {
		t.Errorf("stats: %+v, %v", k, err)
	}
	checkTables(t, j)
}

// TestDamageBeyondState damages the field that says that the document is pending: it
// cannot be made a dead letter, but it is not given out either, and does not delay the
// others.
func TestDamageBeyondState(t *testing.T) {
	path := damaged(t, "state = 3")
	// The same name and rows, but an index that disagrees with the record.
	execRaw(t, path, `DROP INDEX documents_unsettled`)
	execRaw(t, path, `CREATE INDEX documents_unsettled ON documents (kind, 2, waiting_since, version, id) WHERE state <> 9`)
	execRaw(t, path, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql =
		'CREATE INDEX documents_unsettled ON documents (kind, state, waiting_since, version, id) WHERE state <> 3'
		WHERE name = 'documents_unsettled'`)
	j := openTest(t, path, journal.Options{})
	claimTheOthers(t, j)
	redelivered(t, j)
}

// claimTheOthers checks that Claim gives out two cities, and not the damaged one, whose id is 1.
func claimTheOthers(t *testing.T, j *Journal) {
	t.Helper()
	for range 2 {
		changes, err := j.Claim(t.Context(), report.Cities, 1, 1<<20)
		if err != nil || len(changes) != 1 || changes[0].ID == "1" {
			t.Fatalf("Claim gave out %v (error %v), want one city that is not damaged", changes, err)
		}
	}
	if got := claimAll(t, j); len(got) != 0 {
		t.Errorf("then Claim gave out %v, want nothing more", got)
	}
}

// damaged returns the path of a closed journal with three cities, of which the one with
// id 1 was changed on disk.
func damaged(t *testing.T, damage string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	for i := range 3 {
		mustAppend(t, j, report.Delivery{Changes: []report.Change{{
			Key: report.Key{Kind: report.Cities, ID: report.ID(fmt.Sprint(i))}, Op: report.Index, Code: "LON",
			Body: []byte(strings.Repeat("y", 10000)),
		}}})
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	execRaw(t, path, "UPDATE documents SET "+damage+" WHERE id = '1'")
	return path
}

func claimAll(t *testing.T, j *Journal) []report.Change {
	t.Helper()
	var all []report.Change
	for {
		changes, err := j.Claim(t.Context(), report.Cities, 100, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(changes) == 0 {
			return all
		}
		all = append(all, changes...)
	}
}

// redelivered checks that a new delivery replaces the damaged record.
func redelivered(t *testing.T, j *Journal) {
	t.Helper()
	d := journaltest.Put("1", "good")
	d.Changes[0].Kind = report.Cities
	mustAppend(t, j, d)
	if got := claimAll(t, j); len(got) != 1 || string(got[0].Body) != "good" {
		t.Errorf("after a new delivery given out: %v, want only that", got)
	}
}

// TestDamagedPages breaks the chain of pages of one body, which SQLite itself notices:
// that document is skipped, and the others are given out.
func TestDamagedPages(t *testing.T) {
	path := damaged(t, "body = CAST(replace(body, 'y', 'z') AS BLOB)")
	journaltest.BreakPages(t, path)
	j := openTest(t, path, journal.Options{})
	claimTheOthers(t, j)
	if err := j.Ready(); err != nil {
		t.Errorf("Ready: %v", err)
	}
	redelivered(t, j)
	checkTables(t, j)
}

// TestDamageAmongMany does the same among more documents than one statement reads, within
// a budget for ten of them.
func TestDamageAmongMany(t *testing.T) {
	for _, damage := range []string{
		"body = CAST(replace(body, 'y', 'x') AS BLOB)",
		"body = CAST(replace(body, 'y', 'z') AS BLOB)", // and the chain of its pages is broken
		"id = '9'", // there is no such document, and the checksum belongs to another
	} {
		t.Run(damage, func(t *testing.T) {
			const n = 2 * many
			path := filepath.Join(t.TempDir(), "journal.db")
			j := openTest(t, path, journal.Options{})
			var d report.Delivery
			for i := range n {
				d.Changes = append(d.Changes, report.Change{
					Key: report.Key{Kind: report.Cities, ID: report.ID(fmt.Sprint(100 + i))}, Op: report.Index,
					Body: append(bytes.Repeat([]byte("y"), 9997), fmt.Sprint(100+i)...),
				})
			}
			mustAppend(t, j, d)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			execRaw(t, path, "UPDATE documents SET "+damage+" WHERE id = '120'")
			if strings.Contains(damage, "'z'") {
				journaltest.BreakPages(t, path)
			}
			j = openTest(t, path, journal.Options{})
			got := map[report.ID]bool{}
			for {
				changes, err := j.Claim(t.Context(), report.Cities, 100, 100_000)
				if err != nil {
					t.Fatal(err)
				}
				if len(changes) > 10 {
					t.Errorf("%d given out at a time", len(changes))
				}
				for _, c := range changes {
					if !bytes.HasSuffix(c.Body, []byte("y"+c.ID)) {
						t.Errorf("%s has the body of another: %s", c.ID, c.Body[9990:])
					}
					got[c.ID] = true
				}
				if len(changes) == 0 {
					break
				}
			}
			if len(got) != n-1 || got["120"] || got["9"] {
				t.Errorf("given out: %d, the damaged one among them: %t", len(got), got["120"] || got["9"])
			}
		})
	}
}

// TestIndexListsWhatIsNotThere: the index lists an id that has no row. What comes under that id is
// given out, each time, in the process that has met the damage.
func TestIndexListsWhatIsNotThere(t *testing.T) {
	path := damaged(t, "crc = crc")
	execRaw(t, path, `DROP INDEX documents_unsettled`)
	execRaw(t, path, `CREATE INDEX documents_unsettled ON documents (kind, state, waiting_since, version, replace(id, '1', 'ghost')) WHERE state <> 3`)
	execRaw(t, path, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql =
		'CREATE INDEX documents_unsettled ON documents (kind, state, waiting_since, version, id) WHERE state <> 3'
		WHERE name = 'documents_unsettled'`)
	j := openTest(t, path, journal.Options{})
	claimTheOthers(t, j)
	for _, body := range []string{"good", "better", "best"} {
		mustAppend(t, j, journaltest.PutCity("ghost", "", body))
		got := claimAll(t, j)
		if len(got) != 1 || string(got[0].Body) != body {
			t.Fatalf("given out %v, want %s", got, body)
		}
		if err := j.Settle(t.Context(), []report.Settlement{{Key: got[0].Key, Version: got[0].Version, Outcome: report.Indexed}}); err != nil {
			t.Fatal(err)
		}
		if got := claimAll(t, j); len(got) != 0 {
			t.Fatalf("given out again: %v", got)
		}
	}
}
