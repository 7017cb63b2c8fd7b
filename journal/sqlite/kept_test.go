package sqlite

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/journal/internal/committest"
)

// Journals that the programs of older schemas have written are opened, read and continued.
func TestKeptJournals(t *testing.T) {
	files, err := filepath.Glob("testdata/schema-*.db.gz")
	require.NoError(t, err)
	if len(files) < 6 {
		t.Errorf("the journals kept are %q", files)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".db.gz"), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			unpack(t, name, path)
			committest.KeptJournal(t, openTest(t, path, journal.Options{}))
		})
	}
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	require.NoError(t, err)
	defer in.Close()
	content, err := gzip.NewReader(in)
	require.NoError(t, err)
	out, err := os.Create(to)
	require.NoError(t, err)
	_, err = io.Copy(out, content)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}
