package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Turns says that the address of Elasticsearch leads to several places by turns, such as behind a
// balancer with the nodes of two clusters, or that those of several processes do. The journal keeps it as a note, and never removes it: of
// what counts as settled by then, nobody knows which place has it.
type Turns struct {
	At     time.Time // when a place last answered again after another one did; zero if none has
	Places []string  // that answered by turns
}

// TurnsLast is how long one place must have answered alone to be the one that stays.
const TurnsLast = 10 * time.Minute

// TurnsNote is the name of the note.
const TurnsNote = "turns"

// Note returns the text of the note.
func (t Turns) Note() string {
	return fmt.Sprintf("%d %s", t.At.UnixMicro(), strings.Join(t.Places, " "))
}

// TurnsIn reads the note.
func TurnsIn(notes map[string]string) Turns {
	at, places, _ := strings.Cut(notes[TurnsNote], " ")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return Turns{}
	}
	return Turns{time.UnixMicro(n).UTC(), strings.Fields(places)}
}

// Last reports whether places answer by turns, or did until a while ago.
func (t Turns) Last(now time.Time) bool { return !t.At.IsZero() && now.Sub(t.At) < TurnsLast }

// Wrong reports whether searches may still lack something because of it: until everything has been
// sent to the place that stays.
func (t Turns) Wrong(notes map[string]string, now time.Time) bool {
	if t.At.IsZero() || t.Last(now) {
		return !t.At.IsZero()
	}
	return slices.ContainsFunc(Kinds(), func(kind Kind) bool { return !strings.HasSuffix(notes[PlaceNote(kind)], t.since()) })
}

const (
	byTurns = " by turns"
	sending = " sending"
)

func (t Turns) since() string { return fmt.Sprintf(" since %d", t.At.UnixMicro()) }

// NoteOfPlace returns the text of a PlaceNote, given the one before and how many documents of the kind
// are still sent again, and whether everything has to be sent: to another place; once if places begin
// to answer by turns; and once if one of them has stayed.
func (t Turns) NoteOfPlace(before, place string, resending int, now time.Time) (note string, resend bool) {
	stayed := place + t.since()
	switch {
	case t.At.IsZero():
		return place, before != place
	case t.Last(now):
		return place + byTurns, !strings.HasSuffix(before, byTurns)
	case before == stayed, before == stayed+sending && resending == 0:
		return stayed, false
	}
	return stayed + sending, before != stayed+sending
}
