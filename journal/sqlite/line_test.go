package sqlite

import (
	"path/filepath"
	"testing"

	"riskdex/journal"
)

// lineOf opens a journal, and closes it again.
func lineOf(t *testing.T, path string) string {
	t.Helper()
	j := openTest(t, path, journal.Options{})
	defer j.Close()
	if len(j.Line()) < 26 { // 128 bits in base 32
		t.Errorf("%q is not much of an id", j.Line())
	}
	return j.Line()
}

// TestCopiesKeepTheLine: what is made of a journal may take its place. The tests of
// package transfer have the copies from engine to engine.
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
		t.Errorf("copied afresh after an I/O error it has the line %s, want %s", got, want)
	}
}
