// Package journaltest has what the tests of journals share.
package journaltest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// Put returns a delivery of an advisory.
func Put(id string, body string) report.Delivery {
	return report.Delivery{Changes: []report.Change{{
		Key: report.Key{Kind: report.Advisories, ID: report.ID(id)}, Op: report.Index, Body: []byte(body),
	}}}
}

// Delete returns a delivery that deletes an advisory.
func Delete(id string) report.Delivery {
	return report.Delivery{Changes: []report.Change{{
		Key: report.Key{Kind: report.Advisories, ID: report.ID(id)}, Op: report.Delete,
	}}}
}

// PutCity returns a delivery of a city.
func PutCity(id, code, body string) report.Delivery {
	return report.Delivery{Changes: []report.Change{{
		Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: report.Index, Code: code, Body: []byte(body),
	}}}
}

// Code returns the code of a city, for each i below 26³ another.
func Code(i int) string {
	return string([]byte{'A' + byte(i/26/26%26), 'A' + byte(i/26%26), 'A' + byte(i%26)})
}

// Timeout bounds every wait of a test.
const Timeout = 30 * time.Second

// Eventually waits until ok returns true.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, Timeout, what, is)
}

// LossOf returns what a journal says it may lack.
func LossOf(t testing.TB, j interface {
	Stats(ctx context.Context) (report.Stats, error)
}) report.Loss {
	t.Helper()
	s, err := j.Stats(t.Context())
	require.NoError(t, err)
	return s.Loss
}

// WriteFile writes a file.
func WriteFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// BreakPages damages the pages of an SQLite file that have only text of a body of the letter z, so
// that SQLite cannot follow them.
func BreakPages(t *testing.T, path string) {
	t.Helper()
	const pageSize = 4096
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	full, broken := bytes.Repeat([]byte("z"), pageSize-4), 0
	for page := range slices.Chunk(file, pageSize) {
		if bytes.Equal(page[4:], full) {
			copy(page, "\xff\xff\xff\xff") // the number of the next page
			broken++
		}
	}
	if broken == 0 {
		t.Fatal("no page has only text of the body")
	}
	WriteFile(t, path, string(file))
}

// CheckFolder checks that dir has exactly these files, with these texts.
func CheckFolder(t *testing.T, dir string, want []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || string(text) != "mine" {
			t.Errorf("the file %s has %q, %v; want it unchanged", e.Name(), text, err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

// CPUTime returns the CPU time that this process has used.
func CPUTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
