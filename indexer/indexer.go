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
	"riskdex/internal/loglimit"
	"riskdex/report"
)

// Journal is what the indexer needs of the journal.
type Journal interface {
	// Claim gives out pending changes of kind, oldest first: at most maxChanges, and at most
	// maxBytes of bodies unless the first alone is larger. It gives no document out twice
	// before that is settled. Changes that are sent again come in claims of their own, and
	// mostly while there are no others.
	Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error)
	// Settle records what became of claimed changes, and ends their claims.
	Settle(ctx context.Context, settlements []report.Settlement) error
	// LockKind keeps other processes from claiming changes of kind, until UnlockKind. While
	// another process has the lock, it returns report.ErrKindLocked; so does Claim, then and once
	// afterwards. Claim with maxChanges 0 only asks for that.
	LockKind(ctx context.Context, kind report.Kind) error
	UnlockKind(kind report.Kind)
	// Resend marks some documents of kind after a cursor to be given out again, deleted ones
	// among them, and returns how many, and where to go on: the zero cursor after the last.
	Resend(ctx context.Context, kind report.Kind, after report.ResendCursor) (int, report.ResendCursor, error)
	// ResendDeleted marks all deletes that were accepted since the given time.
	ResendDeleted(ctx context.Context, kind report.Kind, since time.Time) (int, error)
	// Changed receives when there may be something new to claim, or a retry is due.
	Changed() <-chan struct{}
	// RaiseVersions gives pending documents a version above the one that an index has, unless the
	// journal has a newer one by then, and returns how many.
	RaiseVersions(ctx context.Context, list []report.Ahead) (int, error)
	// RetryDead has dead letters sent again.
	RetryDead(ctx context.Context, letters []report.Stamp) (int, error)
	// Documents returns how many live documents of kind there are.
	Documents(ctx context.Context, kind report.Kind) (int, error)
	// Stats returns the journal's sums.
	Stats(ctx context.Context) (report.Stats, error)
	// CheckGiven compares the journal with versions that it gave out. If it lacks one, it was set
	// back: it then gives out nothing from before, until somebody has acknowledged that.
	CheckGiven(ctx context.Context, given []report.Stamp) error
	// Note stores a short text under a name.
	Note(ctx context.Context, name, value string) error
}

// Documents makes the documents that are sent to Elasticsearch.
type Documents interface {
	// AppendDocument appends the document for c to dst, as one line of JSON. It returns the
	// fields that it left empty because the values in the record do not fit.
	AppendDocument(dst []byte, c report.Change) (doc []byte, unfit []string, err error)
	// Unfit returns all fields that AppendDocument may return for a kind.
	Unfit(kind report.Kind) []string
	// See looks at changes of kind that come to be sent. If they tell that the kind is better read in
	// another way, and infer is set, documents are made that way from now on, and See returns it, to be
	// kept for Use, and whether no document of kind was made before.
	See(kind report.Kind, changes []report.Change, infer bool) (told string, first bool)
	// Use has documents of kind made as See has returned it. Empty, it changes nothing.
	Use(kind report.Kind, told string) error
}

// Indices manages the indices behind the aliases.
type Indices interface {
	Alias(kind report.Kind) string
	// Ensure makes sure that kind has an index that can be written to, behind its alias, and
	// returns its name. If that index is new, or its content unknown, Ensure first calls resend and
	// deletes what a rebuild has left unfinished. The error wraps report.ErrAnotherJournal if
	// another journal fills the index, which is then returned too, or report.ErrUndecided if
	// only the next call can tell. It is a *report.WrongAlias if the alias is anything else than
	// the index, which is returned too if it is known.
	Ensure(ctx context.Context, kind report.Kind, resend func(context.Context) error) (index string, err error)
	// Place returns where the indices are, in words that differ for each cluster and prefix;
	// empty if that cannot be told.
	Place(ctx context.Context) (string, error)
	// CheckLineage returns an error that wraps report.ErrAnotherJournal if another journal fills
	// the index of kind.
	CheckLineage(ctx context.Context, kind report.Kind) error
	// CheckTakeOver is CheckLineage during a take-over that fills the index target. Another journal
	// may fill the index behind the alias, which is returned, but none may have begun a
	// take-over since.
	CheckTakeOver(ctx context.Context, kind report.Kind, target string) (index string, err error)
	// Given returns the newest versions in the index of kind that the journal gave out, up to limit; those
	// of the last moment only if it is refreshed before.
	Given(ctx context.Context, kind report.Kind, limit int, refresh bool) ([]report.Stamp, error)
	// Forget is called after another process has managed the indices of kind. Ensure then
	// accepts them as that process has left them.
	Forget(kind report.Kind)
	// MappingChanged reports whether a new index would differ from the one behind the alias.
	MappingChanged(ctx context.Context, kind report.Kind) (bool, error)
	// MarkUnfilled says of the index behind the alias, if it has no documents, that it is as a new one
	// would be.
	MarkUnfilled(ctx context.Context, kind report.Kind) (done bool, err error)
	// Leftovers returns the indices of earlier rebuilds: unfinished ones, and replaced ones.
	Leftovers(ctx context.Context, kind report.Kind) (unfinished, old []string, err error)
	// Next returns the name for a new index, and Create creates it without the alias.
	Next(ctx context.Context, kind report.Kind) (index string, err error)
	Create(ctx context.Context, kind report.Kind, index string) error
	// Refresh makes the documents of an index visible, and returns how many there are.
	Refresh(ctx context.Context, index string) (documents int, err error)
	// Swap moves the alias in one step; from may be empty. Repeating it is harmless.
	Swap(ctx context.Context, kind report.Kind, from, to string) error
	// Remove deletes an index of an earlier or unfinished rebuild, and no other.
	Remove(ctx context.Context, kind report.Kind, index string) error
}

