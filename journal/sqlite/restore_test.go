package sqlite

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// site is a closed journal with two documents, one and two, and a backup that has only
// the first.
type site struct {
	path, backup string
	one, two     report.Stamp
}

func newSite(t *testing.T) site {
	t.Helper()
	s := site{path: filepath.Join(t.TempDir(), "journal.db")}
	j := openTest(t, s.path, journal.Options{})
	stamps, err := j.Append(t.Context(), journaltest.Put("one", "{}"))
	require.NoError(t, err)
	s.backup = backUp(t, s.path, 1)
	s.one = stamps[0]
	stamps, err = j.Append(t.Context(), journaltest.Put("two", "{}"))
	require.NoError(t, err)
	s.two = stamps[0]
	require.NoError(t, j.Close())
	return s
}

// has checks that a journal has exactly these documents, and is intact.
func has(t *testing.T, path string, want ...string) {
	t.Helper()
	if got := documentsIn(t, path); !slices.Equal(got, want) {
		t.Errorf("%s has %v, want %v", filepath.Base(path), got, want)
	}
}

// TestRestore replaces a journal by a backup, and then restores what was there before: it
// reports what is lost, and so does the journal.
func TestRestore(t *testing.T) {
	s := newSite(t)
	var last report.BackupProgress
	r, err := Restore(t.Context(), s.backup, s.path, RestoreOptions{}, func(p report.BackupProgress) { last = p })
	require.NoError(t, err)
	lost := report.Loss{Since: commit.FromMicro(int64(s.one.Version)), Until: commit.FromMicro(int64(s.two.Version)), Noticed: r.Loss.Noticed}
	if r.Path != s.path || r.Records != 1 || r.After != 1 || !r.Newest.Equal(commit.FromMicro(int64(s.one.Version))) || r.Loss != lost || r.Loss.Noticed.IsZero() {
		t.Errorf("the restore reported %+v, want a loss of %+v", r, lost)
	}
	if want := (report.BackupProgress{Checking: true, Done: 1, Total: 1}); last != want {
		t.Errorf("progress ends at %+v", last)
	}
	if files := slices.Sorted(maps.Keys(filesOf(t, s.path))); !slices.Equal(files, []string{"journal.db", filepath.Base(r.Aside), filepath.Base(r.Aside) + watermarkSuffix}) {
		t.Errorf("the folder has %v", files)
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the restored file is %v, %v; want mode 0600", info, err)
	}
	if info, err := os.Stat(s.backup); err != nil || info.Size() == 0 {
		t.Errorf("the backup: %v, %v", info, err)
	}
	has(t, s.path, "one")
	for range 2 {
		j := openTest(t, s.path, journal.Options{})
		if got := journaltest.LossOf(t, j); got != lost {
			t.Errorf("the journal lacks %+v, want %+v", got, lost)
		}
		stamps, err := j.Append(t.Context(), journaltest.Put("one", "{}"))
		if err != nil || stamps[0].Version <= s.two.Version {
			t.Errorf("stamped %+v, %v; want a version above the lost one", stamps, err)
		}
		require.NoError(t, j.Close())
	}

	back, err := Restore(t.Context(), r.Aside, s.path, RestoreOptions{}, nil)
	if err != nil || back.Records != 2 || back.After != 1 || !back.Loss.Lost() || back.Aside == r.Aside {
		t.Errorf("restoring the former journal: %+v, %v", back, err)
	}
	has(t, s.path, "one", "two")
}

// TestRestoreWhereNothingIs: to a new disk, where it is not known what came after the copy was
// made, and after only the file was deleted.
func TestRestoreWhereNothingIs(t *testing.T) {
	s := newSite(t)
	empty := filepath.Join(t.TempDir(), "journal.db")
	began := time.Now().Truncate(time.Microsecond)
	r, err := Restore(t.Context(), s.backup, empty, RestoreOptions{}, nil)
	if err != nil || r.After != -1 || !r.Loss.Since.Equal(commit.FromMicro(int64(s.one.Version))) || r.Loss.Until.Before(began) || r.Aside != "" {
		t.Errorf("the restore reported %+v, %v; want a loss from the first document until now, and nothing moved aside", r, err)
	}
	has(t, empty, "one")
	j := openTest(t, empty, journal.Options{})
	if lost := journaltest.LossOf(t, j); lost != r.Loss {
		t.Errorf("the journal lacks %+v, want %+v", lost, r.Loss)
	}

	require.NoError(t, os.Remove(s.path))
	r, err = Restore(t.Context(), s.backup, s.path, RestoreOptions{}, nil)
	if err != nil || r.After != -1 || !r.Loss.Until.Equal(commit.FromMicro(int64(s.two.Version))) || r.Aside == "" {
		t.Errorf("the restore reported %+v, %v; want a loss up to the second document, and the WAL moved aside", r, err)
	}
	has(t, s.path, "one")
}

