package transfer_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// lostChanges replaces a closed journal by a backup that lacks what is delivered after
// it, and returns the time span of the missing changes.
func lostChanges(t *testing.T, path string) report.Loss {
	t.Helper()
	deliver := func() time.Time {
		j := openNamedTest(t, path)
		defer closeTest(t, j)
		s := filler{t, j}.put(report.Probe, "probe", "{}")
		return time.UnixMicro(int64(s.Version)).UTC()
	}
	kept, backup := deliver(), filepath.Join(t.TempDir(), "backup.db")
	_, err := sqlite.Backup(t.Context(), path, backup, nil)
	require.NoError(t, err)
	lost := deliver()
	require.NoError(t, os.Rename(backup, path))
	return report.Loss{Since: kept, Until: lost}
}

// TestLossIsAcknowledged durably, and once, on either engine. Copies have the loss as well.
func TestLossIsAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	want := lostChanges(t, path)
	now := time.Now().UTC().Truncate(time.Microsecond)
	closeTest(t, openWith(t, path, journal.Options{Now: func() time.Time { return now }}))
	want.Noticed = now
	copies := []string{postgrestest.URL(t), filepath.Join(t.TempDir(), "copy.db")}
	for i, from := range []string{path, copies[0]} {
		if made, err := copyJournal(t.Context(), from, copies[i], nil); err != nil || made.Loss != want {
			t.Fatalf("copied with %+v, %v, want %+v", made.Loss, err, want)
		}
	}
	for _, name := range append(copies, path) {
		j := openNamedTest(t, name)
		if got := journaltest.LossOf(t, j); got != want {
			t.Errorf("%s lacks %+v, want %+v", endpoint(name).Name, got, want)
		}
		got, err := j.AcknowledgeLoss(t.Context())
		if err != nil || got != want {
			t.Errorf("acknowledged %+v, %v", got, err)
		}
		for range 2 {
			if got := journaltest.LossOf(t, j); !reflect.DeepEqual(got, report.Loss{}) {
				t.Errorf("%s still lacks %+v", endpoint(name).Name, got)
			}
			if _, err := j.AcknowledgeLoss(t.Context()); !errors.Is(err, report.ErrNotFound) {
				t.Errorf("a second acknowledgement returned %v, want ErrNotFound", err)
			}
			closeTest(t, j)
			j = openNamedTest(t, name)
		}
		closeTest(t, j)
	}
}

// TestCopyOfLostChanges copies a journal that lacks acknowledged changes.
func TestCopyOfLostChanges(t *testing.T) {
	from, to := filled(t, filepath.Join(t.TempDir(), "journal.db")), postgrestest.URL(t)
	lost := lostChanges(t, from)
	made, err := copyJournal(t.Context(), from, to, nil)
	if err != nil || time.UnixMicro(int64(made.LastVersion)).UTC() != lost.Until || made.Loss.Since != lost.Since || made.Loss.Until != lost.Until {
		t.Fatalf("the copy reported %+v, %v; want the loss %+v", made, err, lost)
	}
	j := openNamedTest(t, to)
	if _, err := j.AcknowledgeLoss(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeTest(t, j)
	goesOn(t, to, made)
}
