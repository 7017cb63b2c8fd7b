package report

import "time"

// Rebuild is the state of the rebuild of a kind. A rebuild fills a new index from the
// journal while changes go to both indices, and then puts the new one in place of the old
// one in one step.
type Rebuild struct {
	Kind      Kind         `json:"kind"`
	Phase     RebuildPhase `json:"phase"`
	Cause     RebuildCause `json:"cause"`
	Active    bool         `json:"active"`              // the new index is not in place yet
	Done      bool         `json:"done"`                // apps search the new index
	Reason    string       `json:"reason,omitempty"`    // why it failed
	OldIndex  string       `json:"old_index,omitempty"` // the index that apps searched when it began
	NewIndex  string       `json:"new_index,omitempty"` // the index that is filled; empty before it exists
	Total     int          `json:"total"`               // documents to send to the new index, including deleted ones, about
	Remaining int          `json:"remaining"`           // documents still to send; -1 if unknown
	Unmarked  int          `json:"-"`                   // of them, about how many the journal does not give out yet
	StartedAt time.Time    `json:"started_at"`
	FillingAt time.Time    `json:"-"` // when filling began; zero until then
	EndedAt   time.Time    `json:"ended_at,omitzero"`
	// SecondsLeft is an estimate at the speed so far, or 0 if there is none.
	SecondsLeft float64 `json:"seconds_left,omitempty"`
	// Waiting says why it does not go on. It is nil while it does.
	Waiting *Waiting `json:"waiting,omitempty"`
}

// RebuildPhase is a phase of a rebuild.
type RebuildPhase string

// The phases of a rebuild, in order; it ends as one of the last three.
const (
	PhaseStarting RebuildPhase = "starting" // waits until the index is healthy, and creates the new one
	PhaseFilling  RebuildPhase = "filling"
	PhaseSwapping RebuildPhase = "swapping"
	PhaseRetiring RebuildPhase = "retiring" // apps search the new index, and the old one is deleted soon
	PhaseDone     RebuildPhase = "done"
	PhaseFailed   RebuildPhase = "failed"  // apps search the old index
	PhaseStopped  RebuildPhase = "stopped" // apps search the old index
)

// Active reports whether the rebuild is under way and the new index not in place yet.
func (p RebuildPhase) Active() bool {
	return p == PhaseStarting || p == PhaseFilling || p == PhaseSwapping
}

// Done reports whether apps search the new index.
func (p RebuildPhase) Done() bool { return p == PhaseRetiring || p == PhaseDone }

// RebuildCause is why a rebuild was started.
type RebuildCause string

// The causes of a rebuild.
const (
	CauseOperator    RebuildCause = "operator"
	CauseMapping     RebuildCause = "mapping"     // the index had another mapping when riskdex started
	CauseInterrupted RebuildCause = "interrupted" // a previous process had begun a rebuild and not ended it
)
