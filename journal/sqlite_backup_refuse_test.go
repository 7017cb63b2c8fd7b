package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackupRefuses checks that a backup that cannot be made says so and leaves
// everything as it was.
func TestBackupRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	mustAppend(t, openTest(t, path, Options{}), put("1", strings.Repeat("x", 1<<20)))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	execRaw(t, foreign, `CREATE TABLE t (x)`)
	text := filepath.Join(t.TempDir(), "text.db")
	write(t, text, strings.Repeat("no database ", 1000))
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
				write(t, filepath.Join(dir, c.beside), "mine")
				want = append(want, c.beside)
			}
			_, err := BackupSQLite(ctx, c.from, filepath.Join(dir, "copy.db"), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want that %s", err, c.want)
			}
			checkFolder(t, dir, want)
		})
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Error("the backup of a missing journal created it")
	}
}

// TestBackupCancelled ends the context while it copies and while it checks.
func TestBackupCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	mustAppend(t, openTest(t, path, Options{}), put("1", strings.Repeat("x", 3<<20)))
	for _, checking := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		_, err := BackupSQLite(ctx, path, filepath.Join(dir, "copy.db"), func(p BackupProgress) {
			if p.Checking == checking {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) && (err == nil || !strings.Contains(err.Error(), "interrupted")) {
			t.Errorf("checking %v: %v", checking, err)
		}
		checkFolder(t, dir, nil)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkFolder checks that dir has these files, with the text that write gave them.
func checkFolder(t *testing.T, dir string, want []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || string(text) != "mine" {
			t.Errorf("%s: %q, %v", e.Name(), text, err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

// TestBackupLeavesRoom for deliveries, on the disk of the journal.
func TestBackupLeavesRoom(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	j.room.min, j.room.diskFree = 100<<20, func(string) (int64, error) { return 100<<20 + 50<<10, nil }
	start(t, j)
	mustAppend(t, j, put("1", "{}"))
	to := filepath.Join(t.TempDir(), "copy.db")
	if _, err := j.Backup(t.Context(), to, nil); err == nil || !strings.Contains(err.Error(), "choose another disk") {
		t.Errorf("it was made: %v", err)
	}
	onlyFile(t, to)
	must(t, j.Close())
	if _, err := j.Backup(t.Context(), to, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed journal: %v", err)
	}
}

// TestBackupEndsWithTheJournal that is closed meanwhile.
func TestBackupEndsWithTheJournal(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), Options{MinFree: -1})
	mustAppend(t, j, put("1", strings.Repeat("x", 3<<20)))
	to := filepath.Join(t.TempDir(), "copy.db")
	_, err := j.Backup(t.Context(), to, func(BackupProgress) { must(t, j.Close()) })
	if !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	onlyFile(t, to)
	has(t, j.path, "1")
}