// TestRestoreAfterAKill: the WAL that is left belongs to the journal that is moved aside,
// which has everything acknowledged, and is restored with it. The same holds for an older
// file that somebody has put beside that WAL before.
func TestRestoreAfterAKill(t *testing.T) {
	live := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	mustAppend(t, live, journaltest.Put("one", "{}"))
	backup := backUp(t, live.path, 1)
	mustAppend(t, live, journaltest.Put("two", "{}"))

	path := killed(t, live)
	r, err := Restore(t.Context(), backup, path, RestoreOptions{}, nil)
	if err != nil || r.After != 1 || !r.Loss.Lost() {
		t.Errorf("the restore reported %+v, %v; want one delivery lost", r, err)
	}
	has(t, path, "one")
	if _, err := Restore(t.Context(), r.Aside, path, RestoreOptions{}, nil); err != nil {
		t.Error(err)
	}
	has(t, path, "one", "two")

	path = killed(t, live)
	copyFile(t, backup, path)
	moved := path + ".moved"
	require.NoError(t, os.Rename(path, moved)) // as the message advises
	r, err = Restore(t.Context(), moved, path, RestoreOptions{}, nil)
	if err != nil || r.After != -1 || !r.Loss.Lost() {
		t.Errorf("the restore reported %+v, %v; want a loss of unknown size", r, err)
	}
	has(t, path, "one")
	j := openTest(t, path, journal.Options{})
	if !journaltest.LossOf(t, j).Lost() {
		t.Error("no loss is reported")
	}
}

// TestRestoreLosesNothing if nothing was delivered since the copy was made: riskdex's own
// document does not count. But its versions are not given out again. If the end of the
// WAL was lost, nobody knows what it had.
func TestRestoreLosesNothing(t *testing.T) {
	live := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	mustAppend(t, live, journaltest.Put("one", "{}"))
	backup := backUp(t, live.path, 1)
	probe := report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Probe, ID: "probe"}, Op: report.Index, Body: []byte("{}")}}}
	stamps, err := live.Append(t.Context(), probe)
	require.NoError(t, err)
	for _, torn := range []bool{false, true} {
		path := killed(t, live)
		if torn {
			spoil(t, path+"-wal", func(b []byte) []byte { return b[:len(b)-100] })
		}
		r, err := Restore(t.Context(), backup, path, RestoreOptions{}, nil)
		if err != nil || r.Loss.Lost() != torn || r.After != 0 {
			t.Errorf("torn %t: the restore reported %+v, %v", torn, r, err)
		}
		j := openTest(t, path, journal.Options{})
		if journaltest.LossOf(t, j).Lost() != torn || j.ledger.LastVersion < stamps[0].Version {
			t.Errorf("torn %t: the journal lacks %+v, and gives out version %d after %d", torn, journaltest.LossOf(t, j), j.ledger.LastVersion, stamps[0].Version)
		}
	}
}

