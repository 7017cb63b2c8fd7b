// Package require ends a test that cannot go on.
package require

import (
	"testing"
	"time"
)

// NoError ends the test if there is an error. Only the goroutine of the test may call it.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits until ok returns true, and ends the test if that takes longer than limit. The
// limit only says when to give up, and is no measure of speed.
func Eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("timed out after %v waiting until %s", limit, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
