package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// TestBackupRefuses: a backup that cannot be made returns an error and leaves everything
// unchanged.
func TestBackupRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	mustAppend(t, openTest(t, path, journal.Options{}), journaltest.Put("1", strings.Repeat("x", 1<<20)))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	execRaw(t, foreign, `CREATE TABLE t (x)`)
	text := filepath.Join(t.TempDir(), "text.db")
	journaltest.WriteFile(t, text, strings.Repeat("no database ", 1000))
	missing := filepath.Join(t.TempDir(), "missing.db")

	for _, c := range []struct {
		name, from, beside, want string
		ctx                      context.Context
	}{
		{name: "the file is there", from: path, beside: "copy.db", want: "is there already"},
		{name: "a log is there", from: path, beside: "copy.db-wal", want: "is there already"},
		{name: "no journal", from: missing, want: "no such file"},
		{name: "a folder", from: t.TempDir(), want: "no regular file"},
		{name: "another database", from: foreign, want: "no riskdex journal"},
		{name: "no database", from: text, want: "damaged, or no journal"},
		{name: "cancelled", from: path, ctx: cancelled, want: "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			if c.ctx != nil {
				ctx = c.ctx
			}
			dir := t.TempDir()
			want := []string{}
			if c.beside != "" {
				journaltest.WriteFile(t, filepath.Join(dir, c.beside), "mine")
				want = append(want, c.beside)
			}
			_, err := Backup(ctx, c.from, filepath.Join(dir, "copy.db"), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			journaltest.CheckFolder(t, dir, want)
		})
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Error("the backup of a missing journal created it")
	}
}

// TestBackupCancelled cancels the context during the copy and during the check.
func TestBackupCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	mustAppend(t, openTest(t, path, journal.Options{}), journaltest.Put("1", strings.Repeat("x", 3<<20)))
	for _, checking := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		_, err := Backup(ctx, path, filepath.Join(dir, "copy.db"), func(p report.BackupProgress) {
			if p.Checking == checking {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) && (err == nil || !strings.Contains(err.Error(), "interrupted")) {
			t.Errorf("checking %v: %v", checking, err)
		}
		journaltest.CheckFolder(t, dir, nil)
	}
}

// TestBackupLeavesSpace for deliveries on the disk of the journal.
func TestBackupLeavesSpace(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	j.quota.min, j.quota.diskFree = 100<<20, func(string) (int64, error) { return 100<<20 + 50<<10, nil }
	start(t, j)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	to := filepath.Join(t.TempDir(), "copy.db")
	if _, err := j.Backup(t.Context(), to, nil); err == nil || !strings.Contains(err.Error(), "choose another disk") {
		t.Errorf("the backup returned %v, want advice to choose another disk", err)
	}
	onlyFile(t, to)
	require.NoError(t, j.Close())
	if _, err := j.Backup(t.Context(), to, nil); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("a backup of a closed journal returned %v, want ErrClosed", err)
	}
}

// TestBackupEndsWithTheJournal if the journal is closed meanwhile.
func TestBackupEndsWithTheJournal(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{MinFree: -1})
	mustAppend(t, j, journaltest.Put("1", strings.Repeat("x", 3<<20)))
	to := filepath.Join(t.TempDir(), "copy.db")
	_, err := j.Backup(t.Context(), to, func(report.BackupProgress) { require.NoError(t, j.Close()) })
	if !errors.Is(err, journal.ErrClosed) {
		t.Errorf("the backup returned %v, want ErrClosed", err)
	}
	onlyFile(t, to)
	has(t, j.path, "1")
}