// Config bounds the indexer. Its numbers and times must be greater than zero, except
// RefreshShare.
type Config struct {
	Workers     int // goroutines that send bulks
	BulkChanges int // changes in one bulk at most
	BulkBytes   int // bytes of bodies in one bulk at most; a document is larger than its body

	FirstBackoff   time.Duration // roughly the first wait after a failure
	LongestBackoff time.Duration // roughly the longest wait
	CheckEvery     time.Duration // how often an index is checked
	RestartTakes   time.Duration // how long Elasticsearch must be away for a restart to be possible
	StopWithin     time.Duration // how long tasks under way may take to end at a stop

	// DebounceLimit is how long a document waits at most that was overtaken while it was
	// being sent: one that changes all the time is sent no more often than that. If nothing
	// more is delivered for it, it waits for report.Debounce only.
	DebounceLimit time.Duration

	RetireAfter    time.Duration // how long a replaced index is kept, for searches under way
	RebuildTimeout time.Duration // how long a new index may accept nothing while the old one does, before its rebuild fails

	// RefreshShare is the largest share of the time that refreshes of an index may take,
	// from 0 to 1. With 0 there are none, and changes become visible at the index's own
	// refresh interval.
	RefreshShare float64

	Tracer trace.Tracer // creates the spans of bulks and settlements; nil without tracing

	Probe bool // index the probe as well, with a worker in addition to Workers
}

// kinds returns the kinds that have a lane.
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
		RetireAfter:   time.Minute, RebuildTimeout: time.Minute, RefreshShare: 0.3,
	}
}

func (c Config) validate() error {
	if min(c.Workers, c.BulkChanges, c.BulkBytes) <= 0 {
		return fmt.Errorf("workers, changes and bytes in a bulk must be more than 0, not %d, %d and %d", c.Workers, c.BulkChanges, c.BulkBytes)
	}
	if min(c.FirstBackoff, c.LongestBackoff, c.CheckEvery, c.RestartTakes, c.StopWithin, c.DebounceLimit, c.RetireAfter, c.RebuildTimeout) <= 0 {
		return errors.New("backoff, check, stop, debounce and rebuild times must be more than 0")
	}
	if !(c.RefreshShare >= 0 && c.RefreshShare <= 1) { // also if it is NaN
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
	noNodes   sync.Once // the log says that Elasticsearch does not list its nodes
	metrics   *metrics
	log       *slog.Logger
	giveUp    chan struct{} // closed when Run must no longer wait for the journal
	warned    loglimit.Limiter
	commands  *commands
	status    *statusRegistry
	notes     notes
	compared  compared
	turns     turns
	large     chan struct{} // has a value while a task sends what is larger than a bulk
}

// New returns an indexer that does not run yet.
func New(cfg Config, journal Journal, documents Documents, indices Indices, client *elastic.Client,
	reg prometheus.Registerer, log *slog.Logger) (*Indexer, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	x := &Indexer{
		cfg: cfg, journal: journal, documents: documents, indices: indices, client: client,
		metrics: newMetrics(reg, indices, documents, cfg.kinds()), log: log, giveUp: make(chan struct{}),
		commands: newCommands(), status: newStatusRegistry(), warned: loglimit.Limiter{Every: warnEvery},
		large: make(chan struct{}, 1),
	}
	x.failing = x.newFailing()
	x.compared.tried, x.compared.once = map[report.Kind]bool{}, make(chan struct{})
	return x, nil
}

// ElasticsearchUp reports whether Elasticsearch answered the last request, if there was one.
// It may be called concurrently.
func (x *Indexer) ElasticsearchUp() bool { return x.metrics.isUp.Load() }
