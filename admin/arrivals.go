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
	journal ArrivalsJournal
	log     *slog.Logger
	wake    chan struct{}

	mu      sync.Mutex
	changed map[string]time.Time // by the name of the note

	written map[string]report.Arrivals // of Write alone
}

// A note is written at once, and then at most once in notesEvery. A crash may lose as much of the
// time of the last delivery.
const notesEvery = time.Second

// mostSenders bounds the senders that are told apart. The names in certificates may be any.
const mostSenders = 100

// longestSender is how many bytes are kept of the name of a sender.
const longestSender = 200

// NewArrivals returns arrivals that are kept while Run runs.
func NewArrivals(journal ArrivalsJournal, log *slog.Logger) *Arrivals {
	return &Arrivals{journal: journal, log: log, wake: make(chan struct{}, 1), changed: map[string]time.Time{}, written: map[string]report.Arrivals{}}
}

// Note takes note of an answer, if it was one to a delivery that was accepted.
func (a *Arrivals) Note(one report.Answered) {
	if one.Kind == "" || one.Status != http.StatusOK && one.Status != http.StatusAccepted {
		return
	}
	a.mu.Lock()
	a.changed[report.ArrivalsNote(one.Kind)] = one.At
	if one.Sender != "" {
		a.changed[report.SenderNote(strings.ToValidUTF8(strings.ReplaceAll(one.Sender[:min(len(one.Sender), longestSender)], "\x00", ""), ""))] = one.At
	}
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Run writes what is noted until ctx is done, and the rest of it then.
func (a *Arrivals) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			a.Write(context.WithoutCancel(ctx))
			return
		case <-a.wake:
			a.Write(ctx)
		}
		select {
		case <-ctx.Done():
		case <-time.After(notesEvery):
		}
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
				notes = stats.Notes
			}
			was = was.Merge(report.ArrivalsIn(notes, name))
			if _, isSender := report.SenderOf(name); isSender && was.Last.IsZero() && len(sendersIn(notes)) >= mostSenders {
				continue
			}
		}
		is := was.After(at)
		if err := a.journal.Note(ctx, name, is.Note()); err != nil {
			a.failed(changed, err)
			return
		}
		a.written[name] = is
	}
}

// failed leaves for the next delivery what could not be written.
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
// expected. Where nothing ever came, it is expected from the start of the process on.
func (e Expected) arrived(notes map[string]string, started time.Time) (kinds map[report.Kind]Arrived, senders []Arrived) {
	of := func(note string, a Arrived, every time.Duration, usual bool) Arrived {
		was := report.ArrivalsIn(notes, note)
		a.Arrivals = was
		if !was.Last.IsZero() {
			a.Last = &was.Last
		}
		switch by := was.ExpectedBy(); {
		case every > 0 && was.Last.IsZero():
			a.Expected = new(started.Add(every).UTC())
		case every > 0:
			a.Expected = new(was.Last.Add(every))
		case usual && !by.IsZero():
			a.Expected = &by
			a.Because = fmt.Sprintf("in the four weeks before, the longest pause was of %s", shortly(was.LongestPause()))
		}
		if every > 0 {
			a.Because = "--expect-every says " + shortly(every)
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
		// That one credential is not used any more is no trouble, unless it was said to be.
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
