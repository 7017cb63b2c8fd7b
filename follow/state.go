package follow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"riskdex/report"
)

// noteName is the name of the note that keeps a state.
const noteName = "followed"

// state says how far the feed was read.
type state struct {
	Line   string       `json:"line"`   // of the journal that is followed
	Cursor string       `json:"cursor"` // empty for the beginning of the feed
	Newest report.Stamp `json:"newest"` // of what the source told; zero if nothing
	Anew   Anew         `json:"anew"`
}

// Anew says when and why the feed was last read from its beginning.
type Anew struct {
	At    time.Time      `json:"at"`
	Why   string         `json:"why"`
	Until report.Version `json:"until"` // what the journal has up to it is from before
	Done  bool           `json:"done"`  // and what the source did not tell is deleted
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

// load returns the state in the journal: the zero one if that has followed nobody.
func load(ctx context.Context, j Journal) (state, error) {
	stats, err := j.Stats(ctx)
	if err != nil {
		return state{}, err
	}
	return parseState(stats.Notes[noteName])
}

// End notes that a journal follows nobody any more. It takes deliveries itself from now on, so what it
// has by the time it follows again may not be what that source has told. End reports whether it had
// followed.
func End(ctx context.Context, j Journal) (bool, error) {
	s, err := load(ctx, j)
	if err != nil || s.Line == "" {
		return false, err
	}
	return true, j.Note(ctx, noteName, state{Anew: Anew{At: time.Now().UTC(), Why: "this journal has taken deliveries itself"}}.text())
}
