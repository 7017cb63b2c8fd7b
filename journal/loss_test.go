package journal

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/report"
)

func lossOf(t *testing.T, j Journal) report.Loss {
	t.Helper()
	s, err := j.Stats(t.Context())
	must(t, err)
	return s.Loss
}

// older puts a backup of a journal that is closed in its place, which lacks what is
// appended after it, and returns the time of which changes are missing.
func older(t *testing.T, path string) report.Loss {
	t.Helper()
	j := openTest(t, path, Options{})
	last, err := j.Append(t.Context(), put("kept", "{}"))
	must(t, err)
	must(t, j.Close())
	backup := filepath.Join(t.TempDir(), "backup.db")
	_, err = BackupSQLite(t.Context(), path, backup, nil)
	must(t, err)
	j = openTest(t, path, Options{})
	lost, err := j.Append(t.Context(), put("lost", "{}"))
	must(t, err)
	must(t, j.Close())
	must(t, os.Rename(backup, path))
	return report.Loss{Since: fromMicro(int64(last[0].Version)), Until: fromMicro(int64(lost[0].Version))}
}

// TestLossStays until it is acknowledged: over restarts, deliveries, a copy after an I/O
// error, and another loss, which makes it longer and not shorter.
func TestLossStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	first := older(t, path)
	now := time.Now().UTC().Truncate(time.Microsecond)
	log := &lockedBuffer{}
	opt := Options{Log: slog.New(slog.NewTextHandler(log, nil)), Now: func() time.Time { return now }}
	j := openTest(t, path, opt)
	first.Noticed = now
	if got := lossOf(t, j); got != first {
		t.Fatalf("it lacks %+v, want %+v", got, first)
	}
	now = now.Add(time.Hour)
	for round := range 3 {
		must(t, j.Close())
		if round == 2 {
			must(t, suspect(path))
		}
		j = openTest(t, path, opt)
		if got := lossOf(t, j); got != first {
			t.Errorf("after %d restarts it lacks %+v, want %+v", round+1, got, first)
		}
		mustAppend(t, j, put("later", "{}"))
	}
	if log.count("level=ERROR") != 1 || log.count("level=WARN") != 3 || log.count("riskdex journal acknowledge-loss") != 4 {
		t.Errorf("the log: %s", log.b.String())
	}
	must(t, j.Close())

	second := older(t, path)
	j = openTest(t, path, opt)
	if got, want := lossOf(t, j), (report.Loss{Since: first.Since, Until: second.Until, Noticed: first.Noticed}); got != want {
		t.Errorf("after another loss it lacks %+v, want %+v", got, want)
	}
	checkTables(t, j)
}

// TestLossIsAcknowledged, durably, and once, on either engine. A copy has it as well.
func TestLossIsAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	want := older(t, path)
	now := time.Now().UTC().Truncate(time.Microsecond)
	j := openTest(t, path, Options{Now: func() time.Time { return now }})
	want.Noticed = now
	must(t, j.Close())
	copies := []string{postgrestest.URL(t), filepath.Join(t.TempDir(), "copy.db")}
	for i, from := range []string{path, copies[0]} {
		if made, err := Copy(t.Context(), from, copies[i], nil); err != nil || made.Loss != want {
			t.Fatalf("copied with %+v, %v, want %+v", made.Loss, err, want)
		}
	}
	for _, name := range append(copies, path) {
		j := openNamedTest(t, name)
		if got := lossOf(t, j); got != want {
			t.Errorf("%s lacks %+v, want %+v", shown(name), got, want)
		}
		got, err := j.AcknowledgeLoss(t.Context())
		if err != nil || got != want {
			t.Errorf("acknowledged %+v, %v", got, err)
		}
		for range 2 {
			if got := lossOf(t, j); !reflect.DeepEqual(got, report.Loss{}) {
				t.Errorf("%s still lacks %+v", shown(name), got)
			}
			if _, err := j.AcknowledgeLoss(t.Context()); !errors.Is(err, ErrNotFound) {
				t.Errorf("acknowledged again: %v", err)
			}
			closeTest(t, j)
			j = openNamedTest(t, name)
		}
		closeTest(t, j)
	}
}

// TestLossOfAllIsSince the beginning.
func TestLossOfAllIsSinceTheBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, Options{})
	mustAppend(t, j, put("1", "{}"))
	must(t, j.Close())
	must(t, os.Remove(path))
	got := lossOf(t, openTest(t, path, Options{}))
	if !got.Lost() || !got.Since.IsZero() {
		t.Errorf("it lacks %+v", got)
	}
}

// TestLossWhileItRuns: what is missing when the file is opened anew after an I/O error.
func TestLossWhileItRuns(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	j.probeEvery = time.Millisecond
	start(t, j)
	stamps, err := j.Append(t.Context(), put("1", "{}"))
	must(t, err)
	noted := stamps[0].Version + 1e6
	must(t, j.witness.note(noted)) // as if that had been acknowledged, and were not in the file
	broken := errors.New("the disk is on fire")
	if err := j.queue.do(t.Context(), &request{run: func(*transaction) error { return broken }}); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	waitReady(t, j)
	if got := lossOf(t, j); got.Until != fromMicro(int64(noted)) {
		t.Errorf("it lacks %+v", got)
	}
	if stamps, err = j.Append(t.Context(), put("2", "{}")); err != nil || stamps[0].Version <= noted {
		t.Errorf("%+v, %v", stamps, err)
	}
}
