package admin

import (
	"fmt"
	"time"

	"riskdex/report"
)

// Trouble is something that somebody should look after.
type Trouble struct {
	What   string      `json:"what"` // one word
	Kind   report.Kind `json:"kind,omitempty"`
	Detail string      `json:"detail"` // a sentence for people: what is wrong, what to do
}

// What may be wrong.
const (
	TroubleJournal       = "journal_unreadable"
	TroubleNotAccepting  = "not_accepting"
	TroubleElasticsearch = "elasticsearch_away"
	TroubleHeld          = "index_held"
	TroubleLag           = "lagging"
	TroubleDeadLetters   = "dead_letters"
)

// LagBound is the lag that is a trouble.
const LagBound = time.Minute

// troublesOf judges a status, worst first. unreadable is why the journal could
// not be read, if so.
func troublesOf(st Status, unreadable error) []Trouble {
	all := []Trouble{}
	add := func(what string, kind report.Kind, detail string) {
		all = append(all, Trouble{what, kind, detail})
	}
	if unreadable != nil {
		add(TroubleJournal, "", fmt.Sprintf("The journal cannot be read, so what waits and what failed is not known: %v.", unreadable))
	}
	if !st.Accepting {
		add(TroubleNotAccepting, "", "Deliveries are answered with 503: "+st.CannotAccept+".")
	}
	if !st.ElasticsearchUp {
		add(TroubleElasticsearch, "", "Elasticsearch did not answer the last request. Deliveries are accepted and kept, and are sent when it is back.")
	}
	for _, w := range st.Waiting {
		if w.Held {
			add(TroubleHeld, w.Kind, fmt.Sprintf("Nothing can be written to the index %s (%s). It goes on by itself once that is mended.", w.Index, w.Reason))
		}
	}
	for _, k := range st.Kinds {
		if lag := time.Duration(k.LagSeconds * float64(time.Second)); lag > LagBound {
			add(TroubleLag, k.Kind, fmt.Sprintf("Search has lacked a change of %s for %s.", k.Kind, lag.Round(time.Second)))
		}
	}
	for _, k := range st.Kinds {
		if k.DeadLetters > 0 {
			add(TroubleDeadLetters, k.Kind, fmt.Sprintf("Dead letters of %s: %d. Elasticsearch refuses them, and search shows an older version of each, or none.", k.Kind, k.DeadLetters))
		}
	}
	return all
}
