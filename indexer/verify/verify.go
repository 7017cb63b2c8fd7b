package verify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// Journal is the part of the journal that a verification needs.
type Journal interface {
	// Entries returns up to limit documents of kind with ids after the given one,
	// including tombstones, in byte order of their ids.
	Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error)
	// Lookup returns the entries of those of ids that the journal knows, in no order.
	Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error)
	// Reissue has settled documents sent again under a new version.
	Reissue(ctx context.Context, stamps []report.Stamp) (int, error)
	// Append accepts a delivery, all of it or nothing.
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)
	// LockVerify returns report.ErrVerifying while any process verifies kind. Otherwise
	// the caller calls done in the end.
	LockVerify(ctx context.Context, kind report.Kind) (done func(), err error)
}

// Aliases knows the index of each kind.
type Aliases interface {
	Alias(kind report.Kind) string
	// CheckSearched returns report.ErrAnotherJournal if another journal fills the index, and a
	// *report.WrongAlias if apps search anything else than that index.
	CheckSearched(ctx context.Context, kind report.Kind) error
}

// Config bounds a verification. All values must be greater than zero.
type Config struct {
	Page        int // documents per request; two pages are in memory
	MaxFindings int // kept in a report; further ones are only counted

	FirstBackoff   time.Duration // roughly the first wait after a failure, or for a repaired document
	LongestBackoff time.Duration // roughly the longest wait
	RetryTimeout   time.Duration // how long a request is retried after temporary failures
	RepairWithin   time.Duration // how long a repair waits until a page of documents is right
	TellEvery      time.Duration // how often to tell that a request or the journal is waited for
}

// DefaultConfig suits a small Elasticsearch with other work to do.
func DefaultConfig() Config {
	return Config{
		Page: 1000, MaxFindings: 1000,
		FirstBackoff: 50 * time.Millisecond, LongestBackoff: 2 * time.Second,
		RetryTimeout: 2 * time.Minute, RepairWithin: time.Minute, TellEvery: 2 * time.Second,
	}
}

func (c Config) validate() error {
	if min(c.Page, c.MaxFindings) <= 0 {
		return fmt.Errorf("the documents in a page and the findings kept must be more than 0, not %d and %d", c.Page, c.MaxFindings)
	}
	if min(c.FirstBackoff, c.LongestBackoff, c.RetryTimeout, c.RepairWithin, c.TellEvery) <= 0 {
		return errors.New("the times of a verification must be more than 0")
	}
	return nil
}

// Verifier compares Elasticsearch with the journal. It may be used concurrently, and while
// an Indexer runs.
type Verifier struct {
	cfg     Config
	journal Journal
	aliases Aliases
	client  *elastic.Client
}

// New returns a verifier.
func New(cfg Config, journal Journal, aliases Aliases, client *elastic.Client) (*Verifier, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Verifier{cfg, journal, aliases, client}, nil
}

// Options says what a verification does besides comparing. Of the functions, which may be nil, one is
// called at a time, and none after Verify.
type Options struct {
	// Repair repairs differences through the journal: missing and stale documents are sent
	// again, foreign ones are overwritten or deleted. It needs a running Indexer on the
	// same journal.
	Repair bool
	// RemoveForeign lets Repair also change documents that may come from another journal,
	// which it leaves alone otherwise: see Report.Kept.
	RemoveForeign bool

	Progress func(report.VerifyProgress) // after every page
	Found    func(report.VerifyFinding)  // for every finding, including those that the report does not keep
	Waiting  func(report.Waiting)        // now and then while there is no answer, and once there is
}

// Verify compares the version of every document in the index of kind with the journal. It
// reads a page while it compares the one before: it holds two in memory, and sends two
// requests at a time at most. It may be repeated at will. Changes under way are no findings.
// It compares nothing but versions: a document that somebody altered without a new version
// goes unnoticed.
//
// The error is report.ErrVerifying while another call verifies the kind, in any process, and
// an *Error for trouble with Elasticsearch or the index. The report then has the findings so
// far.
func (v *Verifier) Verify(ctx context.Context, kind report.Kind, opt Options) (Report, error) {
	if _, err := report.ParseKind(string(kind)); err != nil {
		return Report{}, err
	}
	r := &verification{Verifier: v, kind: kind, alias: v.aliases.Alias(kind), opt: opt, report: Report{VerifyReport: report.VerifyReport{Kind: kind}}}
	locking := r.beginWait(report.WaitsForJournal)
	done, err := v.journal.LockVerify(ctx, kind)
	locking.end(err)
	if err != nil {
		return r.report, err
	}
	defer done()
	err = r.checkSearched(ctx)
	if err == nil {
		err = r.journalToIndex(ctx)
	}
	if err == nil {
		err = r.indexToJournal(ctx)
	}
	r.report.Advice = r.report.advice()
	if err != nil {
		return r.report, fmt.Errorf("verify %s: %w", kind, err)
	}
	return r.report, nil
}

// verification is one run of Verify.
type verification struct {
	*Verifier
	kind   report.Kind
	alias  string
	opt    Options
	report Report
	tired  bool // a page was not repaired in time: do not wait for later ones
	waited bool // a repair waited since the next page was read

	telling sync.Mutex      // held while a function of opt is called
	waiting *report.Waiting // last told, if it has not ended; guarded by telling
	told    time.Time       // guarded by telling
}

func (r *verification) progress(p report.VerifyProgress) {
	if r.opt.Progress != nil {
		p.Kind, p.Found = r.kind, r.report.Found()
		r.telling.Lock()
		defer r.telling.Unlock()
		r.opt.Progress(p)
	}
}

// lookup returns the journal's entries of ids, by id.
func (r *verification) lookup(ctx context.Context, ids []report.ID) (map[report.ID]report.Entry, error) {
	wait := r.beginWait(report.WaitsForJournal)
	entries, err := r.journal.Lookup(ctx, r.kind, ids)
	wait.end(err)
	if err != nil {
		return nil, fmt.Errorf("look %d documents up in the journal: %w", len(ids), err)
	}
	known := make(map[report.ID]report.Entry, len(entries))
	for _, e := range entries {
		known[e.ID] = e
	}
	return known, nil
}

// checkSearched returns an error if another journal fills the index, or if apps search something
// else. Nothing is then compared or repaired.
func (r *verification) checkSearched(ctx context.Context) error {
	return r.ask(ctx, "the verification", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, elastic.RequestTimeout)
		defer cancel()
		return r.aliases.CheckSearched(ctx, r.kind)
	})
}

func (r *verification) newBackOff(within time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = r.cfg.FirstBackoff
	b.MaxInterval = r.cfg.LongestBackoff
	b.MaxElapsedTime = within
	b.Reset()
	return b
}
