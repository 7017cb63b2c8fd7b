package report

import (
	"testing"
	"time"
)

// feed returns the arrivals at these hours of a day, on these days of the week, in the weeks that
// end on a Monday at midnight.
func feed(weeks int, days []time.Weekday, hours []int) (a Arrivals) {
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for at := monday.AddDate(0, 0, -7*weeks); at.Before(monday); at = at.Add(time.Hour) {
		for _, d := range days {
			for _, h := range hours {
				if at.Weekday() == d && at.Hour() == h {
					a = a.After(at.Add(10 * time.Minute))
				}
			}
		}
	}
	return a
}

var (
	workdays = []time.Weekday{1, 2, 3, 4, 5}
	everyDay = []time.Weekday{0, 1, 2, 3, 4, 5, 6}
)

func from(first, last int) (hours []int) {
	for h := first; h <= last; h++ {
		hours = append(hours, h)
	}
	return hours
}

// TestSilenceIsComparedWithTheTimeBeforeIt: a silence is told once it is clearly longer than any
// pause of the four weeks before it, and however long it then lasts.
func TestSilenceIsComparedWithTheTimeBeforeIt(t *testing.T) {
	around := feed(2, everyDay, []int{6})
	for _, ago := range []int{24, 48, 72} {
		around.hours.SetBit(around.hours, ago, 0)
	}
	for _, c := range []struct {
		what string
		of   Arrivals
		ran  Running
		told time.Duration // after the last arrival; 0 is never
	}{
		{"never rests", feed(2, everyDay, from(0, 23)), Running{}, 3 * time.Hour},
		{"once a day", feed(2, everyDay, []int{6}), Running{}, 30 * time.Hour},
		{"office hours", feed(3, workdays, from(9, 17)), Running{}, 80 * time.Hour},
		{"once a week", feed(4, []time.Weekday{2}, []int{9}), Running{}, 0}, // of four arrivals
		{"twice a week", feed(4, []time.Weekday{2, 5}, []int{9}), Running{}, 120 * time.Hour},
		{"a few days old", feed(1, workdays, from(9, 17)), Running{}, 0},
		{"filled once", feed(1, []time.Weekday{1}, []int{9}), Running{}, 0},
		{"nothing ever", Arrivals{}, Running{}, 0},
		{"once a day, with riskdex away for three", around, Running{}.At(around.Last.Add(-80 * time.Hour)).At(around.Last.Add(-6 * time.Hour)), 30 * time.Hour},
	} {
		by := c.of.ExpectedBy(c.ran)
		if c.told == 0 && !by.IsZero() || c.told > 0 && by.Sub(c.of.Last) != c.told {
			t.Errorf("%s: the last came at %v, and is told at %v, want %v later", c.what, c.of.Last, by, c.told)
		}
	}
}

// TestArrivalsOfSeveralProcessesAreOne: each has only seen its own, in whatever order they are put
// together, and what is older than four weeks is forgotten.
func TestArrivalsOfSeveralProcessesAreOne(t *testing.T) {
	var all, a, b Arrivals
	for n := range 1000 {
		at := time.Unix(1_800_000_000, 0).Add(time.Duration(n) * 40 * time.Minute).UTC()
		all = all.After(at)
		if n%3 == 0 {
			a = a.After(at)
		} else {
			b = b.After(at)
		}
	}
	for _, got := range []Arrivals{a.Merge(b), b.Merge(a), b.Merge(a).Merge(a), all.Merge(Arrivals{}), Arrivals{}.Merge(all)} {
		if got.Note() != all.Note() {
			t.Errorf("%s, want %s", got.Note(), all.Note())
		}
	}
	if again := ArrivalsIn(map[string]string{"x": all.Note()}, "x"); again.Note() != all.Note() || !again.Last.Equal(all.Last) {
		t.Errorf("read again: %v", again)
	}
	if n := all.hours.BitLen(); n > hoursKept {
		t.Errorf("%d hours are kept", n)
	}
	for _, bad := range []string{"", "1", "x y", "1 !", "1 -1", "1 0"} {
		if got := ArrivalsIn(map[string]string{"x": bad}, "x"); got.hours != nil || !got.Last.IsZero() {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
	late := all.After(all.Last.Add(60 * 24 * time.Hour))
	if late.hours.BitLen() != 1 || late.ExpectedBy(Running{}) != (time.Time{}) {
		t.Errorf("after two months: %v", late)
	}
	if early := all.After(all.Last.Add(-time.Minute)); !early.Last.Equal(all.Last) {
		t.Errorf("by a clock that was put back: %v", early)
	}
}

// TestAbsencesOfRiskdexAreKept, whatever clocks say.
func TestAbsencesOfRiskdexAreKept(t *testing.T) {
	start := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	read := func(r Running) Running { return RunningIn(map[string]string{RunningNote: r.Note()}) }
	runs := func(r Running, from, until time.Time) Running {
		for ; !from.After(until); from = from.Add(RunningEvery) {
			r = read(r.At(from))
		}
		return r
	}
	const night = 8 * time.Hour
	evening, morning := start.Add(night), start.Add(2*night)
	noon := morning.Add(4 * time.Hour)
	r := runs(runs(Running{}, start, evening), morning, noon)
	check := func(what string, r Running, from, until time.Time, want time.Duration) {
		t.Helper()
		if got := r.AwayWithin(from, until); got > want || got < want-2*slot {
			t.Errorf("%s: away for %s, want %s", what, got, want)
		}
	}
	check("a night", r, start, noon, night)
	check("in a part of it", r, evening.Add(time.Hour), morning.Add(-time.Hour), night-2*time.Hour)
	check("before anything is known", r, start.AddDate(0, 0, -20), noon, night)
	check("a process whose clock is behind", runs(r, start, start.Add(time.Hour)), start, noon, night)
	ahead := runs(runs(r, noon.Add(5*time.Hour), noon.Add(6*time.Hour)), noon, noon.Add(9*time.Hour))
	check("a clock that was put right", ahead, start, noon.Add(9*time.Hour), night)
	for _, wrong := range []time.Time{time.Unix(0, 0), start.AddDate(10, 0, 0)} {
		check("a clock that was years away", runs(r.At(wrong), noon, noon.Add(time.Hour)), start, noon.Add(time.Hour), 0)
	}
	loop := r
	for at := noon; at.Before(noon.Add(night)); at = at.Add(slot) {
		loop = loop.At(at) // and ends at once
	}
	check("starts again and again", loop, noon, noon.Add(night), 0)
	late := runs(r, noon.AddDate(0, 0, 27), noon.AddDate(0, 0, 28))
	check("four weeks", late, start, noon.AddDate(0, 0, 28), 27*24*time.Hour)
	if n := late.ran.BitLen(); int64(n) > slotsKept {
		t.Errorf("%d slots are kept", n)
	}
	for _, bad := range []string{"", "x", "1", "1 0", "1 -1", "1 !"} {
		if got := RunningIn(map[string]string{RunningNote: bad}); got.ran != nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}