// TestRestoreRefuses and leaves everything unchanged.
func TestRestoreRefuses(t *testing.T) {
	s := newSite(t)
	newer := filepath.Join(t.TempDir(), "newer.db")
	copyFile(t, s.backup, newer)
	execRaw(t, newer, fmt.Sprint("PRAGMA user_version = ", tables.Version+1))
	text := filepath.Join(t.TempDir(), "text.db")
	journaltest.WriteFile(t, text, strings.Repeat("no database ", 1000))
	other := filepath.Join(t.TempDir(), "other.db")
	mustAppend(t, openTest(t, other, journal.Options{}), journaltest.Put("other", "{}"))
	otherBackup := backUp(t, other, 1)
	record, pages := damaged(t, "body = CAST(replace(body, 'yy', 'yz') AS BLOB)"), damaged(t, "body = CAST(replace(body, 'y', 'z') AS BLOB)")
	journaltest.BreakPages(t, pages)
	suspected := filepath.Join(t.TempDir(), "suspect.db")
	copyFile(t, s.backup, suspected)
	require.NoError(t, suspect(suspected))
	linked := filepath.Join(t.TempDir(), "linked.db")
	require.NoError(t, os.Link(s.path, linked))
	full := filepath.Join(t.TempDir(), "full.db")
	copyFile(t, s.backup, full)

	before := filesOf(t, s.path)
	for name, c := range map[string]struct{ from, want string }{
		"a damaged record":           {record, ErrDamaged.Error()},
		"damaged pages":              {pages, ErrDamaged.Error()},
		"another journal":            {otherBackup, "--from-another-journal"},
		"another schema":             {newer, "use the riskdex that made it"},
		"no database":                {text, "damaged, or no journal"},
		"nothing":                    {filepath.Join(t.TempDir(), "missing.db"), "no such file"},
		"a folder":                   {t.TempDir(), "no regular file"},
		"what has to be rewritten":   {suspected, "start riskdex on it"},
		"itself":                     {s.path, "the journal itself"},
		"itself, under another name": {linked, "the journal itself"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Restore(t.Context(), c.from, s.path, RestoreOptions{}, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || r.Path != "" {
				t.Errorf("the restore reported %+v, %v; want an error with %q", r, err, c.want)
			}
			if after := filesOf(t, s.path); !maps.Equal(after, before) {
				t.Errorf("the files are %v, were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
			}
			if strings.HasPrefix(c.want, ErrDamaged.Error()) && (r.Damaged != 1 || len(r.Named) != 1) {
				t.Errorf("the damage is %+v", r)
			}
		})
	}

	// These are accepted on request.
	if r, err := Restore(t.Context(), record, s.path, RestoreOptions{Damaged: true, AnotherJournal: true}, nil); err != nil || r.Damaged != 1 {
		t.Errorf("the restore reported %+v, %v; want one damaged record", r, err)
	}
	has(t, s.path, "0", "1", "2")
}

// TestRestoreOverWhatCannotBeRead leaves it as it is, and says why, until it is told to replace it.
// Damage elsewhere in a journal is no reason: the copy is of that one.
func TestRestoreOverWhatCannotBeRead(t *testing.T) {
	spoilAll := func(t *testing.T, s site) {
		spoil(t, s.path, func([]byte) []byte { return []byte(strings.Repeat("no database ", 1000)) })
	}
	for name, c := range map[string]struct {
		spoil func(*testing.T, site)
		want  string // of the error; empty if the copy is known to be of this journal
	}{
		"of another schema": {func(t *testing.T, s site) { execRaw(t, s.path, fmt.Sprint("PRAGMA user_version = ", tables.Version+1)) }, "use the riskdex that made it"},
		"no database":       {spoilAll, "not a database"},
		"another database":  {func(t *testing.T, s site) { execRaw(t, s.path, "PRAGMA application_id = 7") }, "no riskdex journal"},
		"no lineage":        {func(t *testing.T, s site) { execRaw(t, s.path, "DELETE FROM ids WHERE name = 'line'") }, "lineage"},
		"totals":            {func(t *testing.T, s site) { execRaw(t, s.path, "DROP TABLE totals") }, ""},
		"empty":             {func(t *testing.T, s site) { spoil(t, s.path, func([]byte) []byte { return nil }) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c.spoil(t, s)
			before := filesOf(t, s.path)
			if c.want != "" {
				_, err := Restore(t.Context(), s.backup, s.path, RestoreOptions{}, nil)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--from-another-journal") {
					t.Errorf("the error is %v, want one with %q", err, c.want)
				}
				if after := filesOf(t, s.path); !maps.Equal(after, before) {
					t.Errorf("the files are %v, were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
				}
			}
			r, err := Restore(t.Context(), s.backup, s.path, RestoreOptions{AnotherJournal: c.want != ""}, nil)
			if err != nil || r.After != -1 || !r.Loss.Lost() || r.Aside == "" {
				t.Errorf("the restore reported %+v, %v; want a loss of unknown size", r, err)
			}
			has(t, s.path, "one")
		})
	}
}

// TestRestoreWhileItIsInUse by a riskdex, under its name or another one, or by somebody
// who reads it.
func TestRestoreWhileItIsInUse(t *testing.T) {
	s := newSite(t)
	j := openTest(t, s.path, journal.Options{})
	link := filepath.Join(t.TempDir(), "linked.db")
	require.NoError(t, os.Link(s.path, link))
	for path, want := range map[string]string{s.path: "already open in process", link: "hard link"} {
		if r, err := Restore(t.Context(), s.backup, path, RestoreOptions{}, nil); err == nil || !strings.Contains(err.Error(), want) || r.Path != "" {
			t.Errorf("the restore reported %+v, %v; want an error with %q", r, err, want)
		}
	}
	mustAppend(t, j, journaltest.Put("three", "{}"))
	require.NoError(t, j.Close())
	has(t, s.path, "one", "three", "two")

	reader := exec.Command(os.Args[0], "-test.run=^TestRestoreReader$")
	reader.Env = append(os.Environ(), readEnv+"="+s.path)
	out, err := reader.StdoutPipe()
	require.NoError(t, err)
	in, err := reader.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, reader.Start())
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), s.backup, s.path, RestoreOptions{}, nil); err == nil || !strings.Contains(err.Error(), "is reading it") {
		t.Errorf("a restore during a read returned %v, want that somebody is reading it", err)
	}
	require.NoError(t, in.Close())
	require.NoError(t, reader.Wait())
	has(t, s.path, "one", "three", "two")
}

