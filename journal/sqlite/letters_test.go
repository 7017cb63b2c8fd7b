package sqlite

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// ended returns the path of a closed journal with two advisories of 10,000 bytes, settled
// with an outcome, of which "a" was then changed on disk.
func ended(t *testing.T, o report.Outcome, damage string) (path string, stamps []report.Stamp) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	for _, id := range []string{"a", "b"} {
		got, err := j.Append(t.Context(), journaltest.Put(id, strings.Repeat("y", 10000)))
		if err != nil {
			t.Fatal(err)
		}
		stamps = append(stamps, got...)
		s := report.Settlement{Key: got[0].Key, Version: got[0].Version, Outcome: o, ErrorType: "type", Reason: "reason"}
		if err := j.Settle(t.Context(), []report.Settlement{s}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if damage != "" {
		execRaw(t, path, "UPDATE documents SET "+damage+" WHERE id = 'a'")
	}
	return path, stamps
}

// kindsOfDamage leave the version intact, by which a document is addressed.
var kindsOfDamage = []string{
	"body = CAST(replace(body, 'yy', 'yz') AS BLOB)", "body = NULL", "op = 'delete'", "code = 'PAR'",
	"accepted_at = accepted_at + 1", "crc = crc + 1",
}

// TestDamagedRenewed renews a settled document whose record is damaged: it must not get a
// checksum that fits, and becomes a dead letter.
func TestDamagedRenewed(t *testing.T) {
	for _, damage := range kindsOfDamage {
		t.Run(damage, func(t *testing.T) {
			path, stamps := ended(t, report.Indexed, damage)
			j := openTest(t, path, journal.Options{})
			if n, err := j.Reissue(t.Context(), stamps); err != nil || n != 1 {
				t.Errorf("%d reissued, %v, want 1", n, err)
			}
			got, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
			if err != nil || len(got) != 1 || got[0].ID != "b" {
				t.Errorf("given out: %d, %v", len(got), err)
			}
			l, err := j.DeadLetter(t.Context(), stamps[0].Key)
			if err != nil || l.ErrorType != report.ErrorTypeDamaged || l.Body != nil || !strings.Contains(l.Reason, `advisories "a"`) {
				t.Errorf("the dead letter is %s %q, %v", l.ErrorType, l.Reason, err)
			}
			checkTables(t, j)
		})
	}
}

// TestDamagedLetter damages the record of a dead letter: its body is never shown or sent,
// and never gets a checksum that fits. Dropping it or delivering it again ends it.
func TestDamagedLetter(t *testing.T) {
	for _, damage := range kindsOfDamage {
		t.Run(damage, func(t *testing.T) {
			path, stamps := ended(t, report.Dead, damage)
			j := openTest(t, path, journal.Options{})
			list, err := j.DeadLetters(t.Context(), report.Advisories, "", 10)
			if err != nil || len(list) != 2 || list[0].Body != nil {
				t.Errorf("listed %d, %v", len(list), err)
			}
			l, err := j.DeadLetter(t.Context(), stamps[0].Key)
			if err != nil || l.Body != nil || l.ErrorType != report.ErrorTypeDamaged {
				t.Errorf("shown: %d bytes, %s, %v", len(l.Body), l.ErrorType, err)
			}
			if l, err := j.DeadLetter(t.Context(), stamps[1].Key); err != nil || len(l.Body) != 10000 || l.ErrorType != "type" {
				t.Errorf("the intact one: %d bytes, %s, %v", len(l.Body), l.ErrorType, err)
			}
			if n, err := j.RetryDead(t.Context(), stamps); err != nil || n != 1 {
				t.Errorf("%d retried, %v, want 1", n, err)
			}
			checkTables(t, j)
			if n, err := j.DropDead(t.Context(), stamps[:1]); err != nil || n != 1 {
				t.Errorf("%d dropped, %v, want 1", n, err)
			}
			checkTables(t, j)
			if fits := checksumFits(t, j, "a"); fits && damage != "body = NULL" {
				t.Error("the checksum of a damaged record fits after it was dropped")
			}
			mustAppend(t, j, journaltest.Put("a", "good"))
			checkTables(t, j)
		})
	}
}

func checksumFits(t *testing.T, j *Journal, id string) bool {
	t.Helper()
	_, intact, err := tables.ScanContent(j.e.readers.QueryRowContext(t.Context(), "SELECT "+tables.ContentColumns+" FROM documents WHERE kind = ? AND id = ?", string(report.Advisories), id).Scan)
	if err != nil {
		t.Fatal(err)
	}
	return intact
}

// TestDroppedKeepsItsChecksum: what is left of an intact record has a checksum that fits.
func TestDroppedKeepsItsChecksum(t *testing.T) {
	path, stamps := ended(t, report.Dead, "")
	j := openTest(t, path, journal.Options{})
	if n, err := j.DropDead(t.Context(), stamps); err != nil || n != 2 {
		t.Fatalf("%d dropped, %v", n, err)
	}
	if !checksumFits(t, j, "a") {
		t.Error("the checksum of a dropped record does not fit")
	}
	var left int
	if err := j.e.readers.QueryRow(`SELECT count(*) FROM documents WHERE body IS NOT NULL OR reason <> ''`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d bodies or reasons are left, %v", left, err)
	}
}

// TestUnreadableLetter breaks the chain of pages of one body: that document is skipped,
// and everything else continues.
func TestUnreadableLetter(t *testing.T) {
	for _, o := range []report.Outcome{report.Dead, report.Indexed} {
		path, stamps := ended(t, o, "body = CAST(replace(body, 'y', 'z') AS BLOB)")
		journaltest.BreakPages(t, path)
		var logged bytes.Buffer
		j := openTest(t, path, journal.Options{Log: slog.New(slog.NewTextHandler(&logged, nil))})
		for name, change := range map[string]func() (int, error){
			"Reissue":   func() (int, error) { return j.Reissue(t.Context(), stamps) },
			"RetryDead": func() (int, error) { return j.RetryDead(t.Context(), stamps) },
		} {
			want := map[bool]int{true: 1, false: 0}[(o == report.Dead) == (name == "RetryDead")]
			if n, err := change(); err != nil || n != want {
				t.Errorf("%s after %s: %d, %v, want %d", name, o, n, err, want)
			}
		}
		if n, err := j.DropDead(t.Context(), stamps); err != nil || n != 0 {
			t.Errorf("%d dropped, %v", n, err)
		}
		if err := j.Ready(); err != nil {
			t.Errorf("Ready: %v", err)
		}
		checkTables(t, j)
		if o == report.Dead {
			checkUnreadableLetter(t, j, stamps[0].Key)
		}
		if err := j.Close(); err != nil || !strings.Contains(logged.String(), "id=a") {
			t.Errorf("Close: %v; want the log to name the document: %s", err, &logged)
		}
	}
}

// checkUnreadableLetter checks that the only dead letter is named as damaged.
func checkUnreadableLetter(t *testing.T, j *Journal, k report.Key) {
	t.Helper()
	list, err := j.DeadLetters(t.Context(), report.Advisories, "", 10)
	if err != nil || len(list) != 1 || list[0].Key != k {
		t.Errorf("listed %+v, %v", list, err)
	}
	if l, err := j.DeadLetter(t.Context(), k); err != nil || l.Body != nil || l.ErrorType != report.ErrorTypeDamaged {
		t.Errorf("shown %+v, %v", l, err)
	}
}

// TestContentOfAnOlderVersion: a document is delivered again between the reading of its
// content and the write, so the content that was read is not used.
func TestContentOfAnOlderVersion(t *testing.T) {
	for o, change := range map[report.Outcome]func(*commit.Transaction, commit.Content, *commit.Row) (bool, error){report.Indexed: (*commit.Transaction).Reissue, report.Dead: (*commit.Transaction).RetryDead} {
		path, stamps := ended(t, o, "")
		j := openTest(t, path, journal.Options{})
		list, rest, err := j.Contents(t.Context(), stamps, nil)
		if err != nil || len(list) != 2 || len(rest) != 0 {
			t.Fatalf("%d contents, %d left, %v", len(list), len(rest), err)
		}
		got, err := j.Append(t.Context(), journaltest.Put("a", "newer"))
		if err == nil {
			err = j.Settle(t.Context(), []report.Settlement{{Key: got[0].Key, Version: got[0].Version, Outcome: o}})
		}
		if err != nil {
			t.Fatal(err)
		}
		each := &commit.ForEach{List: list, Change: change}
		if err = j.queue.Do(t.Context(), &commit.Request{Task: each}); err != nil || each.Changed != 1 {
			t.Errorf("%s: %d changed, %v, want 1", o, each.Changed, err)
		}
		if !checksumFits(t, j, "a") {
			t.Errorf("%s: the record was damaged", o)
		}
	}
}

// TestDamagedRefusal: a damaged body is not shown as what was sent.
func TestDamagedRefusal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	mustAppend(t, j, report.Delivery{Refusals: []report.Refusal{{Body: []byte("yyyy")}, {Body: []byte("good")}}})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	execRaw(t, path, "UPDATE refusals SET body = CAST('yyyz' AS BLOB) WHERE seq = 1")
	j = openTest(t, path, journal.Options{})
	if r, err := j.Refusal(t.Context(), 1); err != nil || r.Body != nil || !r.Cut || !strings.Contains(r.Detail, "damaged") {
		t.Errorf("shown: %+v, %v", r, err)
	}
	if r, err := j.Refusal(t.Context(), 2); err != nil || string(r.Body) != "good" || r.Cut {
		t.Errorf("shown: %+v, %v", r, err)
	}
}
