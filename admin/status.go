package admin

import (
	"time"

	"riskdex/report"
)

// Status is how a riskdex is at one moment: what the status page shows, what
// GET /api/status answers and what the command prints.
//
// What comes from the journal is the same from every process that shares it. Of the
// process that is asked alone are StartedAt, Accepting, ElasticsearchUp, Waiting,
// Rebuilds and Deliveries, with the troubles that follow from them; the History of
// kinds goes back to its start.
type Status struct {
	At        time.Time `json:"at"`
	StartedAt time.Time `json:"started_at"`

	Process   string   `json:"process"`   // that is asked: its host, and its number there
	Processes []string `json:"processes"` // that work on the journal, this one among them

	Well     bool      `json:"well"`     // there are no troubles
	Troubles []Trouble `json:"troubles"` // worst first

	Accepting       bool   `json:"accepting"`
	CannotAccept    string `json:"cannot_accept,omitempty"` // why not
	ElasticsearchUp bool   `json:"elasticsearch_up"`

	// Kinds, Journal and the lists of what failed are empty where the journal
	// cannot be read, which is a trouble then.
	Kinds   []KindStatus   `json:"kinds"`
	Journal *JournalStatus `json:"journal,omitempty"`

	Waiting    []Waiting    `json:"waiting"`
	Rebuilds   []Rebuild    `json:"rebuilds"`
	Deliveries []Delivery   `json:"deliveries"`   // the last, newest first
	Dead       []DeadLetter `json:"dead_letters"` // some of them, without bodies
	Refused    []Refusal    `json:"refused"`      // the newest of those kept, without bodies

	DeadTotal    int `json:"dead_letters_total"`
	RefusedTotal int `json:"refused_total"` // kept
}

// KindStatus is how one kind is.
type KindStatus struct {
	Kind        report.Kind `json:"kind"`
	Documents   *int        `json:"documents"` // that a search can find; null where Elasticsearch does not tell
	Pending     int         `json:"pending"`
	Resending   int         `json:"resending"`
	DeadLetters int         `json:"dead_letters"`
	LagSeconds  float64     `json:"lag_seconds"`
	Holder      string      `json:"holder,omitempty"` // the process that has this kind alone, such as for a rebuild
	History     []Sample    `json:"history"`          // of the last hour, oldest first
}

// Shared tells whether several processes work on the journal.
func (st Status) Shared() bool { return len(st.Processes) > 1 }

// JournalStatus is how much room the journal has, in bytes.
type JournalStatus struct {
	Bytes int64 `json:"bytes"` // on disk
	Used  int64 `json:"used"`  // of that, what counts for the limit
	Limit int64 `json:"limit"` // 0 when there is none
	Free  int64 `json:"free"`  // left on its disk; -1 when it cannot be told
}

// Waiting is an index to which nothing is written now. Everything for it is kept.
type Waiting struct {
	Kind      report.Kind `json:"kind"`
	Index     string      `json:"index"`
	Held      bool        `json:"held"` // it, or the operator, must change something
	Reason    string      `json:"reason"`
	ErrorType string      `json:"error_type,omitempty"`
	Detail    string      `json:"detail,omitempty"`
	Since     time.Time   `json:"since"`
}

// StatusParts are what a status is made of, besides the other parts. Those that
// are nil are left out.
type StatusParts struct {
	Journal    Journal
	Index      Index
	Waiting    func() []Waiting
	Deliveries *Deliveries
	History    *History
	Now        func() time.Time
	Started    time.Time
	Process    string // the name of this one, as the journal has it
}
