package admin

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"riskdex/report"
)

// ArrivalsJournal is what Arrivals need of the journal.
type ArrivalsJournal interface {
	Journal
	Note(ctx context.Context, name, value string) error
}

// Arrivals notes in the journal when deliveries were accepted, so that every process tells it, and
// after a restart too. Its methods may be called concurrently.
type Arrivals struct {
	journal  ArrivalsJournal
	expected Expected
	log      *slog.Logger
	wake     chan struct{}

	mu      sync.Mutex
	changed map[string]time.Time // by the name of the note

	written map[string]report.Arrivals // of Write alone
}

// A note is written at once, and then at most once in notesEvery. A crash may lose as much of the
// time of the last delivery.
const notesEvery = time.Second

// mostSenders bounds the senders that are told apart, but for those that are expected. The names in
// certificates may be any.
const mostSenders = 100

// longestSender is how many bytes are kept of the name of a sender that is not expected.
const longestSender = 200

// NewArrivals returns arrivals that are kept while Run runs.
func NewArrivals(journal ArrivalsJournal, expected Expected, log *slog.Logger) *Arrivals {
	return &Arrivals{journal: journal, expected: expected, log: log, wake: make(chan struct{}, 1), changed: map[string]time.Time{}, written: map[string]report.Arrivals{}}
}

// Note takes note of an answer, if it was one to a delivery that was accepted.
func (a *Arrivals) Note(one report.Answered) {
	if one.Kind == "" || one.Status != http.StatusOK && one.Status != http.StatusAccepted {
		return
	}
	a.mu.Lock()
	a.changed[report.ArrivalsNote(one.Kind)] = one.At
	name := one.Sender
	if !a.expects(name) {
		name = strings.ToValidUTF8(strings.ReplaceAll(name[:min(len(name), longestSender)], "\x00", ""), "")
	}
	// More than are kept must not pile up while the journal cannot be written.
	if note := report.SenderNote(name); name != "" && (a.expects(name) || !a.changed[note].IsZero() || len(a.changed) < 2*mostSenders) {
		a.changed[note] = one.At
	}
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *Arrivals) expects(sender string) bool { return a.expected[sender] > 0 }

// Run writes what is noted until ctx is done, and the rest of it then: also what could not be written
// before. It notes that this process runs, too.
func (a *Arrivals) Run(ctx context.Context) {
	for running := time.After(0); ; {
		select {
		case <-ctx.Done():
			a.Write(context.WithoutCancel(ctx))
			a.NoteRunning(context.WithoutCancel(ctx), time.Now())
			return
		case <-running:
			a.NoteRunning(ctx, time.Now())
			running = time.After(report.RunningEvery)
		case <-a.wake:
		}
		a.Write(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(notesEvery):
		}
	}
}

// NoteRunning notes that a process runs now.
func (a *Arrivals) NoteRunning(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, statsTimeout)
	defer cancel()
	stats, err := a.journal.Stats(ctx)
	if err == nil {
		err = a.journal.Note(ctx, report.RunningNote, report.RunningIn(stats.Notes).At(now).Note())
	}
	if err != nil {
		a.log.Debug("that riskdex runs could not be noted in the journal", "error", err)
	}
}

// Write writes what was noted since the last call. What other processes wrote is joined with it once
// an hour: within one, they add nothing but the last arrival.
func (a *Arrivals) Write(ctx context.Context) {
	a.mu.Lock()
	changed := a.changed
	a.changed = map[string]time.Time{}
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, statsTimeout)
	defer cancel()
	var notes map[string]string
	for name, at := range changed {
		was := a.written[name]
		if !was.Last.Truncate(time.Hour).Equal(at.Truncate(time.Hour)) {
			if notes == nil {
				stats, err := a.journal.Stats(ctx)
				if err != nil {
					a.failed(changed, err)
					return
				}
				notes = maps.Clone(stats.Notes)
			}
			was = was.Merge(report.ArrivalsIn(notes, name))
			if sender, is := report.SenderOf(name); is && was.Last.IsZero() && !a.expects(sender) && len(sendersIn(notes)) >= mostSenders {
				continue
			}
		}
		is := was.After(at)
		if err := a.journal.Note(ctx, name, is.Note()); err != nil {
			a.failed(changed, err)
			return
		}
		a.written[name] = is
		if notes != nil {
			notes[name] = is.Note()
		}
	}
}