const (
	readEnv = "RISKDEX_TEST_READ"
	stepEnv = "RISKDEX_TEST_RESTORE_STEP"
	fromEnv = "RISKDEX_TEST_RESTORE_FROM"
)

// TestRestoreReader reads a journal, as a backup does, until it is told to end.
func TestRestoreReader(t *testing.T) {
	path := os.Getenv(readEnv)
	if path == "" {
		t.Skip("it is run by another test")
	}
	s, err := openSource(t.Context(), path)
	require.NoError(t, err)
	fmt.Println("reading")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	require.NoError(t, s.close())
}

// TestRestoreKilled kills the restoring process at each of its steps. The journal is then
// the old one or the new one, and always complete; it can be restored again; and what was
// there before is kept, with its WAL.
func TestRestoreKilled(t *testing.T) {
	live := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	mustAppend(t, live, journaltest.Put("one", "{}"))
	backup := backUp(t, live.path, 1)
	mustAppend(t, live, journaltest.Put("two", "{}"))
	steps := []string{"copied", "checked", "whole"}
	for _, suffix := range besideSuffixes {
		steps = append(steps, "moved "+suffix)
	}
	steps = append(steps, "aside", "in place")
	for _, next := range []string{"open", "restore"} {
		for i, step := range steps {
			t.Run(next+" after "+step, func(t *testing.T) {
				path := killed(t, live)
				cmd := exec.Command(os.Args[0], "-test.run=^TestRestoreChild$")
				cmd.Env = append(os.Environ(), fromEnv+"="+backup, readEnv+"="+path, stepEnv+"="+step)
				out, err := cmd.CombinedOutput()
				if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
					t.Fatalf("the process was not killed: %v %s", err, out)
				}
				begun := i >= slices.Index(steps, "whole")
				if step != "in place" && begun {
					if _, err := Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"), nil); err == nil {
						t.Error("a backup of the half-restored journal succeeded")
					}
				}
				if next == "restore" {
					r, err := Restore(t.Context(), backup, path, RestoreOptions{}, nil)
					require.NoError(t, err)
					if !r.Loss.Lost() {
						t.Errorf("the second restore reported %+v, want a loss", r)
					}
					begun = true
				}
				j := openTest(t, path, journal.Options{})
				if lost := journaltest.LossOf(t, j).Lost(); lost != begun {
					t.Errorf("a loss is reported: %t", lost)
				}
				require.NoError(t, j.Close())
				if begun {
					has(t, path, "one")
				} else {
					has(t, path, "one", "two")
				}
				var before []string
				for name := range filesOf(t, path) {
					switch {
					case strings.Contains(name, restoreInfix):
						t.Errorf("%s was left behind", name)
					case strings.Contains(name, beforeInfix) && !strings.HasSuffix(name, watermarkSuffix) && !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm"):
						before = append(before, filepath.Join(filepath.Dir(path), name))
					}
				}
				if !begun {
					return
				}
				slices.Sort(before)
				if len(before) == 0 {
					t.Fatal("the former journal is gone")
				}
				has(t, before[0], "one", "two")
			})
		}
	}
}

// TestRestoreChild is the process that is killed.
func TestRestoreChild(t *testing.T) {
	step := os.Getenv(stepEnv)
	if step == "" {
		t.Skip("it is run by another test")
	}
	opt := RestoreOptions{step: func(at string) {
		if at == step {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}}
	_, err := Restore(t.Context(), os.Getenv(fromEnv), os.Getenv(readEnv), opt, nil)
	t.Fatal("the restore finished before it was killed", err)
}

// TestRestoredBelongsToTheOwner of the journal, although root has restored it.
func TestRestoredBelongsToTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	s := newSite(t)
	require.NoError(t, os.Chown(s.path, 12345, 12346))
	require.NoError(t, remove(s.path+".lock"))
	_, err := Restore(t.Context(), s.backup, s.path, RestoreOptions{}, nil)
	require.NoError(t, err)
	for _, path := range []string{s.path, s.path + ".lock"} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 12345 || stat.Gid != 12346 {
			t.Errorf("%s belongs to %d:%d, want the owner of the journal", path, stat.Uid, stat.Gid)
		}
	}
}
