package admin

import (
	"fmt"
	"time"

	"riskdex/report"
)

// Status is how a riskdex is at one moment: what the status page shows, what
// GET /api/status answers and what the command prints.
//
// What comes from the journal is the same from every process that shares it. Of the
// process that is asked alone are StartedAt, Accepting, ElasticsearchUp, SearchFails,
// Waiting, Rebuilds and Deliveries, with the troubles that follow from them; the History of
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

	// SearchFails tells since when the search that apps make has failed, with the reason.
	SearchFails *SearchFailure `json:"search_fails,omitempty"`

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

// Elasticsearch says how it is from this process: up, away, or up but for an index that
// has not got through yet.
func (st Status) Elasticsearch() string {
	if !st.ElasticsearchUp {
		return "away"
	}
	var waiting []string
	for _, w := range st.Waiting {
		if !w.Held {
			waiting = append(waiting, w.Index)
		}
	}
	if len(waiting) == 0 {
		return "up"
	}
	return fmt.Sprintf("up, but not yet for %s", waiting[0]+more(waiting[1:]))
}

// JournalStatus is how much room the journal has, in bytes, and what it lacks.
type JournalStatus struct {
	Bytes int64 `json:"bytes"` // on disk
	WAL   int64 `json:"wal"`   // of that, the write-ahead log, which becomes small again by itself; 0 with PostgreSQL
	Used  int64 `json:"used"`  // of that, what counts for the limit
	Limit int64 `json:"limit"` // 0 when there is none
	Free  int64 `json:"free"`  // left on its disk; -1 when it cannot be told

	Loss *Loss `json:"loss,omitempty"` // that nobody has acknowledged

	BackupAt *time.Time `json:"backup_at,omitempty"` // when the newest backup was begun that riskdex has made
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

// SearchFailure is that apps get no answer to a search.
type SearchFailure struct {
	Since  time.Time `json:"since"`
	Detail string    `json:"detail"`
}

// Lacking is that the journal does not know most of what the index of a kind has.
type Lacking struct {
	Kind    report.Kind
	Known   int // documents that the journal has
	Indexed int // that the index has
}

// Probe is how the document that riskdex writes and searches for is.
type Probe struct {
	Index        string        // the alias of its index
	Unsearchable time.Duration // for how long no search has found it
}

// StatusParts are what a status is made of, besides the other parts. Those that
// are nil are left out.
type StatusParts struct {
	Journal Journal
	Index   Index
	Waiting func() []Waiting
	// SearchFails tells since when the search that apps make has failed, and why; no
	// error where it is answered.
	SearchFails func() (since time.Time, err error)

	Lacking func() []Lacking // of which kinds the journal knows too little
	Probe   func() Probe     // nil where there is none

	Deliveries *Deliveries
	History    *History
	Now        func() time.Time
	Started    time.Time
	Process    string // the name of this one, as the journal has it

	BackupEvery time.Duration // how old the newest backup may become; 0 where that is no matter
}