// failed leaves for the next time what could not be written.
func (a *Arrivals) failed(changed map[string]time.Time, err error) {
	a.log.Warn("the time of the last delivery could not be noted in the journal", "error", err)
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, at := range changed {
		if a.changed[name].Before(at) {
			a.changed[name] = at
		}
	}
}

func sendersIn(notes map[string]string) (names []string) {
	for note := range notes {
		if name, is := report.SenderOf(note); is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Expected says how often deliveries are expected: by the name of a kind or of a sender, or of every
// kind, by an empty name.
type Expected map[string]time.Duration

// Arrived says when a delivery of a kind, or from a sender, was last accepted, and by when the next
// one is expected.
type Arrived struct {
	Kind     report.Kind     `json:"kind,omitempty"`
	Sender   string          `json:"sender,omitempty"`
	Last     *time.Time      `json:"last,omitempty"`        // nil if none was ever accepted
	Expected *time.Time      `json:"expected_by,omitempty"` // nil if it is not known how often they come
	Because  string          `json:"because,omitempty"`     // it is expected by then
	Arrivals report.Arrivals `json:"-"`
}

// name is the kind or the sender.
func (a Arrived) name() string { return cmp.Or(string(a.Kind), "the sender "+a.Sender) }

// arrived reads from the notes what is known of each kind and of each sender, and of what is
// expected. Where nothing ever came, it is expected from the start of the process on. The time
// in which none ran does not count.
func (e Expected) arrived(notes map[string]string, started, now time.Time) (kinds map[report.Kind]Arrived, senders []Arrived) {
	ran := report.RunningIn(notes).At(now)
	of := func(note string, a Arrived, every time.Duration, usual bool) Arrived {
		was := report.ArrivalsIn(notes, note)
		a.Arrivals = was
		if !was.Last.IsZero() {
			a.Last = &was.Last
		}
		switch by := was.ExpectedBy(ran); {
		case every > 0 && was.Last.IsZero():
			a.Expected = new(started.Add(every).UTC())
		case every > 0:
			a.Expected = new(was.Last.Add(every))
		case usual && !by.IsZero():
			a.Expected = &by
			a.Because = fmt.Sprintf("in the four weeks before, the longest pause was of %s", shortly(was.LongestPause(ran)))
		}
		if every > 0 {
			a.Because = "--expect-every says " + shortly(every)
		}
		if a.Last == nil || a.Expected == nil {
			return a
		}
		if away := ran.AwayWithin(*a.Last, now); away > 0 {
			a.Expected = new(a.Expected.Add(away))
			a.Because += fmt.Sprintf(", and no riskdex ran for %s of the time since", shortly(away))
		}
		return a
	}
	kinds = map[report.Kind]Arrived{}
	for _, kind := range report.Kinds() {
		every, stated := e[string(kind)]
		if !stated {
			every = e[""]
		}
		kinds[kind] = of(report.ArrivalsNote(kind), Arrived{Kind: kind}, every, true)
	}
	names := sendersIn(notes)
	for name := range maps.Keys(e) {
		if _, err := report.ParseKind(name); err != nil && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		// That one credential is not used any more is not a trouble unless it is expected.
		senders = append(senders, of(report.SenderNote(name), Arrived{Sender: name}, e[name], false))
	}
	return kinds, senders
}

// overdue reports whether one was expected before now.
func (a Arrived) overdue(now time.Time) bool { return a.Expected != nil && now.After(*a.Expected) }

// LastDelivery returns the last of all that was accepted; nil if nothing was.
func (st Status) LastDelivery() (last *time.Time) {
	for _, k := range st.Kinds {
		if at := k.Delivered.Last; at != nil && (last == nil || at.After(*last)) {
			last = at
		}
	}
	return last
}
