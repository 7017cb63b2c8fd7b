package admin

import (
	"strings"
	"testing"
	"time"
)

func TestSparkline(t *testing.T) {
	now := time.Date(2026, 7, 30, 12, 0, 30, 0, time.UTC)
	at := func(minutesAgo int, lag float64) Sample {
		return Sample{Minute: now.Truncate(time.Minute).Add(-time.Duration(minutesAgo) * time.Minute), LagSeconds: lag}
	}
	for name, c := range map[string]struct {
		history []Sample
		runs    []string
		worst   float64
	}{
		"nothing":      {nil, nil, 0},
		"one minute":   {[]Sample{at(0, 0)}, []string{"238.0,30.0 238.0,30.0"}, 0},
		"a small lag":  {[]Sample{at(59, 0), at(58, 5)}, []string{"2.0,30.0 6.0,16.0"}, 5},
		"a large lag":  {[]Sample{at(59, 0), at(58, 3600)}, []string{"2.0,30.0 6.0,2.0"}, 3600},
		"a gap":        {[]Sample{at(59, 0), at(57, 0), at(56, 0)}, []string{"2.0,30.0 2.0,30.0", "10.0,30.0 14.0,30.0"}, 0},
		"before that":  {[]Sample{at(60, 0), at(59, 0)}, []string{"2.0,30.0 2.0,30.0"}, 0},
		"a long while": {[]Sample{at(500, 0)}, nil, 0},
	} {
		got := sparkline(c.history, now)
		if strings.Join(got.Runs, ";") != strings.Join(c.runs, ";") || got.Worst != c.worst {
			t.Errorf("%s: %q, worst %v", name, got.Runs, got.Worst)
		}
	}
}

// TestLineSaysSinceWhen: the line says if the process has been running for less than the hour.
func TestLineSaysSinceWhen(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	for ago, want := range map[int]string{59: "in the last hour", 58: "in the last hour", 57: "since 11:03 UTC", 0: "since 12:00 UTC"} {
		if got := sparkline([]Sample{{Minute: now.Truncate(time.Minute).Add(-time.Duration(ago) * time.Minute)}}, now).Since; got != want {
			t.Errorf("with %d minutes: %q, want %q", ago, got, want)
		}
	}
}

func TestLagText(t *testing.T) {
	for want, seconds := range map[string]float64{"none": 0, "under 1 s": .4, "59 s": 59.9, "1 min 0 s": 60, "59 min 59 s": 3599, "25 h 1 min": 90060} {
		if got := lagText(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
}

func TestShortly(t *testing.T) {
	for want, d := range map[string]time.Duration{"24h": 24 * time.Hour, "1h30m": 90 * time.Minute, "10m": 10 * time.Minute, "10s": 10 * time.Second, "1h0m5s": time.Hour + 5*time.Second} {
		if got := shortly(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
