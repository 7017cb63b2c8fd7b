package follow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"riskdex/report"
)

// state says how far the feed was read.
type state struct {
	Line   string       `json:"line"`   // of the journal that is followed
	Cursor string       `json:"cursor"` // empty for the beginning of the feed
	Newest report.Stamp `json:"newest"` // of what the source told; zero if nothing
	Anew   Anew         `json:"anew"`
}

// Anew says when and why the feed was last read from its beginning.
type Anew struct {
	At   time.Time `json:"at"`
	Why  string    `json:"why"`
	Done bool      `json:"done"` // and what the source does not have is deleted
}

func (s state) text() string {
	text, _ := json.Marshal(s)
	return string(text)
}

// id names a state in the receipt of the page that was read in it.
func (s state) id() string {
	sum := sha256.Sum256([]byte(s.text()))
	return hex.EncodeToString(sum[:])
}

func (s state) cursor() (report.Cursor, error) {
	if s.Cursor == "" {
		return report.Cursor{Kinds: report.Kinds()}, nil
	}
	return report.ParseCursor(s.Cursor)
}

func parseState(text string) (s state, err error) {
	if text == "" {
		return s, nil
	}
	if err = json.Unmarshal([]byte(text), &s); err != nil {
		err = fmt.Errorf("read how far the feed was read, from the note in the journal: %w", err)
	}
	return s, err
}

// mayFollow returns the line of a source, or an error if a journal of a line cannot follow it from s on.
func (s state) mayFollow(ctx context.Context, source Source, own string) (string, error) {
	line, err := source.Line(ctx, own)
	switch {
	case err != nil:
		return "", err
	case line == "":
		return "", errors.New("it does not say which journal it has: is that the admin listener of a riskdex?")
	case line == own:
		return "", errors.New("it has the journal of this riskdex itself, or a copy of it: start this one with a journal of its own")
	case s.Line != "" && line != s.Line:
		return "", fmt.Errorf("it has another journal than the one that was followed (%s, not %s): nothing of it is taken over. "+
			"Start it with its journal, or this riskdex with a new one", line, s.Line)
	}
	return line, nil
}

// Check returns why a source cannot be followed, by a journal of a line with a note about whom it follows.
func Check(ctx context.Context, source Source, own, note string) error {
	s, err := parseState(note)
	if err == nil {
		_, err = s.mayFollow(ctx, source, own)
	}
	if err == nil {
		_, err = source.Feed(ctx, report.Cursor{Kinds: report.Kinds()}, false)
	}
	return err
}

// load returns the state in the journal: the zero one if that has followed nobody.
func load(ctx context.Context, j Journal) (state, error) {
	stats, err := j.Stats(ctx)
	if err != nil {
		return state{}, err
	}
	return parseState(stats.Notes[report.FollowedNote])
}

// advance goes on from one state to the next, with what leads to it. In all processes, each state has one
// successor, so that no page overtakes one that was read later. The receipt of the delivery sees to that,
// and makes the state durable together with the changes.
func (s *state) advance(ctx context.Context, j Journal, next state, d report.Delivery) error {
	if next.text() == s.text() {
		return nil
	}
	d.Receipt = &report.Receipt{Sender: feed, ID: s.id(), Digest: []byte{0}, Answer: []byte(next.text())}
	_, err := j.Append(ctx, d)
	if repeated, ok := errors.AsType[*report.RepeatedError](err); ok {
		if next, err = load(ctx, j); err == nil && next.text() == s.text() { // the note was not written yet
			next, err = parseState(string(repeated.Answer))
		}
	}
	if err == nil {
		err = j.Note(ctx, report.FollowedNote, next.text())
	}
	if err == nil {
		*s = next
	}
	return err
}

// End notes that a journal follows nobody any more. It takes deliveries itself from now on, so what it
// has by the time it follows again may not be what that source has told. Other processes that still
// follow stop. End reports whether it had followed.
func End(ctx context.Context, j Journal) (had bool, err error) {
	s, err := load(ctx, j)
	for ; err == nil && s.Line != ""; had = true {
		err = s.advance(ctx, j, state{Anew: Anew{At: time.Now().UTC(), Why: "this journal has taken deliveries itself"}}, report.Delivery{})
	}
	return had, err
}

// Begun returns an error once another process has the journal follow a riskdex, whose feed is to replace
// what this one accepts, as it looks now and then. It returns nil when ctx is done.
func Begun(ctx context.Context, j Journal, every time.Duration) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
		if s, err := load(ctx, j); err == nil && s.Line != "" {
			return errors.New("another process of this journal follows a riskdex since: start all of them with the same --follow, or without")
		}
	}
}
