package report

import (
	"math/big"
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

// Running says in which slots of time some process ran with the journal, for as long as arrivals are kept.
// What did not come while none ran says nothing of who sends it. The zero value knows nothing, and what is
// not known counts as time in which one ran. It is a value: no method changes its big.Int.
type Running struct {
	last int64    // the last slot, counted from 1970
	ran  *big.Int // bit n: n slots before the last
}

const (
	slot      = 10 * time.Minute
	slotsKept = int64(hoursKept * time.Hour / slot)
)

// RunningNote is the name of the note about Running.
const RunningNote = "running"

// RunningEvery is how often a process notes that it runs.
const RunningEvery = slot / 2

func slotOf(t time.Time) int64 { return t.Unix() / int64(slot/time.Second) }

// At returns Running with one process that runs now. Its clock may differ from that of another process, and
// may be put right: only what is weeks away from it is forgotten.
func (r Running) At(now time.Time) Running {
	later := slotOf(now) - r.last
	if r.ran == nil || later >= slotsKept || -later >= slotsKept {
		return Running{slotOf(now), big.NewInt(1)}
	}
	if later <= 0 {
		return Running{r.last, new(big.Int).SetBit(r.ran, int(-later), 1)}
	}
	ran := new(big.Int).Lsh(r.ran, uint(later)) // #nosec G115 -- bounded above
	ran.SetBit(ran, 0, 1)
	if ran.BitLen() > int(slotsKept) {
		mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(slotsKept)), big.NewInt(1))
		ran.And(ran, mask).SetBit(ran, int(slotsKept)-1, 1) // or earlier
	}
	return Running{slotOf(now), ran}
}

// AwayWithin returns for how long none ran between two times, in whole slots.
func (r Running) AwayWithin(from, until time.Time) (away time.Duration) {
	if r.ran == nil {
		return 0
	}
	oldest := r.last - int64(r.ran.BitLen())
	for s := max(slotOf(from), oldest) + 1; s < min(slotOf(until), r.last); s++ {
		if r.ran.Bit(int(r.last-s)) == 0 {
			away += slot
		}
	}
	return away
}

// Note returns the text of the note.
func (r Running) Note() string { return strconv.FormatInt(r.last, 10) + " " + r.ran.Text(62) }

// RunningIn reads the note.
func RunningIn(notes map[string]string) Running {
	last, ran, _ := strings.Cut(notes[RunningNote], " ")
	at, err := strconv.ParseInt(last, 10, 64)
	set, ok := new(big.Int).SetString(ran, 62)
	if err != nil || !ok || set.Sign() <= 0 || int64(set.BitLen()) > slotsKept {
		return Running{}
	}
	return Running{at, set}
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
