package reconcile

import (
	"bytes"
	"encoding/json"

	"riskdex/internal/exportline"
	"riskdex/report"
)

// feed is what a list that is the feed of changes says of itself: after each page comes a line
// with the cursors of the page.
type feed struct {
	lines bool // there are lines with versions
	pages int
	after string // from where the first page goes on; empty for the beginning
	more  bool   // the last page is not the end
}

// longestPageLine is more than a line with cursors has.
const longestPageLine = 1 << 10

// add takes the line after a page, and reports whether it is one.
func (f *feed) add(line []byte) bool {
	if len(line) > longestPageLine || !bytes.Contains(line, []byte(`"next"`)) {
		return false
	}
	var l struct {
		After, Next *string
		More        *bool
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if d.Decode(&l) != nil || l.After == nil || l.Next == nil || l.More == nil {
		return false
	}
	if f.pages++; f.pages == 1 {
		f.after = *l.After
	}
	f.more = *l.More
	return true
}

// missing returns what tells that changes are missing, or nothing.
func (f *feed) missing() string {
	switch {
	case f.after != "":
		return "the list has what changed after a cursor. Give all of it: riskdex changes --json, without --after"
	case f.more, f.lines && f.pages == 0:
		return "the list has no line at its end that says that nothing follows, as riskdex changes --json writes it"
	}
	return ""
}

// addExported adds a line of an export, or of the feed, where later lines count.
func (l *List) addExported(x exportline.Line) {
	if x.Version > 0 {
		l.feed.lines, l.feed.more = true, true // until the line after its page
	}
	switch {
	case x.Kind != l.Kind:
	case x.Deleted:
		l.drop(x.ID)
	default:
		// What riskdex has lost is there, and nobody knows what it stated.
		l.add(entry{name: string(x.ID), digest: digestOf(x.Record), exact: true, also: x.Lost != report.NotLost}, x.Code)
	}
}
