package verify

import (
	"sync"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// wait is a request, with its repetitions, or a look into the journal that has not succeeded yet.
// If it takes long, it is told every Config.TellEvery: why the last attempt failed, or that there
// was none yet that ended.
type wait struct {
	r       *verification
	ended   chan struct{}
	telling sync.WaitGroup

	mu  sync.Mutex
	now report.Waiting
}

// beginWait begins to wait. reason is what it means that nothing comes.
func (r *verification) beginWait(reason string) *wait {
	w := &wait{r: r, ended: make(chan struct{}), now: report.Waiting{
		Kind: r.kind, Index: r.alias, Reason: reason, Detail: "no answer yet", Since: time.Now().UTC(),
	}}
	if reason == elastic.ReasonUnreachable {
		w.now.Detail = r.client.Address() + ": no answer yet"
	}
	if r.opt.Waiting != nil {
		w.telling.Go(w.tell)
	}
	return w
}

func (w *wait) tell() {
	tick := time.NewTicker(w.r.cfg.TellEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.ended:
			return
		case <-tick.C:
			w.mu.Lock()
			now := w.now
			w.mu.Unlock()
			w.r.tellWaiting(now)
		}
	}
}

// failed notes why an attempt failed.
func (w *wait) failed(reason string, a elastic.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.Reason, w.now.ErrorType, w.now.Detail = reason, a.ErrorType, a.Detail
}

// end notes how it ended. The end of a verification that gives up is told by its error.
func (w *wait) end(err error) {
	close(w.ended)
	w.telling.Wait()
	w.r.telling.Lock()
	defer w.r.telling.Unlock()
	if told := w.r.waiting; err == nil && told != nil {
		told.EndedAt = time.Now().UTC()
		w.r.opt.Waiting(*told)
		w.r.waiting = nil
	}
}

// tellWaiting tells of one wait at a time: pages are read and compared side by side.
func (r *verification) tellWaiting(now report.Waiting) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if time.Since(r.told) < r.cfg.TellEvery/2 {
		return
	}
	if r.waiting != nil && r.waiting.Since.Before(now.Since) {
		now.Since = r.waiting.Since
	}
	r.waiting, r.told = &now, time.Now()
	r.opt.Waiting(now)
}
