package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/elastic/go-elasticsearch/v8"
	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// Journal is what the indexer needs of the journal.
type Journal interface {
	// Claim gives out pending changes of kind, those that wait longest first:
	// at most maxChanges, and no more than maxBytes of bodies unless the first
	// alone is larger. No document is given out twice before it is settled.
	Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error)
	// Settle writes down what became of claimed changes and gives them back.
	Settle(ctx context.Context, settlements []report.Settlement) error
	// Resend makes the journal give out every document of kind once more, the
	// deleted ones too.
	Resend(ctx context.Context, kind report.Kind) (int, error)
	// Changed receives after there may be something new to claim.
	Changed() <-chan struct{}
}

// Documents makes the documents that are sent to Elasticsearch.
type Documents interface {
	// AppendDocument appends the document for c to dst, as JSON in one line. It
	// names the fields that have been left empty because what the record has for
	// them does not fit.
	AppendDocument(dst []byte, c report.Change) (doc []byte, unfit []string, err error)
}

// Indices looks after the indices behind the aliases.
type Indices interface {
	Alias(kind report.Kind) string
	// Ensure sees to it that the alias of kind can be written to. Where it has
	// to make a new index it calls beforeCreate first.
	Ensure(ctx context.Context, kind report.Kind, beforeCreate func(context.Context) error) error
}

// Config bounds what the indexer does. All of it must be more than zero.
type Config struct {
	Workers     int // goroutines that send bulks
	BulkChanges int // changes in one bulk at most
	BulkBytes   int // bytes of bodies in one bulk at most; a document is larger than its body

	FirstBackoff   time.Duration // about the first wait after a failure
	LongestBackoff time.Duration // about the longest
	CheckEvery     time.Duration // how often an idle index is looked at
	StopWithin     time.Duration // how long turns under way have to end
}

// DefaultConfig suits a small Elasticsearch.
func DefaultConfig() Config {
	return Config{
		Workers: 4, BulkChanges: 1000, BulkBytes: 4 << 20,
		FirstBackoff: 200 * time.Millisecond, LongestBackoff: 5 * time.Second,
		CheckEvery: 15 * time.Second, StopWithin: 10 * time.Second,
	}
}

func (c Config) validate() error {
	if min(c.Workers, c.BulkChanges, c.BulkBytes) <= 0 {
		return fmt.Errorf("workers, changes and bytes in a bulk must be more than 0, not %d, %d and %d", c.Workers, c.BulkChanges, c.BulkBytes)
	}
	if min(c.FirstBackoff, c.LongestBackoff, c.CheckEvery, c.StopWithin) <= 0 {
		return errors.New("backoff, check and stop times must be more than 0")
	}
	return nil
}

// Indexer keeps Elasticsearch in step with a journal.
type Indexer struct {
	cfg       Config
	journal   Journal
	documents Documents
	indices   Indices
	client    *elasticsearch.Client
	patience  *patience
	metrics   *metrics
	log       *slog.Logger
	giveUp    chan struct{} // closed when Run may wait for the journal no longer
}

// New returns an indexer that has yet to be run.
func New(cfg Config, journal Journal, documents Documents, indices Indices, client *elasticsearch.Client,
	reg prometheus.Registerer, log *slog.Logger) (*Indexer, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	x := &Indexer{
		cfg: cfg, journal: journal, documents: documents, indices: indices, client: client,
		metrics: newMetrics(reg, indices), log: log, giveUp: make(chan struct{}),
	}
	x.patience = &patience{newBackOff: x.newBackOff, longest: cfg.LongestBackoff, waits: map[report.Key]*backoff.ExponentialBackOff{}}
	return x, nil
}

// ElasticsearchUp tells whether Elasticsearch answered the last request. It may
// be called at any time, by anybody.
func (x *Indexer) ElasticsearchUp() bool { return x.metrics.isUp.Load() }

// ensure sees to it that the index of kind is there. A new one is filled with
// everything the journal knows; the journal is told first, so that a crash in
// between cannot leave an index that silently lacks documents.
func (x *Indexer) ensure(ctx context.Context, kind report.Kind) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return x.indices.Ensure(ctx, kind, func(ctx context.Context) error {
		n, err := x.journal.Resend(ctx, kind)
		if err != nil {
			return fmt.Errorf("mark the documents of %s to be sent to a new index: %w", kind, err)
		}
		x.log.Info("making a new index: every document is sent to it", "index", x.indices.Alias(kind), "documents", n)
		return nil
	})
}

// ensureTrouble judges why the index could not be looked after, by the same
// rules as any other answer.
func (x *Indexer) ensureTrouble(kind report.Kind, err error) *judgement {
	a := answer{level: transport, detail: err.Error()}
	var refused interface {
		Answer() (status int, errorType, reason string)
	}
	if errors.As(err, &refused) {
		a.level = request
		a.status, a.errorType, _ = refused.Answer()
	}
	j := classify(a)
	if j.verdict == bisect || j.verdict == dead {
		j.verdict = hold // there is no document in it that could be to blame
	}
	x.metrics.answered(a.level == request && j.reason != reasonUnavailable)
	x.metrics.failures.WithLabelValues(string(kind), j.reason).Inc()
	return &j
}
