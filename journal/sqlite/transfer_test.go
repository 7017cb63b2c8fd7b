package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"riskdex/journal/transfer"
)

// TestCopyChangesNothing compares the file of a journal before and after. Its process was
// killed, so that most of it is in its WAL.
func TestCopyChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	w := startWriter(t, path)
	w.waitFor(t, 100)
	w.kill()
	state := func() (all string) {
		for _, suffix := range []string{"", "-wal", watermarkSuffix} {
			b, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			all += string(b)
		}
		return all
	}
	before := state()
	to := filepath.Join(t.TempDir(), "copy.db")
	if _, err := transfer.Copy(t.Context(), Endpoint(path), Endpoint(to), nil); err != nil {
		t.Fatal(err)
	}
	if state() != before {
		t.Error("the copy has changed the journal's file")
	}
	onlyFile(t, to)
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy's file is %v, %v; want mode 0600", info, err)
	}
	checkSurvivor(t, to, w.acks)
}
