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
// limit only says when to give up, and is not a measure of speed. It asks less often the longer it
// waits and the longer ok takes, which leaves the machine to what it waits for.
func Eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	began := time.Now()
	for asked := began; !ok(); asked = time.Now() {
		waited := time.Since(began)
		if waited > limit {
			t.Fatalf("timed out after %v waiting until %s", limit, what)
		}
		time.Sleep(max(5*time.Millisecond, min(waited/20, 200*time.Millisecond), min(3*time.Since(asked), time.Second)))
	}
}
