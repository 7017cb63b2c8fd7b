package verify

import (
	"fmt"

	"riskdex/elastic"
	"riskdex/report"
)

// Error says why an index could not be compared.
type Error struct {
	Index  string // the alias
	Doing  string // what was tried
	Reason string // a word, as in the metrics
	Detail string // what Elasticsearch or the network said

	status int // of HTTP; 0 when there was no answer
}

// reasonSnapshot means that the walk through an index has to start again.
const reasonSnapshot = "snapshot_gone"

// Is reports that Elasticsearch did not answer, if so.
func (e *Error) Is(target error) bool {
	return target == report.ErrAway && e.Reason == elastic.ReasonUnreachable
}

func (e *Error) Error() string {
	what := e.advice()
	if e.Detail == "" {
		return fmt.Sprintf("%s of %s: %s", e.Doing, e.Index, what)
	}
	return fmt.Sprintf("%s of %s: %s (%s)", e.Doing, e.Index, what, e.Detail)
}

// advice returns what is wrong and what to do.
func (e *Error) advice() string {
	switch e.Reason {
	case elastic.ReasonUnreachable, elastic.ReasonUnclear:
		return "Elasticsearch gives no usable answer; see that it runs and can be reached, and verify again"
	case elastic.ReasonOverloaded, elastic.ReasonUnavailable:
		return "Elasticsearch is overloaded or lacks shards; verify again once it is well"
	case elastic.ReasonMissing:
		return "the index is missing; a running worker makes it again by itself; verify again once it is filled"
	case elastic.ReasonClosed:
		return "the index is closed; open it, and verify again"
	case elastic.ReasonBlocked:
		return "the index has a block; remove it, and verify again"
	case elastic.ReasonUnauthorized:
		return "Elasticsearch does not let riskdex read the index; see to its credentials and their privileges"
	case elastic.ReasonAnotherJournal:
		return "this journal does not fill this index, so there is nothing to compare; start riskdex with the journal that belongs to it, " +
			"or have this one take over: riskdex rebuild --take-over"
	case elastic.ReasonAlias:
		return "apps do not search what this journal fills"
	case reasonSnapshot:
		return "the index was replaced, or Elasticsearch restarted, while it was read; verify again"
	}
	return "Elasticsearch refuses the request"
}
