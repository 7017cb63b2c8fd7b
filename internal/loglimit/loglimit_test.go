package loglimit_test

import (
	"testing"
	"time"

	"riskdex/internal/loglimit"
)

func TestLimiter(t *testing.T) {
	start := time.Now()
	l := loglimit.Limiter{Every: time.Minute}
	for i, c := range []struct {
		message    string
		after      time.Duration
		ok         bool
		suppressed int
	}{
		{"a", 0, true, 0},
		{"a", 0, false, 0},
		{"b", time.Second, true, 0}, // each by itself
		{"a", time.Minute - 1, false, 0},
		{"a", time.Minute, true, 2},
		{"a", time.Minute + time.Second, false, 0},
		{"a", 0, true, 1}, // the clock was set back
		{"a", time.Second, false, 0},
	} {
		if ok, suppressed := l.Allow(c.message, start.Add(c.after)); ok != c.ok || suppressed != c.suppressed {
			t.Errorf("call %d, %s after %v: %v, %d suppressed; want %v, %d", i, c.message, c.after, ok, suppressed, c.ok, c.suppressed)
		}
	}
}
