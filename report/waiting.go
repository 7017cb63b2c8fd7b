package report

import "time"

// Waiting is an index to which nothing is written now, with the reason. All changes for it
// stay in the journal, and are tried again until they get through.
type Waiting struct {
	Kind      Kind      `json:"kind"`
	Index     string    `json:"index"`                // the alias
	Paused    bool      `json:"held"`                 // somebody must change something; otherwise Elasticsearch is away or pushes back
	Reason    string    `json:"reason"`               // one word, as in the metrics
	ErrorType string    `json:"error_type,omitempty"` // of Elasticsearch, if it said one
	Detail    string    `json:"detail,omitempty"`     // what it said
	Since     time.Time `json:"since"`
	EndedAt   time.Time `json:"ended_at,omitzero"` // of one that a verification waited for; zero until then
}

// WaitsForJournal is the Reason where it is the journal that does not answer.
const WaitsForJournal = "journal"

// Lacking says that the journal does not know most of the documents in the index of a kind.
type Lacking struct {
	Kind    Kind
	Known   int // documents that the journal has
	Indexed int // documents that the index has
}
