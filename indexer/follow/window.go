package follow

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"riskdex/report"
)

// window is the part of the feed of a kind that is not settled. It is for one goroutine at a time.
type window struct {
	read      report.Cursor // everything before it is in the window, or was
	pages     []*page       // in order; only the first may be settled without being dropped
	documents map[report.ID]*document
	queue     []*document // in the order of their versions, with those that are gone
	refused   map[report.ID]report.Settlement
	ahead     map[report.ID]report.Ahead // of which the cluster has a higher version
	bytes     int
	space     chan struct{} // receives when there may be space

	before report.Cursor // everything before it is settled: the checkpoint
	goal   *page         // the first after which nothing more was there
	whole  bool
	done   int

	fault, anew error

	// keeping is held while the checkpoint is written. Otherwise it could get to an index that
	// has taken the place of the one that it is about.
	keeping sync.Mutex
}

// page is a part of the feed.
type page struct {
	next report.Cursor
	open int // its documents that are not settled
}

// document is a document that is not settled.
type document struct {
	change    report.Change
	page      *page
	damaged   bool // in the journal: it has no body that could be sent
	claimed   bool
	notBefore time.Time
	gone      bool      // from the window
	newer     *document // that was told while this one was claimed
}

func newWindow(at report.Cursor) *window {
	w := &window{space: make(chan struct{}, 1)}
	w.begin(at)
	return w
}

// begin empties the window and has the feed read from a cursor on.
func (w *window) begin(at report.Cursor) {
	w.read, w.before = at, at
	w.pages, w.queue, w.goal = nil, nil, nil
	w.documents, w.refused, w.ahead = map[report.ID]*document{}, map[report.ID]report.Settlement{}, map[report.ID]report.Ahead{}
	w.bytes, w.done, w.whole = 0, 0, false
	w.freed()
}

// freed says that there may be space.
func (w *window) freed() {
	select {
	case w.space <- struct{}{}:
	default:
	}
}

// add adds a page of the feed.
func (w *window) add(told report.FeedPage) {
	p := &page{next: told.Next}
	w.pages = append(w.pages, p)
	w.read = told.Next
	for _, r := range told.Changes {
		if r.Lost == report.LostDropped {
			continue // no cluster gets it
		}
		c := report.Change{Key: r.Key, Op: r.Op, Code: r.Code, Version: r.Version, AcceptedAt: r.AcceptedAt, Body: r.Body}
		p.open++
		w.bytes += len(c.Body)
		told := &document{change: c, page: p, damaged: r.Lost == report.LostDamaged}
		d := w.documents[r.ID]
		switch {
		case d == nil:
			w.insert(told)
		case d.claimed:
			if d.newer != nil {
				w.leave(d.newer)
			}
			d.newer = told
		default:
			w.remove(d)
			told.notBefore = d.notBefore
			w.insert(told)
		}
	}
	if !told.More && w.goal == nil {
		w.goal = p
	}
	w.advance()
}

func (w *window) insert(d *document) {
	w.documents[d.change.ID] = d
	w.queue = append(w.queue, d)
	if d.damaged {
		w.refuse(report.Settlement{
			Key: d.change.Key, Version: d.change.Version, ErrorType: "journal_" + string(report.LostDamaged), Reason: "its record is damaged in the journal",
		})
	}
}

// remove takes a document out of the window.
func (w *window) remove(d *document) {
	delete(w.documents, d.change.ID)
	delete(w.refused, d.change.ID)
	delete(w.ahead, d.change.ID)
	d.gone = true
	w.leave(d)
}

// leave notes that the page of a document has one change less.
func (w *window) leave(d *document) {
	d.page.open--
	w.bytes -= len(d.change.Body)
}

// claim returns documents that wait, oldest first, with bodies of at most maxBytes, but one in
// any case.
func (w *window) claim(maxChanges, maxBytes int, now time.Time) (list []report.Change) {
	w.queue = slices.DeleteFunc(w.queue, func(d *document) bool { return d.gone })
	bytes := 0
	for _, d := range w.queue {
		if d.claimed || now.Before(d.notBefore) || w.isRefused(d) {
			continue
		}
		if bytes += len(d.change.Body); len(list) == maxChanges || len(list) > 0 && bytes > maxBytes {
			break
		}
		d.claimed = true
		list = append(list, d.change)
	}
	return list
}

// next returns when the next document may be claimed that has to wait; 0 if there is none.
func (w *window) next(now time.Time) (wait time.Duration) {
	for _, d := range w.queue {
		if left := d.notBefore.Sub(now); !d.gone && !d.claimed && left > 0 && (wait == 0 || left < wait) {
			wait = left
		}
	}
	return wait
}

func (w *window) isRefused(d *document) bool {
	_, is := w.refused[d.change.ID]
	return is
}

// settle ends a claim.
func (w *window) settle(s report.Settlement) {
	d := w.documents[s.ID]
	if d == nil || !d.claimed || d.change.Version != s.Version {
		return // the window has begun anew since
	}
	d.claimed, d.notBefore = false, s.NotBefore
	a, ahead := w.ahead[s.ID]
	delete(w.ahead, s.ID)
	switch {
	case d.newer != nil:
		w.remove(d)
		d.newer.notBefore = s.NotBefore
		w.insert(d.newer)
	case s.Outcome == report.Dead:
		w.refuse(s)
	case ahead:
		s.ErrorType, s.Reason = "version_ahead", fmt.Sprintf("the cluster has version %d of it, and the journal %d", a.Index, s.Version)
		w.refuse(s)
	case s.Outcome != report.Retry:
		w.remove(d)
		w.done++
	}
	w.advance()
}

// refuse keeps a document, without its body, that is not sent again.
func (w *window) refuse(s report.Settlement) {
	d := w.documents[s.ID]
	if d == nil || d.claimed {
		return
	}
	w.bytes -= len(d.change.Body)
	d.change.Body = nil
	w.refused[s.ID] = s
}

// advance drops the pages that are settled. Of several in a row, the last tells as much.
func (w *window) advance() {
	kept := w.pages[:0]
	for i, p := range w.pages {
		switch {
		case p.open > 0:
			kept = append(kept, p)
		case len(kept) == 0:
			w.before = p.next
		case i+1 == len(w.pages) || w.pages[i+1].open > 0:
			kept = append(kept, p)
		}
	}
	clear(w.pages[len(kept):])
	w.pages = kept
	if w.goal != nil && !w.whole {
		w.whole = w.reached(w.goal.next.Version)
	}
}

// reached reports whether everything up to a version is settled or refused.
func (w *window) reached(version report.Version) bool {
	for _, d := range w.documents {
		if d.change.Version <= version && !w.isRefused(d) {
			return false
		}
	}
	return true
}

// back has the feed read again from a version on. It takes nothing from what the index has.
func (w *window) back(to report.Version) {
	at, done, whole, goal := w.before, w.done, w.whole, w.goal
	at.Version = min(at.Version, to)
	w.begin(at)
	if whole {
		w.done, w.whole, w.goal = done, true, goal
	}
}
