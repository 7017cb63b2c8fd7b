package admin

import (
	"context"
	"fmt"
	"net/http"

	"riskdex/report"
)

// Rebuilder fills new indices from the journal. An error is a *Problem if the client is to
// see a status other than 500.
type Rebuilder interface {
	// Rebuild starts filling a new index of kind.
	Rebuild(kind report.Kind) error
	// TakeOver is like Rebuild, also if another journal fills the index.
	TakeOver(kind report.Kind) error
	// StopRebuild gives up a rebuild that is under way. The old index stays.
	StopRebuild(kind report.Kind) error
	// Rebuilds returns the latest rebuild of every kind that this process has rebuilt since its
	// start.
	Rebuilds() []report.Rebuild
}

// Reasons why a command about a rebuild is refused, in a Problem with status 409.
const (
	ReasonRebuilding    = "rebuilding"     // this process is already rebuilding that kind
	ReasonNotRebuilding = "not_rebuilding" // there is no rebuild to stop
	ReasonSwapping      = "swapping"       // it is too late to stop the rebuild
	ReasonHeldElsewhere = "held_elsewhere" // another process has locked that kind

	ReasonAlias          = "alias_wrong"      // no index is known to be the one to replace
	ReasonLossOpen       = "loss_open"        // the journal was set back; somebody has to acknowledge that first
	ReasonClusters       = "several_clusters" // or did within the last ten minutes
	ReasonAnotherJournal = "another_journal"  // another journal fills the index; take_over=true takes it over
)

// rebuilds answers the calls on rebuilds.
type rebuilds struct {
	indexer Rebuilder
	journal Journal // nil if it is not known which process has locked a kind
	process string  // the name of this process
}

func (b *rebuilds) calls() []call {
	return []call{
		{http.MethodGet, "/api/rebuild", "", b.list},
		{http.MethodPost, "/api/rebuild", "kind take_over", b.start},
		{http.MethodPost, "/api/rebuild/stop", "kind", func(r *request) (any, error) { return b.with(r, b.indexer.StopRebuild) }},
	}
}

func (b *rebuilds) start(r *request) (any, error) {
	takeOver, err := r.flag("take_over")
	if err != nil {
		return nil, err
	}
	if takeOver {
		return b.with(r, b.indexer.TakeOver)
	}
	return b.with(r, b.indexer.Rebuild)
}

func (b *rebuilds) list(*request) (any, error) {
	return Page[report.Rebuild]{Items: append([]report.Rebuild{}, b.indexer.Rebuilds()...)}, nil
}

// with starts or stops the rebuild of one kind, and answers with all of them.
func (b *rebuilds) with(r *request, do func(report.Kind) error) (any, error) {
	kind, err := r.kind()
	if err != nil {
		return nil, err
	}
	if err := b.elsewhere(r.Context(), kind); err != nil {
		return nil, err
	}
	if err := do(kind); err != nil {
		return nil, err
	}
	return b.list(r)
}

// elsewhere returns an error if another process has locked a kind. This is only for a
// better message: the journal itself keeps two processes from locking the same kind.
func (b *rebuilds) elsewhere(ctx context.Context, kind report.Kind) error {
	if b.journal == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statsTimeout)
	defer cancel()
	stats, err := b.journal.Stats(ctx)
	if err != nil {
		return fmt.Errorf("the journal does not answer: %w", err)
	}
	if holder := stats.Kinds[kind].Holder; holder != "" && holder != b.process {
		return &Problem{Status: http.StatusConflict, Reason: ReasonHeldElsewhere, Detail: fmt.Sprintf(
			"Another process has locked %s: %q rebuilds it, or fills an index that was lost. Ask that one, or wait until it is done.", kind, holder)}
	}
	return nil
}
