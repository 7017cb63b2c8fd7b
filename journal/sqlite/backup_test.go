package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/report"
)

// TestBackupUnderLoad repeatedly copies a journal while another process writes it, and
// checks that each copy has what was acknowledged before it began, and is consistent.
func TestBackupUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	w := startWriter(t, path)
	for round := range 5 {
		acks := w.waitFor(t, (round+1)*200)
		to := filepath.Join(t.TempDir(), "copy.db")
		start := time.Now()
		r, err := Backup(t.Context(), path, to, nil)
		if err != nil || r.Damaged != 0 || r.Problem != "" {
			t.Fatalf("the backup reported %+v, %v; want no damage", r, err)
		}
		t.Logf("%d records, %d bytes in %v, %d acknowledged before", r.Records, r.Bytes, time.Since(start), len(acks))
		if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the copy's file is %v, %v; want mode 0600", info, err)
		}
		onlyFile(t, to)
		checkSurvivor(t, to, acks)
		checkNewer(t, to, acks)
		if t.Failed() {
			return
		}
	}
	before := len(w.acknowledged())
	w.waitFor(t, before+200) // the writer continues
}

// checkNewer checks that a claim on the copy gives out versions above those that the old
// journal gave out before and, because versions follow the clock, after.
func checkNewer(t *testing.T, path string, acks []acknowledged) {
	t.Helper()
	j := openTest(t, path, journal.Options{})
	stamps, err := j.Append(t.Context(), journaltest.Put("hot1", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range acks {
		if stamps[0].Version <= a.version {
			t.Fatalf("version %d after %d", stamps[0].Version, a.version)
		}
	}
}

// onlyFile checks that there is no other file in the folder of path.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// TestBackupOfClosed copies a journal that no process has open, and one whose process was
// killed.
func TestBackupOfClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	mustAppend(t, j, journaltest.Put("1", "one"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	backUp(t, path, 1)

	crashed := filepath.Join(t.TempDir(), "journal.db")
	w := startWriter(t, crashed)
	w.waitFor(t, 100)
	w.kill()
	to := filepath.Join(t.TempDir(), "copy.db")
	if _, err := Backup(t.Context(), crashed, to, nil); err != nil {
		t.Fatal(err)
	}
	checkSurvivor(t, to, w.acks)
	checkSurvivor(t, crashed, w.acks)
}

func backUp(t *testing.T, path string, records int64) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	last := report.BackupProgress{}
	r, err := Backup(t.Context(), path, to, func(p report.BackupProgress) { last = p })
	if err != nil || r.Records != records || r.Damaged != 0 || r.Problem != "" {
		t.Fatalf("the backup reported %+v, %v; want all records and no damage", r, err)
	}
	if want := (report.BackupProgress{Checking: true, Done: records, Total: records}); last != want {
		t.Errorf("progress ends at %+v, want %+v", last, want)
	}
	if info, err := os.Stat(to); err != nil || info.Size() != r.Bytes {
		t.Errorf("the copy's file is %v, %v; want %d bytes", info, err, r.Bytes)
	}
	onlyFile(t, to)
	return to
}

// TestBackupInProcess copies a journal that this process has open. It must stay locked.
func TestBackupInProcess(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	mustAppend(t, j, journaltest.Put("1", "one"))
	to := backUp(t, j.path, 1)
	mustAppend(t, j, journaltest.Put("2", "two"))
	got, err := openTest(t, to, journal.Options{}).Claim(t.Context(), report.Advisories, 10, 1<<20)
	if err != nil || len(got) != 1 || string(got[0].Body) != "one" {
		t.Errorf("the copy gave out %v, %v; want only the body one", got, err)
	}
}

// TestBackupIsOfOneMoment writes to the journal while it is copied.
func TestBackupIsOfOneMoment(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	for n := range 10 {
		mustAppend(t, j, journaltest.Put(fmt.Sprint(n), strings.Repeat("x", 1<<20)))
	}
	to, steps := filepath.Join(t.TempDir(), "copy.db"), 0
	r, err := Backup(t.Context(), j.path, to, func(p report.BackupProgress) {
		if steps++; !p.Checking && steps < 100 {
			mustAppend(t, j, journaltest.Put("later", "{}"))
		}
	})
	if err != nil || r.Records != 10 || steps < 5 || steps > 30 {
		t.Errorf("the backup reported %+v in %d steps, %v; want the records of one moment", r, steps, err)
	}
}

// TestBackupNamesDamage copies journals with a damaged record and with damaged pages:
// what is intact is saved, and what is not is named.
func TestBackupNamesDamage(t *testing.T) {
	record := damaged(t, "body = CAST(replace(body, 'yy', 'yz') AS BLOB)")
	pages := damaged(t, "body = CAST(replace(body, 'y', 'z') AS BLOB)")
	journaltest.BreakPages(t, pages)
	for path, want := range map[string]string{record: "1", pages: "(record 2 cannot be read)"} {
		to := filepath.Join(t.TempDir(), "copy.db")
		r, err := Backup(t.Context(), path, to, nil)
		if err != nil || r.Records != 3 || r.Damaged != 1 || len(r.Named) != 1 || string(r.Named[0].ID) != want {
			t.Errorf("the backup reported %+v, %v; want %s named", r, err, want)
		}
		if (r.Problem != "") != (path == pages) {
			t.Errorf("the backup reported the problem %q", r.Problem)
		}
	}
}
