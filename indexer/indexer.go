package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"riskdex/elastic"
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
	// LockKind has no other process claim changes of kind, until UnlockKind. It returns
	// report.ErrHeld where another one has done that; so does Claim, then and once
	// after. Claim with maxChanges 0 only asks.
	LockKind(ctx context.Context, kind report.Kind) error
	UnlockKind(kind report.Kind)
	// Resend makes the journal give out every document of kind once more, the
	// deleted ones too.
	Resend(ctx context.Context, kind report.Kind) (int, error)
	// ResendDeleted is Resend for deletes that were accepted since the given time.
	ResendDeleted(ctx context.Context, kind report.Kind, since time.Time) (int, error)
	// Changed receives after there may be something new to claim, also where a
	// retry has become due.
	Changed() <-chan struct{}
	// Pass gives documents that wait a version above the one that an index has, unless a
	// newer one of theirs is known by then, and returns how many.
	Pass(ctx context.Context, list []report.Ahead) (int, error)
	// RetryDead has dead letters sent once more.
	RetryDead(ctx context.Context, letters []report.Stamp) (int, error)
	// Documents returns how many documents of kind there are that are not deleted.
	Documents(ctx context.Context, kind report.Kind) (int, error)
	// Stats tells how much there is.
	Stats(ctx context.Context) (report.Stats, error)
	// Note keeps a short text under a name.
	Note(ctx context.Context, name, value string) error
}

// Documents makes the documents that are sent to Elasticsearch.
type Documents interface {
	// AppendDocument appends the document for c to dst, as JSON in one line. It
	// names the fields that have been left empty because what the record has for
	// them does not fit.
	AppendDocument(dst []byte, c report.Change) (doc []byte, unfit []string, err error)
	// Unfit returns all fields that AppendDocument may name for a kind.
	Unfit(kind report.Kind) []string
}

// Indices looks after the indices behind the aliases.
type Indices interface {
	Alias(kind report.Kind) string
	// Ensure sees to it that the alias of kind can be written to, and returns the
	// index behind it. Where that is new, or what it holds unknown, it calls resend
	// first, after it has deleted what a rebuild has left unfinished.
	Ensure(ctx context.Context, kind report.Kind, resend func(context.Context) error) (index string, err error)
	// The error of Ensure wraps report.ErrAnotherJournal where another journal fills
	// the index, and report.ErrUndecided where the next call shows whether that is so.
	// With the former comes the index all the same. CheckLine only asks, and returns the
	// former error. CheckClaim does so while a rebuild that takes the index over fills the
	// index claim: another journal may fill the one behind the alias, but none may have
	// begun to take it over since.
	CheckLine(ctx context.Context, kind report.Kind) error
	CheckClaim(ctx context.Context, kind report.Kind, claim string) (index string, err error)
	// Forget is called after another process has looked after the indices of kind.
	Forget(kind report.Kind)
	// MappingChanged tells whether a new index would be made in another way than
	// the one behind the alias was.
	MappingChanged(ctx context.Context, kind report.Kind) (bool, error)
	// Leftovers returns the indices of earlier rebuilds: those that were being
	// filled, and those whose place was taken.
	Leftovers(ctx context.Context, kind report.Kind) (unfinished, old []string, err error)
	// Next returns the name for a new index, and Create makes it, without alias.
	Next(ctx context.Context, kind report.Kind) (index string, err error)
	Create(ctx context.Context, kind report.Kind, index string) error
	// Refresh makes what an index has visible, and returns how many documents.
	Refresh(ctx context.Context, index string) (documents int, err error)
	// Swap moves the alias in one step, from none where from is empty. To repeat it is
	// harmless.
	Swap(ctx context.Context, kind report.Kind, from, to string) error
	// Remove deletes an index of an earlier or unfinished rebuild, and no other.
	Remove(ctx context.Context, kind report.Kind, index string) error
}

