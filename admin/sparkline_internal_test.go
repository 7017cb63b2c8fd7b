package admin

import (
	"math"
	"strings"
	"testing"
	"time"

	"riskdex/report"
	"riskdex/search"
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

// TestTrend marks the hour of each delivery, and nothing of what is too old for its days.
func TestTrend(t *testing.T) {
	now := time.Date(2026, 7, 30, 12, 0, 30, 0, time.UTC)
	var was report.Arrivals
	for _, ago := range []time.Duration{26 * 24 * time.Hour, 26 * time.Hour, 3 * time.Hour, 2*time.Hour + time.Minute} {
		was = was.After(now.Add(-ago))
	}
	if got := (Arrived{Arrivals: was}).Trend(now); got.Path != "M27 9h1v1h-1zM26 10h1v1h-1zM1 12h1v1h-1z" || got.Hours != 3 {
		t.Errorf("%+v", got)
	}
	if got := (Arrived{Arrivals: was}).Trend(now.AddDate(0, 0, 3)); got.Hours != 3 || strings.Count(got.Path, "M") != 2 {
		t.Errorf("three days later: %+v", got)
	}
	if (Arrived{}).Trend(now) != nil {
		t.Error("a trend of nothing")
	}
}

// TestDraw fits maps to what is on them.
func TestDraw(t *testing.T) {
	at := func(lat, lon float64, label string) spot {
		return spot{At: search.Point{Latitude: lat, Longitude: lon}, Label: label, Title: label, Risk: len(label)}
	}
	lisbon := &search.Near{Latitude: 38.7, Longitude: -9.1, Kilometres: 50}
	for name, c := range map[string]struct {
		spots  []spot
		within *search.Near
		wide   float64 // about, in units
		labels string
		land   bool
		scale  string
	}{
		"nothing":        {nil, nil, 0, "", false, ""},
		"a city":         {[]spot{at(38.70, -9.10, "1"), at(38.70, -9.10001, "22"), at(38.75, -9.15, "3")}, nil, 1.3, "1, 22;3", false, "2 km"},
		"one place":      {[]spot{at(38.7, -9.1, "1")}, nil, .18, "1", false, "0.5 km"},
		"a circle":       {nil, lisbon, 23.4, "", false, "50 km"},
		"a continent":    {[]spot{at(38.7, -9.1, "1"), at(52.5, 13.4, "2")}, nil, 358.8, "1;2", true, ""},
		"the date line":  {[]spot{at(-18, 178, "1"), at(-14, -171, "2")}, nil, 3600, "1;2", true, ""},
		"both the poles": {[]spot{at(90, 0, "1"), at(-90, 0, "2")}, nil, 3600, "1;2", true, ""},
	} {
		got := draw(c.spots, c.within, closest*kilometre)
		if got == nil {
			got = new(chart)
		}
		var labels []string
		for _, s := range got.Spots {
			labels = append(labels, s.Label)
			if s.X < got.Left || s.X > got.Left+got.Width || s.Y < got.Top || s.Y > got.Top+got.Height {
				t.Errorf("%s: %s is off the map", name, s.Label)
			}
		}
		if math.Abs(got.Width-c.wide) > .02*c.wide || strings.Join(labels, ";") != c.labels || got.Land != c.land || got.ScaleText != c.scale {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
