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

// CoverageJournal is the part of the journal that a Coverage needs.
type CoverageJournal interface {
	// Documents returns how many live documents of kind there are.
	Documents(ctx context.Context, kind report.Kind) (int, error)
	Stats(ctx context.Context) (report.Stats, error)
}

// Coverage finds out whether the journal lacks most documents of an index, which it could then not
// rebuild. It compares the numbers of documents. The journal's line, recorded on the index, reveals
// another journal, but not an old backup of the same journal, and old indices do not record it.
//
// Counting the documents of the journal is expensive, so Coverage compares often only until all is
// well.
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

// CoverageEvery is the usual time between comparisons until all is well.
const CoverageEvery = 5 * time.Second

const (
	coverageWhileWell = 120 // once all is well, the time between comparisons is so many times longer
	coverageTries     = 3   // comparisons in a row that are to be believed: an index may show deleted documents, or lack new ones, for a while
)

// NewCoverage returns a Coverage that does not run yet. indexed returns how many documents a
// search finds, and foreign whether another journal fills the index.
func NewCoverage(every time.Duration, journal CoverageJournal, indexed func(context.Context, report.Kind) (int, error),
	foreign func(report.Kind) bool, reg prometheus.Registerer, log *slog.Logger) *Coverage {
	c := &Coverage{journal: journal, indexed: indexed, foreign: foreign, every: every, log: log, lacking: map[report.Kind]report.Lacking{}}
	c.gauge = UnknownDocuments()
	reg.MustRegister(c.gauge)
	return c
}

// UnknownDocuments returns the metric of documents that the journal does not know, at 0 for every
// kind.
func UnknownDocuments() *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "riskdex_documents_unknown",
		Help: "Documents of the index that the journal does not know, if they are most of it; otherwise 0.",
	}, []string{"kind"})
	for _, kind := range report.Kinds() {
		g.WithLabelValues(string(kind))
	}
	return g
}

// Lacking returns the kinds of which the journal lacks most documents, in their order. It may
// be called concurrently.
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
	wells := 0                     // in a row: an index may not show its newest documents for a while
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
		wells++
		if !well {
			wells = 0
		}
		if wells >= coverageTries {
			rest *= coverageWhileWell
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
	}
}

// compare returns what a kind lacks, or nil. compared is false if that is unknown now.
func (c *Coverage) compare(ctx context.Context, kind report.Kind) (l *report.Lacking, compared bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, elastic.RequestTimeout)
	defer cancel()
	if c.foreign(kind) {
		return nil, false, nil // reported already
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
	// Pending changes may be deletes.
	k := stats.Kinds[kind]
	unknown := indexed - known - k.Pending - k.Resending
	never := known == 0 && k.Accepted[report.Index]+k.Accepted[report.Delete] == 0
	if unknown <= 0 || !never && !mostlyUnknown(unknown, indexed) {
		return nil, true, nil
	}
	return &report.Lacking{Kind: kind, Known: known, Indexed: indexed}, true, nil
}

// tell reports the result for a kind.
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
