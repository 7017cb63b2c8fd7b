// Package committest has what the tests of both engines use: short forms, and tests of the
// rules that need the queue of a journal, which journaltest does not see.
package committest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"riskdex/report"
)

// Put delivers an advisory.
func Put(id string, body string) report.Delivery {
	return report.Delivery{Changes: []report.Change{{
		Key: report.Key{Kind: report.Advisories, ID: report.ID(id)}, Op: report.Index, Body: []byte(body),
	}}}
}

// Delete deletes an advisory.
func Delete(id string) report.Delivery {
	return report.Delivery{Changes: []report.Change{{
		Key: report.Key{Kind: report.Advisories, ID: report.ID(id)}, Op: report.Delete,
	}}}
}

// PutCity delivers a city.
func PutCity(id, code, body string) report.Delivery {
	return report.Delivery{Changes: []report.Change{{
		Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: report.Index, Code: code, Body: []byte(body),
	}}}
}

// Must ends a test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Timeout is how long a test waits for what must come at some time.
const Timeout = 30 * time.Second

// Eventually waits until something is so.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(Timeout)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("it never came true that %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// WriteFile makes a file.
func WriteFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// CheckFolder checks that dir has these files, with the text that write gave them.
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
			t.Errorf("%s: %q, %v", e.Name(), text, err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

// CPUTime is what this process has used of the processors.
func CPUTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
