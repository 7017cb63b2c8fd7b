package follow

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"riskdex/report"
)

// window is the unsettled part of the feed of a kind. One goroutine at a time may use it.
type window struct {
	read      report.Cursor // everything before it is or was in the window
	pages     []*page       // in order; only the first may be settled without being dropped
	documents map[report.ID]*document
	queue     []*document // in the order of their versions, including some that are gone
	refused   map[report.ID]refusal
	ahead     map[report.ID]report.Ahead // documents of which the cluster has a higher version
	bytes     int
	space     chan struct{} // receives when there may be space
	interrupt func()        // ends the read of the feed that is under way; nil before the first

	before report.Cursor // the checkpoint: everything before it is settled
	goal   *page         // the first page after which the feed had nothing more
	whole  bool
	done   int

	filling bool // from the beginning of the feed, until it is whole

	// The outcome of the changes read since the start. accepted always equals settled plus
	// pending.
	accepted map[report.Op]uint64
	settled  map[report.Outcome]uint64
	begun    time.Time // when reading began from the beginning of the feed; nothing was lacking before

	// If the feed is read again from an earlier cursor, the index already has all versions up to
	// had, except documents that were waiting or refused then: lacked has since when it lacks them.
	had    report.Version
	lacked map[report.ID]time.Time

	fault, anew error

	// keeping is held while the checkpoint is written, so that it cannot be written to an index
	// that has replaced the one that it is about.
	keeping sync.Mutex
}

// page is a part of the feed.
type page struct {
	next report.Cursor
	open int // its unsettled documents
}

// document is an unsettled document.
type document struct {
	change    report.Change
	page      *page
	damaged   bool // damaged in the journal, so it has no body to send
	claimed   bool
	notBefore time.Time
	gone      bool           // from the window
	newer     *document      // read while this one was claimed
	since     time.Time      // when the oldest of its changes that the index lacks was accepted
	lacks     report.Version // of that change
}

// refusal says why a document is not sent again.
type refusal struct {
	report.Settlement
	at time.Time
}

func newWindow(at report.Cursor, now time.Time) *window {
	w := &window{space: make(chan struct{}, 1), accepted: map[report.Op]uint64{}, settled: map[report.Outcome]uint64{}}
	w.begin(at, now)
	return w
}

// begin empties the window, so that the feed is read from a cursor on.
func (w *window) begin(at report.Cursor, now time.Time) {
	w.settled[report.Superseded] += uint64(w.pending()) // they will be read again
	if w.begun, w.filling = (time.Time{}), at.Begins(); w.filling {
		w.begun = now
	}
	w.read, w.before = at, at
	w.pages, w.queue, w.goal = nil, nil, nil
	w.documents, w.refused, w.ahead = map[report.ID]*document{}, map[report.ID]refusal{}, map[report.ID]report.Ahead{}
	w.bytes, w.done, w.whole = 0, 0, false
	w.had, w.lacked = 0, nil
	if w.interrupt != nil {
		w.interrupt()
	}
	w.freed()
}

// freed notifies the reader that there may be space.
func (w *window) freed() {
	select {
	case w.space <- struct{}{}:
	default:
	}
}

// pending returns how many documents are neither settled nor refused.
func (w *window) pending() int { return len(w.documents) - len(w.refused) }

// add adds a page of the feed.
func (w *window) add(told report.FeedPage, now time.Time) {
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
		w.accepted[c.Op]++
		told := &document{change: c, page: p, damaged: r.Lost == report.LostDamaged, since: c.AcceptedAt, lacks: c.Version}
		if c.Version <= w.had {
			told.since = now
			if since, ok := w.lacked[r.ID]; ok {
				told.since = since
			}
		}
		d := w.documents[r.ID]
		if d != nil && !w.isRefused(d) {
			w.settled[report.Superseded]++
		}
		switch {
		case d == nil:
			w.insert(told, now)
		case d.claimed:
			if d.newer != nil {
				w.leave(d.newer)
			}
			d.newer = told
		default:
			w.remove(d)
			told.notBefore, told.since, told.lacks = d.notBefore, d.since, d.lacks
			w.insert(told, now)
		}
	}
	if !told.More && w.goal == nil {
		w.goal = p
	}
	w.advance()
}

