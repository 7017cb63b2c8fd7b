package receiver

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"riskdex/report"
)

// result is the outcome of a delivery after the journal has resolved its changes.
type result struct {
	accepted int   // documents
	unknown  []int // positions of deletes whose document does not exist
	refused  refusals
	name     string   // of the delivery
	problem  *problem // the answer, where nothing was accepted
}

func (in contents) result(c call, stamps []report.Stamp) result {
	list := refusals{slices.Clone(in.refused.first), maps.Clone(in.refused.counts), in.refused.total}
	r := result{name: report.NameDelivery(stamps).String()}
	for i, s := range stamps {
		switch s.Effect {
		case report.Ambiguous:
			list.add(in.ambiguous(c, i))
			continue
		case report.Outdated: // as all changes of the delivery are
			r.problem = outdated(c.method)
			continue
		case report.Unknown:
			r.unknown = append(r.unknown, i)
		}
		r.accepted++
	}
	slices.SortStableFunc(list.first, func(a, b report.Refusal) int { return cmp.Compare(a.Position, b.Position) })
	r.refused = list
	if r.problem == nil && r.accepted == 0 && list.total > 0 { // an empty payload is accepted
		r.problem = noneAccepted(list)
	}
	return r
}

// ambiguous returns the refusal of a change that names a city by a code that several state.
func (in contents) ambiguous(c call, change int) report.Refusal {
	refused := in.changes[change]
	refusal := report.Refusal{Position: -1, ID: string(refused.ID), Reason: reasonAmbiguous, Body: refused.Body, Detail: fmt.Sprintf(
		"It is not known which city has the code %q: several state it, or the journal was set back and may have lost the one that does (riskdex status says that). Name the city by its id, or have all but one of them give the code up.", shortened(string(refused.ID)))}
	if c.method == http.MethodPost {
		refusal.Position = in.positions[change]
	}
	return refusal
}

// outcome returns what a receipt keeps of the result.
func (r result) outcome() outcome {
	if r.problem != nil {
		return r.problem.outcome()
	}
	return outcome{Status: http.StatusAccepted, Accepted: r.accepted, RefusedTotal: r.refused.total, Unknown: r.unknown, Delivery: r.name}
}
