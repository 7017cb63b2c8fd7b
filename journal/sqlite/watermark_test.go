package sqlite

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// openLogged opens a journal and returns what it logged meanwhile.
func openLogged(t *testing.T, path string) (*Journal, *logtest.Buffer) {
	t.Helper()
	log := &logtest.Buffer{}
	return openTest(t, path, journal.Options{Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

// TestLostChangesAreNoticed removes what was acknowledged, by a changed bit in the WAL
// and by an older copy: the next process reports it, and gives out no version twice.
func TestLostChangesAreNoticed(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, path, older string){
		"a bit in the log": func(t *testing.T, path, _ string) {
			spoil(t, path+"-wal", func(b []byte) []byte { b[len(b)-100] ^= 1; return b })
		},
		"the log cut off": func(t *testing.T, path, _ string) {
			spoil(t, path+"-wal", func(b []byte) []byte { return b[:len(b)-100] })
		},
		"an older copy": func(t *testing.T, path, older string) {
			spoil(t, path, func([]byte) []byte { b, _ := os.ReadFile(older); return b })
			if err := os.Remove(path + "-wal"); err != nil {
				t.Fatal(err)
			}
		},
		"the file cut to nothing, without its log": func(t *testing.T, path, _ string) {
			spoil(t, path, func([]byte) []byte { return nil })
			require.NoError(t, os.Remove(path+"-wal"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
			mustAppend(t, live, journaltest.Put("1", "{}"))
			older := backUp(t, live.path, 1)
			stamps, err := live.Append(t.Context(), journaltest.Put("2", "{}"))
			if err != nil {
				t.Fatal(err)
			}
			told, err := live.Feed(t.Context(), report.Cursor{Kinds: report.Kinds()}, 1, 1)
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "journal.db")
			for _, suffix := range []string{"", "-wal", watermarkSuffix} {
				b, err := os.ReadFile(live.path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				journaltest.WriteFile(t, path+suffix, string(b))
			}
			if j, log := openLogged(t, path); log.Count("lacks changes") != 0 {
				t.Fatal("missing changes are reported while none is missing")
			} else if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"", "-wal", watermarkSuffix} {
				b, err := os.ReadFile(live.path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				journaltest.WriteFile(t, path+suffix, string(b))
			}
			lose(t, path, older)
			j, log := openLogged(t, path)
			if log.Count("lacks changes that it had acknowledged") != 1 || log.Count("level=ERROR") != 1 {
				t.Errorf("the log does not report the missing changes: %s", log.String())
			}
			if j.ledger.LastVersion < stamps[0].Version {
				t.Errorf("version %d would be given out twice", stamps[0].Version)
			}
			if _, err := j.Feed(t.Context(), told.Next, 1, 1); !errors.Is(err, report.ErrOtherFeed) {
				t.Errorf("the feed goes on although changes are missing: %v", err)
			}
		})
	}
}

// spoil changes a file.
func spoil(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	journaltest.WriteFile(t, path, string(change(b)))
}

// TestDamagedWatermark: a watermark that makes no sense is ignored.
func TestDamagedWatermark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	for _, text := range []string{"", "9", strings.Repeat("9", 100), "00009999999999999999 00000000\n"} {
		journaltest.WriteFile(t, path+watermarkSuffix, text)
		j, log := openLogged(t, path)
		if log.Count("lacks changes") != 0 || j.ledger.LastVersion > 1<<60 {
			t.Errorf("the watermark %q is used", text)
		}
		mustAppend(t, j, journaltest.Put("1", "{}"))
		if got := j.watermark.read(); text != "" && len(text) < 60 && got != j.ledger.LastVersion {
			t.Errorf("after %q it reads %d, want %d", text, got, j.ledger.LastVersion)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
