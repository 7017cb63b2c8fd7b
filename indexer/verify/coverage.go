package verify

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
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

// Coverage compares the number of documents of each kind in the journal and in the index. That
// reveals two kinds of trouble.
//
// The journal lacks most documents of an index, which it could then not rebuild. The journal's lineage,
// recorded on the index, reveals another journal, but not an old backup of the same journal, and old
// indices do not record it.
//
// The index lacks documents that it had taken: somebody has deleted them there, and until the next
// delivery of each nothing else would notice.
//
// Counting the documents of the journal is expensive, so Coverage compares often only until all is
// well.
type Coverage struct {
	journal      CoverageJournal
	indexed      func(ctx context.Context, kind report.Kind) (int, error)
	refresh      func(ctx context.Context, kind report.Kind) error
	ownedByOther func(kind report.Kind) bool
	every        time.Duration // from one comparison to the next, until all have been well
	log          *slog.Logger
	unknown      *prometheus.GaugeVec
	missed       *prometheus.GaugeVec

	mu      sync.Mutex
	lacking map[report.Kind]report.Lacking
	missing map[report.Kind]int
	taken   map[report.Kind]int
}

// CoverageEvery is the usual time between comparisons until all is well.
const CoverageEvery = 5 * time.Second

const (
	coverageWhileWell = 12 // once all is well, comparisons are this many times rarer
	coverageTries     = 3  // comparisons in a row that have to agree: an index may show deleted documents for a while, and another may take its place meanwhile
)

// coverageShown is how long an index may take to show, by its own refreshes, what it has accepted.
// Where riskdex may not refresh it, the index is compared with what it had accepted that long ago.
const coverageShown = time.Minute

// NewCoverage returns a Coverage that does not run yet. indexed returns how many documents a
// search finds, refresh has it find all that were taken, and ownedByOther whether another journal
// fills the index.
func NewCoverage(every time.Duration, journal CoverageJournal, indexed func(context.Context, report.Kind) (int, error),
	refresh func(context.Context, report.Kind) error, ownedByOther func(report.Kind) bool, reg prometheus.Registerer, log *slog.Logger) *Coverage {
	c := &Coverage{
		journal: journal, indexed: indexed, refresh: refresh, ownedByOther: ownedByOther, every: every, log: log,
		unknown: gaugeOfKinds("riskdex_documents_unknown", "Documents of the index that the journal does not know, if they are most of it; otherwise 0."),
		missed:  gaugeOfKinds("riskdex_documents_missing", "Documents that Elasticsearch has taken and searches do not find, at least; 0 while that is not sure."),
		lacking: map[report.Kind]report.Lacking{}, missing: map[report.Kind]int{}, taken: map[report.Kind]int{},
	}
	reg.MustRegister(c.unknown, c.missed)
	return c
}

// gaugeOfKinds returns a metric at 0 for every kind.
func gaugeOfKinds(name, help string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"kind"})
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

// Missing returns how many documents that it had taken the index of each kind lacks, at least. It
// may be called concurrently.
func (c *Coverage) Missing() map[report.Kind]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.missing)
}

// Taken returns how many documents of each kind Elasticsearch had taken, and the journal not deleted
// since, at the last comparison. It may be called concurrently.
func (c *Coverage) Taken() map[report.Kind]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.taken)
}

