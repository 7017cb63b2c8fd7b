package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// Journal is what a verification needs of the journal.
type Journal interface {
	// Entries returns up to limit documents of kind whose ids come after the
	// given one, tombstones among them, in the order of their ids' bytes.
	Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error)
	// Lookup returns what is known of those of ids that are known, in no order.
	Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error)
	// Renew has settled documents sent once more, under a new version.
	Renew(ctx context.Context, stamps []report.Stamp) (int, error)
	// Append takes a delivery, all of it or nothing.
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)
	// LockVerify returns report.ErrVerifying while kind is verified, by whichever
	// process. Otherwise done is called in the end.
	LockVerify(ctx context.Context, kind report.Kind) (done func(), err error)
}

// Aliases tells where the documents of a kind are.
type Aliases interface {
	Alias(kind report.Kind) string
	// CheckLine returns report.ErrAnotherJournal where another journal fills the index.
	CheckLine(ctx context.Context, kind report.Kind) error
}

// Config bounds what a verification does. All of it must be more than
// zero.
type Config struct {
	Page        int // documents that are asked for, and held in memory, at a time
	MaxFindings int // kept in a report; the others are only counted

	FirstBackoff   time.Duration // about the first wait after a failure, or for a document that is mended
	LongestBackoff time.Duration // about the longest
	Patience       time.Duration // how long one request is repeated while it fails for reasons that pass
	MendWithin     time.Duration // how long a repair waits to see a page of documents mended
}

// DefaultConfig suits a small Elasticsearch that is busy with other things.
func DefaultConfig() Config {
	return Config{
		Page: 1000, MaxFindings: 1000,
		FirstBackoff: 50 * time.Millisecond, LongestBackoff: 2 * time.Second,
		Patience: 2 * time.Minute, MendWithin: time.Minute,
	}
}

func (c Config) validate() error {
	if min(c.Page, c.MaxFindings) <= 0 {
		return fmt.Errorf("the documents in a page and the findings kept must be more than 0, not %d and %d", c.Page, c.MaxFindings)
	}
	if min(c.FirstBackoff, c.LongestBackoff, c.Patience, c.MendWithin) <= 0 {
		return errors.New("the times of a verification must be more than 0")
	}
	return nil
}

// Verifier compares what Elasticsearch has with the journal. It may be used
// concurrently, and while an Indexer runs.
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

// Options says what a verification is to do besides comparing. The
// functions are called from the goroutine of Verify, and may be nil.
type Options struct {
	// Repair has what is wrong mended, by way of the journal: what is missing or
	// stale is sent again, what is foreign is overwritten or deleted. It needs an
	// Indexer that runs on the same journal.
	Repair bool
	// RemoveForeign has Repair mend also what it leaves alone otherwise, because
	// it may come from another journal: see Report.Kept.
	RemoveForeign bool

	Progress func(report.VerifyProgress) // after every page
	Found    func(report.VerifyFinding)  // every finding, also those that the report does not keep
}

// Verify compares the version of every document in the index of kind with the
// journal. It sends one request at a time, holds one page of documents at a
// time, and may be repeated at will. Changes that are under way are no
// findings. Nothing but versions is compared: a document that somebody has
// altered without a new version goes unnoticed.
//
// The error is report.ErrVerifying while the kind is verified by somebody else, in this
// process or another, and a *Error where it is Elasticsearch's or the index's trouble.
// The report then has what was found until then.
func (v *Verifier) Verify(ctx context.Context, kind report.Kind, opt Options) (Report, error) {
	if _, err := report.ParseKind(string(kind)); err != nil {
		return Report{}, err
	}
	done, err := v.journal.LockVerify(ctx, kind)
	if err != nil {
		return Report{VerifyReport: report.VerifyReport{Kind: kind}}, err
	}
	defer done()
	r := &verification{Verifier: v, kind: kind, alias: v.aliases.Alias(kind), opt: opt, report: Report{VerifyReport: report.VerifyReport{Kind: kind}}}
	err = r.checkLine(ctx)
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
	tired  bool // a page was not mended in time; the next ones are not waited for
}

func (r *verification) progress(p report.VerifyProgress) {
	if r.opt.Progress != nil {
		p.Kind, p.Found = r.kind, r.report.Found()
		r.opt.Progress(p)
	}
}

// lookup returns what the journal knows of ids, by id.
func (r *verification) lookup(ctx context.Context, ids []report.ID) (map[report.ID]report.Entry, error) {
	entries, err := r.journal.Lookup(ctx, r.kind, ids)
	if err != nil {
		return nil, fmt.Errorf("look %d documents up in the journal: %w", len(ids), err)
	}
	known := make(map[report.ID]report.Entry, len(entries))
	for _, e := range entries {
		known[e.ID] = e
	}
	return known, nil
}

// checkLine keeps an index from being compared, and repaired, that another journal
// fills.
func (r *verification) checkLine(ctx context.Context) error {
	return backoff.Retry(func() error {
		asking, cancel := context.WithTimeout(ctx, elastic.RequestTimeout)
		defer cancel()
		err := r.aliases.CheckLine(asking, r.kind)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return backoff.Permanent(ctx.Err())
		}
		verdict, reason, answer := elastic.ClassifyError(err)
		failed := &Error{Index: r.alias, Doing: "the verification", Reason: reason, Detail: answer.Detail, status: answer.Status}
		if verdict != elastic.Retry {
			return backoff.Permanent(failed)
		}
		return failed
	}, backoff.WithContext(r.newBackOff(r.cfg.Patience), ctx))
}

func (r *verification) newBackOff(within time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = r.cfg.FirstBackoff
	b.MaxInterval = r.cfg.LongestBackoff
	b.MaxElapsedTime = within
	b.Reset()
	return b
}
