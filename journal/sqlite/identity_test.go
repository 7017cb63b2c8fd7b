package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/transfer"
)

// killed returns the path of the files that the process would leave if it were killed
// now.
func killed(t *testing.T, j *Journal) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	for _, suffix := range []string{"", "-wal", watermarkSuffix} {
		copyFile(t, j.path+suffix, path+suffix)
	}
	return path
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, b, 0o600))
}

// filesOf returns the files in the folder of a journal.
func filesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(b)
	}
	delete(files, filepath.Base(path)+".lock") // has the number of a process
	return files
}

func documentsIn(t *testing.T, path string) []string {
	t.Helper()
	j := openTest(t, path, journal.Options{})
	ids := slices.Sorted(maps.Keys(documentsOf(t, j)))
	checkTables(t, j)
	require.NoError(t, j.Close())
	return ids
}

// TestWALOfAnotherFileIsRefused: if a process was killed and its WAL is left, no other
// file is opened with that WAL, whatever it is, and nothing is changed.
func TestWALOfAnotherFileIsRefused(t *testing.T) {
	for name, other := range map[string]func(t *testing.T, j **Journal) (path string){
		"a backup": func(t *testing.T, j **Journal) string { return backUp(t, (*j).path, 1) },
		"a backup of before": func(t *testing.T, j **Journal) string {
			to := backUp(t, (*j).path, 1)
			mustAppend(t, *j, journaltest.Put("2", "{}"))
			*j = again(t, *j)
			return to
		},
		"the file as it was": func(t *testing.T, j **Journal) string {
			to := filepath.Join(t.TempDir(), "copied.db")
			copyFile(t, (*j).path, to)
			mustAppend(t, *j, journaltest.Put("2", "{}"))
			*j = again(t, *j)
			return to
		},
		"the file as it was before the log was copied": func(t *testing.T, j **Journal) string {
			to := filepath.Join(t.TempDir(), "copied.db")
			copyFile(t, (*j).path, to)
			for i := range 6 {
				mustAppend(t, *j, journaltest.Put(fmt.Sprint("large", i), strings.Repeat("x", 1<<20)))
			}
			return to
		},
		"another journal": func(t *testing.T, _ **Journal) string {
			to := filepath.Join(t.TempDir(), "other.db")
			o := openTest(t, to, journal.Options{})
			mustAppend(t, o, journaltest.Put("other", "{}"))
			require.NoError(t, o.Close())
			return to
		},
		"nothing": func(t *testing.T, _ **Journal) string {
			to := filepath.Join(t.TempDir(), "empty.db")
			journaltest.WriteFile(t, to, "")
			return to
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
			mustAppend(t, live, journaltest.Put("1", "{}"))
			file := other(t, &live)
			mustAppend(t, live, journaltest.Put("3", "{}"))
			path := killed(t, live)
			want := slices.Sorted(maps.Keys(documentsOf(t, live)))
			copyFile(t, file, path)
			before := filesOf(t, path)
			for what, err := range map[string]error{
				"opened":    second(Open(t.Context(), path, journal.Options{})),
				"inspected": second(Inspect(t.Context(), path)),
				"copied":    second(transfer.Copy(t.Context(), Endpoint(path), Endpoint(filepath.Join(t.TempDir(), "copy.db")), nil)),
				"backed up": second(Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"), nil)),
			} {
				if !errors.Is(err, errOtherWAL) || !strings.Contains(err.Error(), "riskdex restore NAME --journal "+path) {
					t.Errorf("%s returned %v, want errOtherWAL with the command to restore", what, err)
				}
			}
			if after := filesOf(t, path); !maps.Equal(after, before) {
				t.Errorf("the files have changed: %v, were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
			}

			// What the message advises first: the former file is put back.
			copyFile(t, live.path, path)
			if got := documentsIn(t, path); !slices.Equal(got, want) {
				t.Errorf("put back, the journal has %v, want %v", got, want)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// again closes a journal, which copies its WAL into the file, and opens it.
func again(t *testing.T, j *Journal) *Journal {
	t.Helper()
	require.NoError(t, j.Close())
	return openTest(t, j.path, journal.Options{})
}

// TestFileCopiedWhileItIsInUse is opened elsewhere, without its WAL and without its
// watermark: it is not known what the file lacks, but that it may lack something.
func TestFileCopiedWhileItIsInUse(t *testing.T) {
	live := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	mustAppend(t, live, journaltest.Put("1", "{}"))
	path := filepath.Join(t.TempDir(), "copied.db")
	copyFile(t, live.path, path)
	for what, look := range map[string]func() error{
		"a look of SQLite, which leaves an empty log": func() error { return second(Backup(t.Context(), path, filepath.Join(t.TempDir(), "b.db"), nil)) },
		"none": func() error { return nil },
	} {
		require.NoError(t, look())
		j := openTest(t, path, journal.Options{})
		if l := journaltest.LossOf(t, j); !l.Lost() || l.Until.Before(l.Since) {
			t.Errorf("after %s: the journal lacks %+v", what, l)
		}
		require.NoError(t, j.Close())
		copyFile(t, live.path, path)
		require.NoError(t, remove(path+watermarkSuffix))
	}
	to := filepath.Join(t.TempDir(), "to.db")
	if made, err := transfer.Copy(t.Context(), Endpoint(path), Endpoint(to), nil); err != nil || !made.Loss.Lost() {
		t.Errorf("copied while in use: %+v, %v", made, err)
	}

	// Closed, moved alone, and opened again, it lacks nothing; nor does the journal of a
	// killed process.
	require.NoError(t, live.Close())
	copyFile(t, live.path, path)
	if l := journaltest.LossOf(t, openTest(t, path, journal.Options{})); l.Lost() {
		t.Errorf("closed and moved, the journal lacks %+v", l)
	}
	live = openTest(t, live.path, journal.Options{}) // whose WAL is empty
	if l := journaltest.LossOf(t, openTest(t, killed(t, live), journal.Options{})); l.Lost() {
		t.Errorf("killed, the journal lacks %+v", l)
	}
}

// fileID returns the id in a file without its WAL, and the one in the note beside it.
func fileID(t *testing.T, path string) (in, beside string) {
	t.Helper()
	w, err := openWatermark(path)
	require.NoError(t, err)
	defer w.close()
	return readBare(t.Context(), path).id, w.wal().file
}

// TestEveryCopyIsAnotherFile: every copy has an id of its own, the same in the file and
// beside it, and keeps it.
func TestEveryCopyIsAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	mustAppend(t, j, journaltest.Put("1", "{}"))
	require.NoError(t, j.Close())
	seen := map[string]string{}
	opened := func(what, path string) {
		t.Helper()
		for range 2 {
			j := openTest(t, path, journal.Options{})
			in, beside := fileID(t, path)
			if in == "" || in != beside || seen[in] != "" && seen[in] != what {
				t.Errorf("%s: the id in the file is %q, beside it %q; it is also that of %s", what, in, beside, seen[in])
			}
			seen[in] = what
			require.NoError(t, j.Close())
		}
	}
	backup := backUpClosed(t, path)
	opened("the journal", path)
	opened("a backup", backup)
	opened("a backup of it", backUpClosed(t, backup))
	copied := filepath.Join(t.TempDir(), "copied.db")
	_, err := transfer.Copy(t.Context(), Endpoint(path), Endpoint(copied), nil)
	require.NoError(t, err)
	opened("a copy", copied)
	require.NoError(t, suspect(copied))
	opened("a rewritten file", copied)
}

func backUpClosed(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "backup.db")
	_, err := Backup(t.Context(), path, to, nil)
	require.NoError(t, err)
	return to
}

// TestNewFileInPlaceOfARemovedOne: the note beside it belongs to the removed one.
func TestNewFileInPlaceOfARemovedOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	require.NoError(t, openTest(t, path, journal.Options{}).Close())
	require.NoError(t, os.Remove(path))
	require.NoError(t, createFile(path))
	w, err := openWatermark(path)
	require.NoError(t, err)
	defer w.close()
	j := &Journal{path: path, watermark: w}
	if _, err := j.matchWAL(t.Context()); err != nil || w.wal().file != "" {
		t.Errorf("the note is %+v, %v; a process that is killed before it has written it would leave a WAL that seems to belong to another file", w.wal(), err)
	}
}

// TestTornFileTellsItsID: a process was killed while it copied its WAL into the file,
// which is shorter than its first page says.
func TestTornFileTellsItsID(t *testing.T) {
	live := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	for i := range 30 {
		mustAppend(t, live, journaltest.Put(fmt.Sprint(i), strings.Repeat("x", 9000)))
	}
	path := killed(t, live)
	log, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	for frame := log[32:]; len(frame) >= 24+pageSize; frame = frame[24+pageSize:] {
		if binary.BigEndian.Uint32(frame) == 1 {
			copy(file, frame[24:24+pageSize])
		}
	}
	if pages := int(binary.BigEndian.Uint32(file[28:])); pages*pageSize <= len(file) {
		t.Fatalf("the file has %d bytes, and says %d pages", len(file), pages)
	}
	require.NoError(t, os.WriteFile(path, file, 0o600))
	if b := readBare(context.Background(), path); !b.known || b.id != live.fileID || !b.inUse {
		t.Errorf("the file's header says %+v", b)
	}
	if got := documentsIn(t, path); len(got) != 30 {
		t.Errorf("the journal has %v", got)
	}
}

// TestDamagedNoteOfAWAL is ignored.
func TestDamagedNoteOfAWAL(t *testing.T) {
	live := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	mustAppend(t, live, journaltest.Put("1", "{}"))
	for _, spoilt := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:watermarkWidth] },
		func(b []byte) []byte { return b[:watermarkWidth+20] },
		func(b []byte) []byte { b[watermarkWidth+3] ^= 1; return b },
		func(b []byte) []byte { b[watermarkWidth+40] ^= 1; return b },
	} {
		path := killed(t, live)
		spoil(t, path+watermarkSuffix, spoilt)
		if got := documentsIn(t, path); len(got) != 1 {
			t.Errorf("the journal has %v", got)
		}
	}
}
