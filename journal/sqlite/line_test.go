package sqlite

import (
	"path/filepath"
	"testing"

	"riskdex/journal"
)

// lineOf opens a journal, returns its line, and closes it again.
func lineOf(t *testing.T, path string) string {
	t.Helper()
	j := openTest(t, path, journal.Options{})
	defer j.Close()
	if len(j.Lineage()) < 26 { // 128 bits in base 32
		t.Errorf("the line is %q, want 128 bits in base 32", j.Lineage())
	}
	return j.Lineage()
}

// TestCopiesKeepTheLine: a copy of a journal may replace it. The tests of package
// transfer cover copies from engine to engine.
func TestCopiesKeepTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	want := lineOf(t, path)

	backup := filepath.Join(t.TempDir(), "backup.db")
	if _, err := Backup(t.Context(), path, backup, nil); err != nil {
		t.Fatal(err)
	}
	if got := lineOf(t, backup); got != want {
		t.Errorf("the backup has the line %s, want %s", got, want)
	}

	if err := suspect(path); err != nil {
		t.Fatal(err)
	}
	if got := lineOf(t, path); got != want {
		t.Errorf("rewritten after an I/O error, the journal has the line %s, want %s", got, want)
	}
}
