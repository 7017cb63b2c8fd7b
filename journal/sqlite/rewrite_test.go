package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/report"
)

// TestJournalInUseIsNotReplaced: a journal is not replaced while another process has it open.
func TestJournalInUseIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	w := startWriter(t, path)
	w.waitFor(t, 1)
	if err := unread(path); err == nil || !strings.Contains(err.Error(), "is reading it") {
		t.Errorf("error %v, want that a process is reading the journal", err)
	}
	w.kill()
	if err := unread(path); err != nil {
		t.Error(err)
	}
}

// crashedWith returns the path of a journal with the document "1", all of it in its WAL,
// as a killed process leaves it.
func crashedWith(t *testing.T, body string) string {
	t.Helper()
	live := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, live, journal.Options{})
	mustAppend(t, j, journaltest.Put("1", body))
	path := filepath.Join(t.TempDir(), "journal.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(live + suffix)
		if err != nil {
			t.Fatal(err)
		}
		journaltest.WriteFile(t, path+suffix, string(b))
	}
	return path
}

// TestSuspectIsCopied opens a journal that an earlier process has marked suspect, and
// journals that were left at each later step.
func TestSuspectIsCopied(t *testing.T) {
	for name, leave := range map[string]func(path string) error{
		"suspect": suspect,
		"with half a copy": func(path string) error {
			journaltest.WriteFile(t, path+partialSuffix, "half")
			return suspect(path)
		},
		"with a whole copy": func(path string) error {
			if err := suspect(path); err != nil {
				return err
			}
			return rewrite(t.Context(), path)
		},
		"with a whole copy and a log that lacks its end": func(path string) error {
			if err := rewrite(t.Context(), path); err != nil {
				return err
			}
			info, err := os.Stat(path + "-wal")
			if err != nil {
				return err
			}
			return os.Truncate(path+"-wal", info.Size()-1)
		},
		"with a whole copy and no log": func(path string) error {
			if err := rewrite(t.Context(), path); err != nil {
				return err
			}
			return os.Remove(path + "-wal")
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := crashedWith(t, "body")
			if err := leave(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			j := openTest(t, path, journal.Options{})
			after, err := os.Stat(path)
			if err != nil || os.SameFile(before, after) {
				t.Errorf("the journal is still the same file, %v", err)
			}
			if after.Mode().Perm() != 0o600 {
				t.Errorf("the new file's mode is %v", after.Mode())
			}
			got, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
			if err != nil || len(got) != 1 || string(got[0].Body) != "body" {
				t.Errorf("claimed %v, %v; want the body", got, err)
			}
			for _, suffix := range []string{suspectSuffix, partialSuffix, wholeSuffix} {
				if _, err := os.Stat(path + suffix); err == nil {
					t.Errorf("%s was left behind", suffix)
				}
			}
		})
	}
}

// TestSuspectIsGone starts a new journal if somebody has removed the suspect one.
func TestSuspectIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := suspect(path); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, openTest(t, path, journal.Options{}), journaltest.Put("1", "{}"))
}

// TestMarkSuspect: damaged pages, which a copy would have as well, do not keep the next
// process from using what is intact.
func TestMarkSuspect(t *testing.T) {
	path := damaged(t, "body = CAST(replace(body, 'y', 'z') AS BLOB)")
	// With auto_vacuum, SQLite does not read the pages of a body to free them.
	execRaw(t, path, "PRAGMA auto_vacuum = NONE; VACUUM")
	journaltest.BreakPages(t, path)
	j := openTest(t, path, journal.Options{})
	d := journaltest.Put("1", "new")
	d.Changes[0].Kind = report.Cities
	if _, err := j.Append(t.Context(), d); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Fatalf("error %v, want one about damaged pages", err)
	}
	if _, err := os.Stat(path + suspectSuffix); err == nil {
		t.Error("the journal is marked suspect although its disk works")
	}
	j.markSuspect(os.ErrInvalid)
	if _, err := os.Stat(path + suspectSuffix); err != nil {
		t.Errorf("the journal is not marked suspect although its disk fails: %v", err)
	}
}
