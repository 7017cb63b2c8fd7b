package report

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Arrivals says when deliveries of one kind, or from one sender, were accepted: the last, and in
// which hours of the four weeks before it there was one. The journal keeps it as a note. The zero
// value is of what never came. It is a value: no method changes its big.Int.
type Arrivals struct {
	Last  time.Time
	hours *big.Int // bit n: n hours before the hour of Last
}

const hoursKept = 4 * 7 * 24

// A pause is usual only of a feed that is known: for a week, so that a night and a weekend are among
// its pauses, and by a few of them.
const (
	knownFor   = 7 * 24 // hours
	knownHours = 5
)

// After returns the arrivals with one more.
func (a Arrivals) After(at time.Time) Arrivals {
	return a.Merge(Arrivals{Last: at.UTC(), hours: big.NewInt(1)})
}

// Merge returns the arrivals that either has.
func (a Arrivals) Merge(b Arrivals) Arrivals {
	if a.Last.Before(b.Last) {
		a, b = b, a
	}
	if b.hours == nil {
		return a
	}
	apart := hourOf(a.Last) - hourOf(b.Last)
	if apart >= hoursKept {
		return a
	}
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), hoursKept), big.NewInt(1))
	older := new(big.Int).Lsh(b.hours, uint(apart)) // #nosec G115 -- b is not later, and apart is bounded
	a.hours = older.And(older.Or(older, a.hours), mask)
	return a
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// Hours yields the hours in which something arrived, by how many hours they were before that of the last.
func (a Arrivals) Hours(yield func(ago int) bool) {
	for n := range a.bits() {
		if a.hours.Bit(n) == 1 && !yield(n) {
			return
		}
	}
}

func (a Arrivals) bits() int {
	if a.hours == nil {
		return 0
	}
	return a.hours.BitLen()
}

// LongestPause returns the longest time without an arrival before the last, to the hour; 0 if too
// little is known. What comes after the last does not change it, nor does the time in which none ran.
func (a Arrivals) LongestPause(ran Running) (longest time.Duration) {
	before, known := 0, 0
	end := a.Last.Truncate(time.Hour)
	hour := func(ago int) time.Time { return end.Add(-time.Duration(ago) * time.Hour) }
	for n := range a.Hours {
		pause := time.Duration(n-before) * time.Hour
		longest, before = max(longest, pause-ran.AwayWithin(hour(n-1), hour(before))), n
		known++
	}
	if a.bits() <= knownFor || known < knownHours {
		return 0
	}
	return longest
}

// ExpectedBy returns when the next arrival is overdue: after a pause that is clearly longer than any
// before. It is zero if too little is known.
func (a Arrivals) ExpectedBy(ran Running) time.Time {
	longest := a.LongestPause(ran)
	if longest == 0 {
		return time.Time{}
	}
	return a.Last.Add(longest + max(longest/4, 2*time.Hour)) // an hour each, because of what is known to the hour only
}

// Running says until when some process ran with the journal, and when before that none did. What did not
// come while none ran says nothing of who sends it.
type Running struct {
	Until time.Time
	Away  []Absence
}

// Absence is a time in which no process ran.
type Absence struct{ From, Until time.Time }

// The longest absences are kept: one of each night, for twice as long as arrivals are.
const (
	mostAway = 60
	awayKept = 2 * hoursKept * time.Hour
)

// RunningNote is the name of the note about Running.
const RunningNote = "running"

// RunningEvery is how often a process notes that it runs. Of twice as long without it, none ran.
const RunningEvery = 20 * time.Second

// At returns Running with one process that runs now. Its clock may be behind that of another process.
func (r Running) At(now time.Time) Running {
	since := now.Sub(r.Until)
	if since < 0 && since > -time.Hour {
		return r
	}
	away := slices.Clone(r.Away)
	if !r.Until.IsZero() && since > 2*RunningEvery {
		away = append(away, Absence{r.Until, now})
	}
	away = slices.DeleteFunc(away, func(a Absence) bool { return a.Until.After(now) || now.Sub(a.Until) > awayKept })
	if len(away) > mostAway {
		length := func(a Absence) time.Duration { return a.Until.Sub(a.From) }
		shortest := slices.MinFunc(away, func(a, b Absence) int { return cmp.Compare(length(a), length(b)) })
		away = slices.DeleteFunc(away, func(a Absence) bool { return a == shortest })
	}
	return Running{now, away}
}

// AwayWithin returns for how long none ran between two times.
func (r Running) AwayWithin(from, until time.Time) (away time.Duration) {
	for _, a := range r.Away {
		begin, end := a.From, a.Until
		if begin.Before(from) {
			begin = from
		}
		if end.After(until) {
			end = until
		}
		away += max(0, end.Sub(begin))
	}
	return away
}

// Note returns the text of the note.
func (r Running) Note() string {
	times := []string{strconv.FormatInt(r.Until.Unix(), 10)}
	for _, a := range r.Away {
		times = append(times, strconv.FormatInt(a.From.Unix(), 10), strconv.FormatInt(a.Until.Unix(), 10))
	}
	return strings.Join(times, " ")
}

// RunningIn reads the note.
func RunningIn(notes map[string]string) (r Running) {
	var times []time.Time
	for text := range strings.FieldsSeq(notes[RunningNote]) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Running{}
		}
		times = append(times, time.Unix(seconds, 0).UTC())
	}
	if len(times)%2 == 0 {
		return Running{}
	}
	r.Until = times[0]
	for pair := range slices.Chunk(times[1:], 2) {
		r.Away = append(r.Away, Absence{pair[0], pair[1]})
	}
	return r
}

// The names of the notes begin with these.
const (
	arrivalsOf   = "arrivals:kind:"
	arrivalsFrom = "arrivals:sender:"
)

// ArrivalsNote and SenderNote return the name of the note about a kind, or a sender.
func ArrivalsNote(kind Kind) string       { return arrivalsOf + string(kind) }
func SenderNote(sender string) string     { return arrivalsFrom + sender }
func SenderOf(note string) (string, bool) { return strings.CutPrefix(note, arrivalsFrom) }

// Note returns the text of the note.
func (a Arrivals) Note() string {
	if a.hours == nil {
		return ""
	}
	return strconv.FormatInt(a.Last.UnixMicro(), 10) + " " + a.hours.Text(62)
}

// ArrivalsIn reads the note of that name.
func ArrivalsIn(notes map[string]string, name string) Arrivals {
	last, hours, _ := strings.Cut(notes[name], " ")
	at, err := strconv.ParseInt(last, 10, 64)
	set, ok := new(big.Int).SetString(hours, 62)
	if err != nil || !ok || set.Sign() <= 0 || set.BitLen() > hoursKept {
		return Arrivals{}
	}
	return Arrivals{time.UnixMicro(at).UTC(), set}
}