func (w *window) insert(d *document, now time.Time) {
	w.documents[d.change.ID] = d
	w.queue = append(w.queue, d)
	if d.damaged {
		w.refuse(report.Settlement{
			Key: d.change.Key, Version: d.change.Version, ErrorType: "journal_" + string(report.LostDamaged), Reason: "its record is damaged in the journal",
		}, now)
	}
}

// remove takes a document out of the window.
func (w *window) remove(d *document) {
	delete(w.lacked, d.change.ID)
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

// claim returns waiting documents, oldest first, with bodies of at most maxBytes together, but
// one in any case.
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

// next returns how long until the next deferred document may be claimed; 0 if there is none.
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
func (w *window) settle(s report.Settlement, now time.Time) {
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
		if s.Outcome == report.Retry || s.Outcome == report.Dead {
			d.newer.since, d.newer.lacks = d.since, d.lacks
		}
		w.insert(d.newer, now)
	case s.Outcome == report.Dead:
		w.refuse(s, now)
	case ahead:
		s.ErrorType, s.Reason = "version_ahead", fmt.Sprintf("the cluster has version %d of it, and the journal %d", a.Index, s.Version)
		w.refuse(s, now)
	case s.Outcome != report.Retry:
		w.remove(d)
		w.done++
		w.settled[s.Outcome]++
	}
	w.advance()
}

// refuse keeps a document that is not sent again, without its body.
func (w *window) refuse(s report.Settlement, now time.Time) {
	d := w.documents[s.ID]
	if d == nil || d.claimed {
		return
	}
	w.bytes -= len(d.change.Body)
	d.change.Body = nil
	w.refused[s.ID] = refusal{s, now}
	w.settled[report.Dead]++
}

// advance drops settled pages. Of several in a row it keeps the last, which is all that the
// checkpoint needs.
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
		if d.lacks <= version && !w.isRefused(d) {
			return false
		}
	}
	return true
}

// back makes the feed be read again from a version on. It removes nothing from the index.
func (w *window) back(to report.Version) {
	at, done, whole, goal := w.before, w.done, w.whole, w.goal
	at.Version = min(at.Version, to)
	w.again(at)
	if whole {
		w.done, w.whole, w.goal = done, true, goal
	}
}

// stale reports whether the index may have documents whose delete nobody tells any more.
func (w *window) stale() bool { return errors.Is(w.anew, report.ErrCursorTooOld) }

// again is begin for a feed that was read before.
func (w *window) again(at report.Cursor) {
	had, lacked, begun, filling := max(w.had, w.read.Version), map[report.ID]time.Time{}, w.begun, w.filling
	maps.Copy(lacked, w.lacked)
	for id, d := range w.documents {
		lacked[id] = d.since
	}
	w.begin(at, begun)
	w.had, w.lacked, w.begun, w.filling = had, lacked, begun, filling || w.filling
}

// stats returns the totals of the window in the form of a journal's. documents is about how many
// the feed tells from its beginning on.
func (w *window) stats(documents int) report.KindStats {
	k := report.KindStats{Accepted: maps.Clone(w.accepted), Settled: maps.Clone(w.settled), Pending: w.pending(), DeadLetters: len(w.refused)}
	if w.filling && !w.whole {
		k.Resending = max(1, documents-w.done-len(w.documents))
	}
	for _, d := range w.documents {
		if w.isRefused(d) {
			continue
		}
		since := d.since
		if since.Before(w.begun) {
			since = w.begun
		}
		if k.OldestWaiting.IsZero() || since.Before(k.OldestWaiting) {
			k.OldestWaiting = since
		}
		if newest := d.change.AcceptedAt; newest.After(k.NewestWaiting) {
			k.NewestWaiting = newest
		}
	}
	return k
}

// letter returns a refused document as a dead letter.
func (w *window) letter(id report.ID) report.DeadLetter {
	c, r := w.documents[id].change, w.refused[id]
	return report.DeadLetter{Change: c, DeadAt: r.at, ErrorType: r.ErrorType, Reason: r.Reason}
}
