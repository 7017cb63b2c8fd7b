package admin

import (
	"fmt"
	"strings"
	"time"
)

// line is a small chart of the lag of the last hour.
type line struct {
	Runs          []string // the points of one polyline each, with gaps in between
	Width, Height int
	Worst         float64 // seconds
	Since         string  // the period that is known: "in the last hour", or since when
}

const (
	lineWidth, lineHeight = 240, 32
	lineMargin            = 2
	// leastScale is the smallest lag, in seconds, that fills the height, so that a lag of a
	// second or two stays low.
	leastScale = 10
)

// sparkline draws the minutes up to now.
func sparkline(history []Sample, now time.Time) line {
	l := line{Width: lineWidth, Height: lineHeight}
	for _, s := range history {
		l.Worst = max(l.Worst, s.LagSeconds)
	}
	scale := max(l.Worst, leastScale)
	first := now.Truncate(time.Minute).Add(-(historyMinutes - 1) * time.Minute)
	l.Since = "in the last hour"
	if len(history) > 0 && history[0].Minute.After(first.Add(time.Minute)) {
		l.Since = "since " + history[0].Minute.UTC().Format("15:04") + " UTC" // the process does not know what was before its start
	}
	var run []string
	end := func() {
		if len(run) == 1 {
			run = append(run, run[0]) // a line between equal points is drawn as a dot
		}
		if len(run) > 0 {
			l.Runs = append(l.Runs, strings.Join(run, " "))
		}
		run = nil
	}
	for i, s := range history {
		if i > 0 && s.Minute.Sub(history[i-1].Minute) > time.Minute { // #nosec G602 -- i is at least 1
			end()
		}
		minute := s.Minute.Sub(first).Minutes()
		if minute < 0 {
			continue
		}
		x := lineMargin + minute*(lineWidth-2*lineMargin)/(historyMinutes-1)
		y := lineHeight - lineMargin - s.LagSeconds*(lineHeight-2*lineMargin)/scale
		run = append(run, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	end()
	return l
}

// trend is a chart of four weeks: a column for each day up to today, and in it a mark for each hour in
// which a delivery was accepted.
type trend struct {
	Path  string
	Hours int
}

// Trend draws when deliveries came; nil if nothing ever came. What is older than four weeks is counted
// and not drawn.
func (a Arrived) Trend(now time.Time) *trend {
	if a.Arrivals.Last.IsZero() {
		return nil
	}
	const days, day = 28, 24 * time.Hour
	t, first := new(trend), now.UTC().Truncate(day).AddDate(0, 0, 1-days)
	var path strings.Builder
	for ago := range a.Arrivals.Hours {
		t.Hours++
		if at := a.Arrivals.Last.Add(-time.Duration(ago) * time.Hour).Sub(first); at >= 0 {
			fmt.Fprintf(&path, "M%d %dh1v1h-1z", at/day, at%day/time.Hour)
		}
	}
	t.Path = path.String()
	return t
}
