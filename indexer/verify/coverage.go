package verify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/report"
)

// CoverageJournal is what a Coverage needs of the journal.
type CoverageJournal interface {
	// Documents returns how many documents of kind there are that are not deleted.
	Documents(ctx context.Context, kind report.Kind) (int, error)
	Stats(ctx context.Context) (report.Stats, error)
}

// Coverage compares how many documents journal and index have. Each index says which line
// of journals fills it, so the journal of somebody else is noticed anyhow. But an index of
// an older version says nothing of it, and a backup from the first days is of the same line:
// with those, an index is served that cannot be made anew, and that lacks deletes.
//
// It counts the documents of the journal, which takes the longer the more there are: soon
// after the start, and then now and then.
type Coverage struct {
	journal CoverageJournal
	indexed func(ctx context.Context, kind report.Kind) (int, error)
	foreign func(kind report.Kind) bool
	every   time.Duration // from one comparison to the next, until all have been well
	log     *slog.Logger
	gauge   *prometheus.GaugeVec

	mu      sync.Mutex
	lacking map[report.Kind]report.Lacking
}

// CoverageEvery is how often Coverage compares until it has found all well, and
// coverageWhileWell how much longer it rests from then on. A kind is told of that lacked
// documents so many times in a row: an index may show for a while what is deleted already.
const (
	CoverageEvery     = 5 * time.Second
	coverageWhileWell = 120
	coverageTries     = 3
)

// NewCoverage returns one that has yet to be run. indexed counts what a search finds.
func NewCoverage(every time.Duration, journal CoverageJournal, indexed func(context.Context, report.Kind) (int, error),
	foreign func(report.Kind) bool, reg prometheus.Registerer, log *slog.Logger) *Coverage {
	c := &Coverage{journal: journal, indexed: indexed, foreign: foreign, every: every, log: log, lacking: map[report.Kind]report.Lacking{}}
	c.gauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "riskdex_documents_unknown",
		Help: "Documents that the index has beyond those that the journal has, where that is most of the index: another journal has filled it, or an older backup is in use. Otherwise 0.",
	}, []string{"kind"})
	reg.MustRegister(c.gauge)
	for _, kind := range report.Kinds() {
		c.gauge.WithLabelValues(string(kind))
	}
	return c
}

// Lacking returns the kinds of which the journal knows too little, in their order. It may
// be called at any time, by anybody.
func (c *Coverage) Lacking() (all []report.Lacking) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range report.Kinds() {
		if l, ok := c.lacking[kind]; ok {
			all = append(all, l)
		}
	}
	return all
}

// Run compares until ctx is done.
func (c *Coverage) Run(ctx context.Context) {
	tries := map[report.Kind]int{} // in a row at which the kind lacked documents
	for {
		well := true
		for _, kind := range report.Kinds() {
			l, compared, err := c.compare(ctx, kind)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				c.log.Debug("cannot compare how much journal and index have", "kind", kind, "error", err)
			case l == nil:
				tries[kind] = 0
			default:
				tries[kind]++
			}
			well = well && compared && l == nil
			if err == nil && (l == nil || tries[kind] >= coverageTries) {
				c.tell(kind, l)
			}
		}
		rest := c.every
		if well {
			rest *= coverageWhileWell
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
	}
}

// compare returns what a kind lacks, or nil. compared is false where that cannot be told
// now.
func (c *Coverage) compare(ctx context.Context, kind report.Kind) (l *report.Lacking, compared bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, elastic.RequestTimeout)
	defer cancel()
	if c.foreign(kind) {
		return nil, false, nil // that is told already
	}
	indexed, err := c.indexed(ctx, kind)
	if err != nil {
		return nil, false, err
	}
	known, err := c.journal.Documents(ctx, kind)
	if err != nil {
		return nil, false, err
	}
	stats, err := c.journal.Stats(ctx)
	if err != nil {
		return nil, false, err
	}
	// What waits may be deletes.
	k := stats.Kinds[kind]
	unknown := indexed - known - k.Pending - k.Resending
	never := known == 0 && k.Accepted[report.Index]+k.Accepted[report.Delete] == 0
	if unknown <= 0 || !never && !mostlyUnknown(unknown, indexed) {
		return nil, true, nil
	}
	return &report.Lacking{Kind: kind, Known: known, Indexed: indexed}, true, nil
}

// tell shows what is known of a kind now.
func (c *Coverage) tell(kind report.Kind, l *report.Lacking) {
	c.mu.Lock()
	_, before := c.lacking[kind]
	delete(c.lacking, kind)
	unknown := 0
	if l != nil {
		c.lacking[kind] = *l
		unknown = l.Indexed - l.Known
	}
	c.mu.Unlock()
	c.gauge.WithLabelValues(string(kind)).Set(float64(unknown))
	switch {
	case l != nil && !before:
		c.log.Warn("the journal does not know most of what the index has: is it the right one?",
			"kind", kind, "journal_documents", l.Known, "index_documents", l.Indexed)
	case l == nil && before:
		c.log.Info("the journal knows what the index has", "kind", kind)
	}
}
