package report

import "time"

// Rebuild tells how far the rebuild of a kind is: a new index is filled from the
// journal while changes go to both, and then takes the place of the old one in
// one step.
type Rebuild struct {
	Kind      Kind         `json:"kind"`
	Phase     RebuildPhase `json:"phase"`
	Cause     RebuildCause `json:"cause"`
	Active    bool         `json:"active"`              // the new index is not in place yet
	Done      bool         `json:"done"`                // apps search the new index
	Reason    string       `json:"reason,omitempty"`    // why it failed
	OldIndex  string       `json:"old_index,omitempty"` // that apps searched when it began
	NewIndex  string       `json:"new_index,omitempty"` // that is filled; empty before there is one
	Total     int          `json:"total"`               // documents to send to the new index, including deleted ones
	Remaining int          `json:"remaining"`           // documents still to send; -1 if unknown
	StartedAt time.Time    `json:"started_at"`
	FillingAt time.Time    `json:"-"` // since when the new index is filled; zero until then
	EndedAt   time.Time    `json:"ended_at,omitzero"`
	// SecondsLeft is an estimate at the speed so far, or 0 if there is none.
	SecondsLeft float64 `json:"seconds_left,omitempty"`
}

// RebuildPhase is how far a rebuild is.
type RebuildPhase string

// The phases of a rebuild, in order; it ends as one of the last three.
const (
	PhaseStarting RebuildPhase = "starting" // waits until the index is healthy, and makes the new one
	PhaseFilling  RebuildPhase = "filling"
	PhaseSwapping RebuildPhase = "swapping"
	PhaseRetiring RebuildPhase = "retiring" // apps search the new index, and the old one goes soon
	PhaseDone     RebuildPhase = "done"
	PhaseFailed   RebuildPhase = "failed"  // apps search the old index
	PhaseStopped  RebuildPhase = "stopped" // apps search the old index
)

// Active tells whether the new index is not in place yet.
func (p RebuildPhase) Active() bool {
	return p == PhaseStarting || p == PhaseFilling || p == PhaseSwapping
}

// Done tells whether apps search the new index.
func (p RebuildPhase) Done() bool { return p == PhaseRetiring || p == PhaseDone }

// RebuildCause is why a rebuild was started.
type RebuildCause string

// The causes of a rebuild.
const (
	CauseOperator    RebuildCause = "operator"
	CauseMapping     RebuildCause = "mapping"     // at the start, the index was found to be made from another mapping
	CauseInterrupted RebuildCause = "interrupted" // at the start, one was found that the process before had begun
)
