package indexer

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/report"
)

// failing remembers the documents that were not taken: how long each of them waits,
// how small a bulk it goes in next, and what became of Elasticsearch when it went
// alone. It is kept in memory only, so a restart of riskdex begins anew, and a
// document is forgotten when it is settled.
type failing struct {
	newBackOff func() *backoff.ExponentialBackOff
	longest    time.Duration // that any document waits, roughly

	mu        sync.Mutex
	documents map[report.Key]*failed
	taken     map[report.Kind]time.Time // when documents of a kind were last taken
	swept     time.Time
}

type failed struct {
	wait  *backoff.ExponentialBackOff
	tried time.Time // last
	limit int       // changes in the next bulk that it is in; 0 where there is no limit
	since time.Time // when it first failed alone in its bulk, and was not answered since

	// What follows speaks of one version. A newer one has done nothing yet.
	version report.Version
	silent  bool       // the last time that it was alone in its bulk, there was no answer
	before  generation // of Elasticsearch when it was sent then; 0 where that is not known
	only    bool       // no other bulk was under way meanwhile
	deaths  int        // how often in a row Elasticsearch died while it was the only one
	suspect bool       // Elasticsearch died while it was alone in its bulk, if not the only one
}

const (
	// maxFailing bounds the memory. Documents beyond it wait the longest time at once,
	// and bulks with them are not made smaller.
	maxFailing = 10_000
	// forgetAfter is when a document is forgotten that another process has settled.
	forgetAfter = time.Hour
	// longestWait bounds how late a document may be when its trouble has passed, in
	// times of the longest backoff.
	longestWait = 12
)

func (x *Indexer) nothingFailing() *failing {
	return &failing{
		newBackOff: x.newBackOff, longest: longestWait * x.cfg.LongestBackoff,
		documents: map[report.Key]*failed{}, taken: map[report.Kind]time.Time{},
	}
}

// get returns what is known of a document; a new entry where nothing is, or nil
// where there is no room for one.
func (f *failing) get(key report.Key, now time.Time) *failed {
	if d, ok := f.documents[key]; ok {
		return d
	}
	if now.Sub(f.swept) > forgetAfter/10 {
		f.swept = now
		for key, d := range f.documents {
			if now.Sub(d.tried) > forgetAfter {
				delete(f.documents, key)
			}
		}
	}
	if len(f.documents) >= maxFailing {
		return nil
	}
	d := &failed{wait: f.newBackOff(), tried: now}
	f.documents[key] = d
	return d
}

// wait returns how long a document that has failed by itself waits. Those that wait
// longest are claimed first, so many that fail would be claimed again and again
// before all others: they wait the longer the more they are, measured by what fits
// in a bulk.
func (f *failing) wait(key report.Key, inBulk int) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.get(key, time.Now())
	if d == nil {
		return f.longest
	}
	return min(f.longest, d.wait.NextBackOff()*time.Duration(1+(len(f.documents)-1)/max(1, inBulk)))
}

// together notes that a bulk of changes failed as a whole. Any of them may be the
// cause, or none: next, they go in bulks of a tenth of that, and so on until the
// cause goes alone.
func (f *failing) together(changes []report.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for _, c := range changes {
		if d := f.get(c.Key, now); d != nil {
			d.limit, d.tried = max(1, len(changes)/10), now
		}
	}
}

// alone notes that a change failed alone in its bulk. Where it was not answered,
// before is the generation of Elasticsearch that it was sent to, if that is known, and
// only tells that no other bulk was under way.
func (f *failing) alone(c report.Change, silent bool, before generation, only bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.get(c.Key, time.Now()); d != nil {
		d.of(c.Version)
		d.limit, d.tried = 1, time.Now()
		if d.since.IsZero() {
			d.since = d.tried
		}
		d.silent, d.before, d.only = silent, before, only
		if !silent {
			d.deaths, d.suspect = 0, false
		}
	}
}

// answered notes that a bulk with changes of a kind was answered item by item, and
// whether some of them were taken.
func (f *failing) answered(kind report.Kind, changes []report.Change, taken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if taken {
		f.taken[kind] = now
	}
	if len(f.documents) == 0 {
		return
	}
	for _, c := range changes {
		if d, ok := f.documents[c.Key]; ok {
			*d = failed{wait: d.wait, tried: now}
		}
	}
}

// othersTaken tells whether other documents were taken since a change failed alone.
func (f *failing) othersTaken(c report.Change) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.documents[c.Key]
	return ok && !d.since.IsZero() && f.taken[c.Kind].After(d.since)
}

func (f *failing) forget(key report.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.documents, key)
}

func (d *failed) of(version report.Version) {
	if d.version != version {
		*d = failed{wait: d.wait, tried: d.tried, limit: d.limit, version: version}
	}
}

// silent tells whether a change went alone the last time and was not answered.
func (f *failing) silent(c report.Change) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.documents[c.Key]
	return ok && d.version == c.Version && d.silent
}

// blame tells what a change has done, now that Elasticsearch answers again and is known
// to be of generation now: how often in a row Elasticsearch died while nothing but this change
// was on its way to it, and whether it died at all while that was alone in its bulk.
// Where Elasticsearch has lived on, something else has taken the answer away.
func (f *failing) blame(c report.Change, now generation) (deaths int, suspect bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.documents[c.Key]
	if !ok || d.version != c.Version {
		return 0, false
	}
	switch {
	case d.before == 0 || now == 0: // nobody knows
	case d.before == now:
		d.deaths, d.suspect = 0, false
	default:
		d.suspect = true
		if d.only {
			d.deaths++
		}
	}
	d.before = 0 // it counts once
	return d.deaths, d.suspect
}

// bulks puts the places of batch in the order in which they are sent: first what has
// no limit, in one bulk, then bulks as large as their changes may be in. Changes that
// go alone come last, that which has waited longest for it first.
func (f *failing) bulks(batch []prepared) (together [][]int, alone []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var free []int
	limited := map[int][]int{}
	for i, p := range batch {
		switch d, ok := f.documents[p.change.Key]; {
		case !ok || d.limit == 0:
			free = append(free, i)
		case d.limit == 1:
			alone = append(alone, i)
		default:
			limited[d.limit] = append(limited[d.limit], i)
		}
	}
	if len(free) > 0 {
		together = append(together, free)
	}
	for _, limit := range slices.Backward(slices.Sorted(maps.Keys(limited))) {
		together = slices.AppendSeq(together, slices.Chunk(limited[limit], limit))
	}
	slices.SortStableFunc(alone, func(a, b int) int {
		return f.documents[batch[a].change.Key].tried.Compare(f.documents[batch[b].change.Key].tried)
	})
	return together, alone
}
