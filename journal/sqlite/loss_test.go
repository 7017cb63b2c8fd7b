package sqlite

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// older replaces a closed journal by a backup that lacks what was appended after it, and
// returns the time span of the missing changes.
func older(t *testing.T, path string) report.Loss {
	t.Helper()
	j := openTest(t, path, journal.Options{})
	last, err := j.Append(t.Context(), journaltest.Put("kept", "{}"))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	backup := filepath.Join(t.TempDir(), "backup.db")
	_, err = Backup(t.Context(), path, backup, nil)
	require.NoError(t, err)
	j = openTest(t, path, journal.Options{})
	lost, err := j.Append(t.Context(), journaltest.Put("lost", "{}"))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, os.Rename(backup, path))
	return report.Loss{Since: commit.FromMicro(int64(last[0].Version)), Until: commit.FromMicro(int64(lost[0].Version))}
}

// TestLossStays until it is acknowledged: through restarts, deliveries, a copy after an
// I/O error, and another loss, which only extends it.
func TestLossStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	first := older(t, path)
	now := time.Now().UTC().Truncate(time.Microsecond)
	log := &logtest.Buffer{}
	opt := journal.Options{Log: slog.New(slog.NewTextHandler(log, nil)), Now: func() time.Time { return now }}
	j := openTest(t, path, opt)
	first.Noticed = now
	if got := journaltest.LossOf(t, j); got != first {
		t.Fatalf("the journal lacks %+v, want %+v", got, first)
	}
	for round := range 3 {
		require.NoError(t, j.Close())
		if round == 0 { // nothing asks for the time while the journal is closed
			now = now.Add(time.Hour)
		}
		if round == 2 {
			require.NoError(t, suspect(path))
		}
		j = openTest(t, path, opt)
		if got := journaltest.LossOf(t, j); got != first {
			t.Errorf("after %d restarts the journal lacks %+v, want %+v", round+1, got, first)
		}
		mustAppend(t, j, journaltest.Put("later", "{}"))
	}
	if log.Count("level=ERROR") != 1 || log.Count("level=WARN") != 3 || log.Count("riskdex journal acknowledge-loss") != 4 {
		t.Errorf("the log lacks a message: %s", log.String())
	}
	require.NoError(t, j.Close())

	second := older(t, path)
	j = openTest(t, path, opt)
	if got, want := journaltest.LossOf(t, j), (report.Loss{Since: first.Since, Until: second.Until, Noticed: first.Noticed}); got != want {
		t.Errorf("after another loss the journal lacks %+v, want %+v", got, want)
	}
	checkTables(t, j)
}

// TestLossOfAllIsSinceTheBeginning.
func TestLossOfAllIsSinceTheBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	mustAppend(t, j, journaltest.Put("1", "{}"))
	require.NoError(t, j.Close())
	require.NoError(t, os.Remove(path))
	got := journaltest.LossOf(t, openTest(t, path, journal.Options{}))
	if !got.Lost() || !got.Since.IsZero() {
		t.Errorf("the journal lacks %+v, want everything since the beginning", got)
	}
}

// TestLossWhileItRuns: changes are missing when the file is opened again after an I/O
// error.
func TestLossWhileItRuns(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	j.testWriteEvery = time.Millisecond
	start(t, j)
	stamps, err := j.Append(t.Context(), journaltest.Put("1", "{}"))
	require.NoError(t, err)
	noted := stamps[0].Version + 1e6
	require.NoError(t, j.watermark.note(noted)) // as if that had been acknowledged, and were not in the file
	broken := errors.New("the disk is on fire")
	if err := j.queue.Do(t.Context(), &commit.Request{Task: task(func(*commit.Transaction) error { return broken })}); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	waitReady(t, j)
	if got := journaltest.LossOf(t, j); got.Until != commit.FromMicro(int64(noted)) {
		t.Errorf("the journal lacks %+v, want what was acknowledged", got)
	}
	if stamps, err = j.Append(t.Context(), journaltest.Put("2", "{}")); err != nil || stamps[0].Version <= noted {
		t.Errorf("stamped %+v, %v; want a version above those that were lost", stamps, err)
	}
}