// Config bounds what the indexer does. Its numbers and times must be more than
// zero, but for RefreshShare.
type Config struct {
	Workers     int // goroutines that send bulks
	BulkChanges int // changes in one bulk at most
	BulkBytes   int // bytes of bodies in one bulk at most; a document is larger than its body

	FirstBackoff   time.Duration // about the first wait after a failure
	LongestBackoff time.Duration // about the longest
	CheckEvery     time.Duration // how often an index is checked, unless bulks for it never pause
	RestartTakes   time.Duration // how long Elasticsearch must be away to have been restarted
	StopWithin     time.Duration // how long tasks under way have to end

	// DebounceLimit is how long a document that was overtaken on its way waits at most,
	// after that way's end: one that changes all the time is sent no more often than that.
	// One for which nothing more comes waits no longer than report.Debounce.
	DebounceLimit time.Duration

	RetireAfter     time.Duration // how long an index is kept after a rebuild took its place, for searches under way
	RebuildPatience time.Duration // for how long a new index may take nothing while the old one does, before its rebuild is given up

	// RefreshShare is what part of the time refreshes of an index may take at most,
	// from 0 to 1. With 0 there are none, and a change becomes visible when the
	// index refreshes by itself.
	RefreshShare float64

	Tracer trace.Tracer // makes the spans of bulks and settlements; nil when nothing is traced

	Probe bool // index the probe as well, with a worker beside Workers
}

// kinds returns what there are lanes for.
func (c Config) kinds() []report.Kind {
	if c.Probe {
		return report.AllKinds()
	}
	return report.Kinds()
}

// DefaultConfig suits a small Elasticsearch.
func DefaultConfig() Config {
	return Config{
		Workers: 4, BulkChanges: 1000, BulkBytes: 1 << 20,
		FirstBackoff: 200 * time.Millisecond, LongestBackoff: 5 * time.Second,
		CheckEvery: 15 * time.Second, RestartTakes: 3 * time.Second, StopWithin: 10 * time.Second,
		DebounceLimit: 3 * time.Second,
		RetireAfter:   time.Minute, RebuildPatience: time.Minute, RefreshShare: 0.5,
	}
}

func (c Config) validate() error {
	if min(c.Workers, c.BulkChanges, c.BulkBytes) <= 0 {
		return fmt.Errorf("workers, changes and bytes in a bulk must be more than 0, not %d, %d and %d", c.Workers, c.BulkChanges, c.BulkBytes)
	}
	if min(c.FirstBackoff, c.LongestBackoff, c.CheckEvery, c.RestartTakes, c.StopWithin, c.DebounceLimit, c.RetireAfter, c.RebuildPatience) <= 0 {
		return errors.New("backoff, check, stop, debounce and rebuild times must be more than 0")
	}
	if !(c.RefreshShare >= 0 && c.RefreshShare <= 1) { // also when it is no number
		return fmt.Errorf("the share of the time that refreshes may take must be from 0 to 1, not %v", c.RefreshShare)
	}
	return nil
}

// Indexer keeps Elasticsearch in step with a journal.
type Indexer struct {
	cfg       Config
	journal   Journal
	documents Documents
	indices   Indices
	client    *elastic.Client
	failing   *failing
	traffic   traffic
	noNodes   sync.Once // it was said that Elasticsearch does not tell its nodes
	metrics   *metrics
	log       *slog.Logger
	giveUp    chan struct{} // closed when Run may wait for the journal no longer
	warned    logLimiter
	commands  *commands
	status    *statusRegistry
	notes     notes
}

// New returns an indexer that has yet to be run.
func New(cfg Config, journal Journal, documents Documents, indices Indices, client *elastic.Client,
	reg prometheus.Registerer, log *slog.Logger) (*Indexer, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	x := &Indexer{
		cfg: cfg, journal: journal, documents: documents, indices: indices, client: client,
		metrics: newMetrics(reg, indices, documents, cfg.kinds()), log: log, giveUp: make(chan struct{}),
		commands: newCommands(), status: newStatusRegistry(),
	}
	x.failing = x.nothingFailing()
	return x, nil
}

// ElasticsearchUp tells whether Elasticsearch answered the last request, if there was one.
// It may be called at any time, by anybody.
func (x *Indexer) ElasticsearchUp() bool { return x.metrics.isUp.Load() }
