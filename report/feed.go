package report

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Cursor is a place in the feed of changes. One with nothing but Kinds is the beginning.
type Cursor struct {
	Kinds   []Kind  // that the feed is of
	Version Version // everything up to it was told
	Began   Version // the newest version when the feed was begun: deletes before it concern nobody who follows
	Feed    string  // the id of the feed; it changes once a journal may lack what was told
}

// FeedPage is a part of the feed of changes.
type FeedPage struct {
	Changes []Record // a deleted document has the Op Delete
	Next    Cursor   // where to go on
	More    bool     // there is more already
}

// ErrCursorTooOld is returned for a cursor that is older than a tombstone which was dropped:
// whoever goes on from there would never hear of that delete.
var ErrCursorTooOld = errors.New("deletes that came after this cursor are forgotten")

// ErrOtherFeed is returned for a cursor of another feed: the journal is another one, or it was
// copied or restored since, and may lack what was told.
var ErrOtherFeed = errors.New("the journal is not the one that this cursor is of: it was copied, restored or failed over, and may lack what was told")

// setBack is ErrOtherFeed of a journal that lacks what it had told, as it knows itself.
type setBack struct{}

func (setBack) Error() string { return "the journal was set back, and may lack what was told" }
func (setBack) Unwrap() error { return ErrOtherFeed }

// Begins reports whether c is the beginning of a feed.
func (c Cursor) Begins() bool { return c.Feed == "" }

// FeedState is what decides whether a feed can go on from a cursor.
type FeedState struct {
	Feed    string  // its id
	Last    Version // its newest version
	Dropped Version // the highest version of a tombstone of the cursor's kinds that was dropped
	Held    Version // up to which a loss holds back what the journal has, or 0
	Lost    Version // the highest that was ever lost
}

// Check returns why a feed in this state cannot go on from c. While a loss is open, none begins or goes
// on: whoever applies it could replace or delete the only copy of a change.
func (c Cursor) Check(s FeedState) error {
	switch {
	case c.Begins() && s.Held > 0:
		return ErrLossOpen
	case c.Begins():
		return nil
	case s.Held > 0 || c.Feed == s.Feed && c.Version > s.Last, c.Feed != s.Feed && c.Began <= s.Lost:
		return setBack{}
	case c.Feed != s.Feed:
		return ErrOtherFeed
	case s.Dropped > max(c.Version, c.Began):
		return ErrCursorTooOld
	}
	return nil
}

// After is the cursor behind a page that was read after c. last is the newest version of which
// everything was committed when the page was read.
func (c Cursor) After(page []Record, feed string, last Version) Cursor {
	if c.Begins() {
		c.Began = last
	}
	if len(page) > 0 {
		c.Version = page[len(page)-1].Version
	}
	c.Feed = feed
	return c
}

// cursorLetters is what cursors have for each of Kinds, in that order. Readers keep cursors, so a
// letter keeps its meaning.
const cursorLetters = "cas"

// String is the text of a cursor, which is empty for the beginning. It can stand in a query as
// it is.
func (c Cursor) String() string {
	if c.Begins() {
		return ""
	}
	var letters []byte
	for i, k := range Kinds() {
		if slices.Contains(c.Kinds, k) {
			letters = append(letters, cursorLetters[i])
		}
	}
	return fmt.Sprintf("%d.%d.%s.%s", c.Version, c.Began, letters, c.Feed)
}

// ParseCursor reads what String returns.
func ParseCursor(text string) (c Cursor, err error) {
	parts := strings.Split(text, ".")
	if len(parts) == 4 {
		var version, began int64
		version, err = strconv.ParseInt(parts[0], 10, 64)
		if err == nil {
			began, err = strconv.ParseInt(parts[1], 10, 64)
		}
		c = Cursor{Version: Version(version), Began: Version(began), Feed: parts[3]}
		for i, k := range Kinds() {
			if strings.IndexByte(parts[2], cursorLetters[i]) >= 0 {
				c.Kinds = append(c.Kinds, k)
			}
		}
	}
	if err != nil || c.String() != text || len(c.Kinds) == 0 {
		return Cursor{}, fmt.Errorf("%q is not a cursor of the feed of changes", text)
	}
	return c, nil
}
