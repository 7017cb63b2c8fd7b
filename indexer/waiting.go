package indexer

import (
	"context"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// Waiting tells why nothing is written to an index now. Everything for it is
// kept, and tried again until it gets through.
type Waiting struct {
	Kind      report.Kind
	Index     string // the alias
	Held      bool   // it, or the operator, must change something; otherwise Elasticsearch is away or pushes back
	Reason    string // one word, as in the metrics
	ErrorType string // of Elasticsearch, if it said one
	Detail    string // what it said
	Since     time.Time
}

// Waiting returns the indices that wait, in the order of the kinds, the probe's last. It may be
// called at any time, by anybody.
func (x *Indexer) Waiting() []Waiting { return x.board.allWaiting() }

// AwaitFirstLook waits until the index of kind has been looked for, and made where there was
// none, or that has failed. It ends with ctx, and when the indexer stops.
func (x *Indexer) AwaitFirstLook(ctx context.Context, kind report.Kind) {
	x.board.mu.Lock()
	looked, waits := x.board.unlooked[kind]
	x.board.mu.Unlock()
	if !waits {
		return
	}
	select {
	case <-looked:
	case <-x.orders.stopped:
	case <-ctx.Done():
	}
}

// wait shows that the trouble of a lane has changed: it waits, or, without trouble, that it does not.
func (b *board) wait(kind report.Kind, index string, trouble *judgement, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if looked, ok := b.unlooked[kind]; ok {
		close(looked)
		delete(b.unlooked, kind)
	}
	if trouble == nil {
		delete(b.waiting, kind)
		return
	}
	since := now
	if before, ok := b.waiting[kind]; ok {
		since = before.Since
	}
	b.waiting[kind] = Waiting{
		Kind: kind, Index: index, Held: trouble.verdict == elastic.Pause, Reason: trouble.reason,
		ErrorType: trouble.answer.ErrorType, Detail: trouble.answer.Detail, Since: since,
	}
}

func (b *board) allWaiting() []Waiting {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Waiting
	for _, kind := range report.AllKinds() {
		if w, ok := b.waiting[kind]; ok {
			all = append(all, w)
		}
	}
	return all
}
