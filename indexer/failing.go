package indexer

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/report"
)

// failing tracks the documents that Elasticsearch did not accept: how long each waits, how small
// its next bulk is, and what happened to Elasticsearch when it was sent alone. It is in memory
// only, so a restart of riskdex forgets it. A document is forgotten when it is settled.
type failing struct {
	newBackOff func() *backoff.ExponentialBackOff
	longest    time.Duration // roughly the longest wait of a document

	mu        sync.Mutex
	documents map[report.Key]*failed
	taken     map[report.Kind]time.Time // when Elasticsearch last accepted documents of a kind
	swept     time.Time
}

type failed struct {
	wait  *backoff.ExponentialBackOff
	tried time.Time // the last attempt
	limit int       // size of the next bulk that it is in; 0 without a limit
	since time.Time // when it first failed alone in its bulk, without an answer since

	// The following is about one version. A newer one starts with a clean slate.
	version report.Version
	silent  bool       // there was no answer when it was last alone in its bulk
	before  generation // of Elasticsearch when it was sent then; 0 if unknown
	only    bool       // no other bulk was under way meanwhile
	deaths  int        // how often in a row Elasticsearch died while it was the only one
	suspect bool       // Elasticsearch died while it was alone in its bulk, if not the only one
}

const (
	// maxFailing bounds the memory. Further documents wait the longest time at once, and
	// their bulks do not shrink.
	maxFailing = 10_000
	// forgetAfter is when a document is forgotten that another process may have settled.
	forgetAfter = time.Hour
	// longestWait bounds how late a document may be after its trouble has passed, in
	// multiples of the longest backoff.
	longestWait = 12
)

func (x *Indexer) newFailing() *failing {
	return &failing{
		newBackOff: x.newBackOff, longest: longestWait * x.cfg.LongestBackoff,
		documents: map[report.Key]*failed{}, taken: map[report.Kind]time.Time{},
	}
}

// get returns the entry of a document, a new one if needed, or nil without room for one.
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

// wait returns how long a document waits that failed by itself, in a bulk of inBulk changes that took
// that long. The oldest changes are claimed first, so many failing ones would be claimed again and again
// before all others. To yield to others, each waits longer the more of them there are, relative to the
// size of a bulk, and longer than it takes to send them all.
func (f *failing) wait(key report.Key, inBulk int, took time.Duration) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.get(key, time.Now())
	if d == nil {
		return max(f.longest, 2*took)
	}
	bulks := 1 + (len(f.documents)-1)/max(1, inBulk)
	return max(took*time.Duration(bulks+1), min(f.longest, d.wait.NextBackOff()*time.Duration(bulks)))
}

// together notes that a bulk of changes failed as a whole. Any of them may be the cause, or none:
// next they go in bulks of a tenth of that, and so on until the cause goes alone.
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

// alone notes that a change failed alone in its bulk. silent tells that there was no answer; then
// before is the generation of Elasticsearch that it was sent to, if known, and only tells that
// no other bulk was under way.
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

// answered notes that a bulk of a kind was answered item by item, and whether Elasticsearch
// accepted some.
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

// othersTaken reports whether Elasticsearch accepted other documents since a change failed alone.
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

// silent reports whether a change was last sent alone and got no answer.
func (f *failing) silent(c report.Change) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.documents[c.Key]
	return ok && d.version == c.Version && d.silent
}

// blame judges a change when Elasticsearch answers again, with its present generation: how often
// in a row Elasticsearch died while it was sent nothing but this change, and whether it died at
// all while the change was alone in its bulk. If Elasticsearch did not die, the answer was lost
// for another reason.
func (f *failing) blame(c report.Change, now generation) (deaths int, suspect bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.documents[c.Key]
	if !ok || d.version != c.Version {
		return 0, false
	}
	switch {
	case d.before == 0 || now == 0: // unknown
	case d.before == now:
		d.deaths, d.suspect = 0, false
	default:
		d.suspect = true
		if d.only {
			d.deaths++
		}
	}
	d.before = 0 // count it once
	return d.deaths, d.suspect
}

// bulks puts the positions of batch in the order of sending: first those without a limit in one
// bulk, then bulks of the size that their changes are limited to. Changes that go alone come
// last, the least recently tried first.
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
