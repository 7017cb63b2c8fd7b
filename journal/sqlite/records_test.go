package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"riskdex/report"
)

// Records must end before what it keeps in the WAL keeps deliveries from being accepted.
func TestSnapshotIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := checkSnapshot(path); err != nil {
		t.Errorf("without a WAL: %v", err)
	}
	if err := os.WriteFile(path+"-wal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for size, old := range map[int64]bool{0: false, snapshotWAL: false, snapshotWAL + 1: true} {
		if err := os.Truncate(path+"-wal", size); err != nil {
			t.Fatal(err)
		}
		if err := checkSnapshot(path); errors.Is(err, report.ErrSnapshotTooOld) != old {
			t.Errorf("with %d bytes: %v", size, err)
		}
	}
}
