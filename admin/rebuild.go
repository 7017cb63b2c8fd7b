package admin

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"riskdex/report"
)

// Rebuilder fills new indices from the journal. An error that is to be shown to
// the client with another status than 500 is a *Problem.
type Rebuilder interface {
	// Rebuild starts filling a new index of kind.
	Rebuild(kind report.Kind) error
	// TakeOver is Rebuild for an index that another journal may fill.
	TakeOver(kind report.Kind) error
	// StopRebuild gives one up that is under way; the old index stays.
	StopRebuild(kind report.Kind) error
	// Rebuilds returns the latest rebuild of every kind that this process has done
	// since its start.
	Rebuilds() []Rebuild
}

// Why an order about a rebuild is not carried out, as the Reason of a Problem with
// status 409.
const (
	ReasonRebuilding    = "rebuilding"     // this process rebuilds that kind already
	ReasonNotRebuilding = "not_rebuilding" // there is none to stop
	ReasonSwapping      = "swapping"       // it is too late to stop it
	ReasonHeldElsewhere = "held_elsewhere" // another process has that kind alone

	ReasonAnotherJournal = "another_journal" // fills the index; take_over=true takes it over
)

// Rebuild is one rebuild in an answer.
type Rebuild struct {
	Kind      report.Kind `json:"kind"`
	Phase     string      `json:"phase"`
	Cause     string      `json:"cause"`
	Active    bool        `json:"active"`           // the new index has yet to take its place
	Done      bool        `json:"done"`             // apps search the new index
	Reason    string      `json:"reason,omitempty"` // why it failed
	OldIndex  string      `json:"old_index,omitempty"`
	NewIndex  string      `json:"new_index,omitempty"`
	Total     int         `json:"total"`     // documents to be sent to the new index
	Remaining int         `json:"remaining"` // of these; -1 when it is not known
	StartedAt time.Time   `json:"started_at"`
	EndedAt   time.Time   `json:"ended_at,omitzero"`
	// SecondsLeft is an estimate; 0 when there is none.
	SecondsLeft float64 `json:"seconds_left,omitempty"`
}

// rebuilds answers the calls on rebuilds.
type rebuilds struct {
	indexer Rebuilder
	journal Journal // nil where it is not known who has a kind alone
	process string  // this one
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
	return Page[Rebuild]{Items: append([]Rebuild{}, b.indexer.Rebuilds()...)}, nil
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

// elsewhere says which other process has a kind alone, if one has. That it may not be
// had twice is not decided here, but in the journal.
func (b *rebuilds) elsewhere(ctx context.Context, kind report.Kind) error {
	if b.journal == nil {
		return nil
	}
	stats, err := b.journal.Stats(ctx)
	if err != nil {
		return err
	}
	if holder := stats.Kinds[kind].Holder; holder != "" && holder != b.process {
		return &Problem{Status: http.StatusConflict, Reason: ReasonHeldElsewhere, Detail: fmt.Sprintf(
			"Another process has %s alone: %q rebuilds it, or fills an index that was lost. Ask that one, or wait until it is done.", kind, holder)}
	}
	return nil
}