// Run compares until ctx is done.
func (c *Coverage) Run(ctx context.Context) {
	kinds := map[report.Kind]*compared{}
	for _, kind := range report.Kinds() {
		kinds[kind] = &compared{kind: kind}
	}
	wells := 0 // in a row
	for {
		well := true
		for _, kind := range report.Kinds() {
			is, err := c.compare(ctx, kinds[kind])
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				c.log.Debug("cannot compare how much journal and index have", "kind", kind, "error", err)
			}
			well = well && is
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

// compared is what is known of a kind from the comparisons before.
type compared struct {
	kind           report.Kind
	lacked, missed int   // comparisons in a row at which the journal lacked documents, and at which the index did
	past           []had // at the comparisons of the last coverageShown, and at the one before
}

// had is what an index had taken at a moment. What is deleted later, it may lack.
type had struct {
	at        time.Time
	documents int
	deletes   uint64 // accepted until then
}

// note records what the index has accepted by now. It returns the smallest such number within
// coverageShown, and whether that whole period is known. The smallest, because a new index that
// is being filled has fewer documents than the old one; no older numbers, because documents that
// came since would hide missing ones.
func (k *compared) note(now had) (least had, known bool) {
	age := func(h had) time.Duration { return now.at.Sub(h.at) }
	k.past = append(k.past, now)
	for len(k.past) > 1 && age(k.past[1]) >= coverageShown {
		k.past = k.past[1:]
	}
	least = slices.MinFunc(k.past, func(a, b had) int {
		return cmp.Compare(a.documents+int(a.deletes), b.documents+int(b.deletes))
	})
	first := age(k.past[0])
	return least, first >= coverageShown && first < 2*coverageShown
}

// compare compares a kind. It returns false if not all is well with it, or if that is unknown now.
func (c *Coverage) compare(ctx context.Context, k *compared) (well bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, elastic.RequestTimeout)
	defer cancel()
	if c.ownedByOther(k.kind) {
		k.missed, k.past = 0, nil
		c.tellMissing(k.kind, 0)
		return false, nil // reported already
	}
	before, err := c.stats(ctx, k.kind)
	if err != nil {
		return false, err
	}
	documents, err := c.journal.Documents(ctx, k.kind)
	if err != nil {
		return false, err
	}
	now, err := c.stats(ctx, k.kind)
	if err != nil {
		return false, err
	}
	taken := had{time.Now(), documents - now.Pending - now.Resending - now.DeadLetters - now.DroppedLetters, before.Accepted[report.Delete]}
	c.mu.Lock()
	c.taken[k.kind] = max(0, taken.documents)
	c.mu.Unlock()
	count := func(of had) (indexed, missing int, err error) {
		if indexed, err = c.indexed(ctx, k.kind); err != nil {
			return 0, 0, err
		}
		after, err := c.stats(ctx, k.kind)
		return indexed, max(0, of.documents-int(after.Accepted[report.Delete]-of.deletes)-indexed), err
	}
	indexed, missing, err := count(taken)
	if err != nil {
		return false, err
	}
	lacks := lacking(k.kind, now, documents, indexed)
	if k.lacked++; lacks == nil {
		k.lacked = 0
	}
	if lacks == nil || k.lacked >= coverageTries {
		c.tellLacking(k.kind, lacks)
	}
	least, known := k.note(taken)
	if missing > 0 { // in a backlog, an index shows what it has taken at its own interval
		switch err = c.refresh(ctx, k.kind); {
		case err == nil:
			_, missing, err = count(taken)
		case elastic.AnswerOf(err).Status != http.StatusForbidden:
		case !known:
			return false, nil // it will be in a minute
		default:
			_, missing, err = count(least)
		}
		if err != nil {
			return false, err
		}
	}
	if k.missed++; missing == 0 {
		k.missed = 0
	}
	if missing == 0 || k.missed >= coverageTries {
		c.tellMissing(k.kind, missing)
	}
	return lacks == nil && missing == 0, nil
}

func (c *Coverage) stats(ctx context.Context, kind report.Kind) (report.KindStats, error) {
	all, err := c.journal.Stats(ctx)
	return all.Kinds[kind], err
}

// lacking returns what the journal lacks of a kind, or nil.
func lacking(kind report.Kind, k report.KindStats, known, indexed int) *report.Lacking {
	unknown := indexed - known - k.Pending - k.Resending // pending changes may be deletes
	never := known == 0 && k.Accepted[report.Index]+k.Accepted[report.Delete] == 0
	if unknown <= 0 || !never && !mostlyUnknown(unknown, indexed) {
		return nil
	}
	return &report.Lacking{Kind: kind, Known: known, Indexed: indexed}
}

// tellLacking reports what the journal lacks of a kind, or nil.
func (c *Coverage) tellLacking(kind report.Kind, l *report.Lacking) {
	c.mu.Lock()
	_, before := c.lacking[kind]
	delete(c.lacking, kind)
	unknown := 0
	if l != nil {
		c.lacking[kind] = *l
		unknown = l.Indexed - l.Known
	}
	c.mu.Unlock()
	c.unknown.WithLabelValues(string(kind)).Set(float64(unknown))
	switch {
	case l != nil && !before:
		c.log.Warn("the journal does not know most of what the index has: is it the right one?",
			"kind", kind, "journal_documents", l.Known, "index_documents", l.Indexed)
	case l == nil && before:
		c.log.Info("the journal knows what the index has", "kind", kind)
	}
}

// tellMissing reports how many documents the index lacks of a kind.
func (c *Coverage) tellMissing(kind report.Kind, n int) {
	c.mu.Lock()
	before := c.missing[kind]
	c.missing[kind] = n
	c.mu.Unlock()
	c.missed.WithLabelValues(string(kind)).Set(float64(n))
	switch {
	case n > 0 && before == 0:
		c.log.Error("searches do not find documents that Elasticsearch has taken: were they deleted there? riskdex verify --repair sends them again",
			"kind", kind, "at_least", n)
	case n == 0 && before > 0:
		c.log.Info("no more documents are known to be missing", "kind", kind)
	}
}
