package admin

import (
	"fmt"
	"time"

	"riskdex/internal/logsink"
	"riskdex/report"
)

// Status is the state of a riskdex at one moment: what the status page shows, GET
// /api/status answers and riskdex status prints.
//
// What comes from the journal is the same from every process that shares it. Only
// StartedAt, Accepting, ElasticsearchUp, SearchFails, Waiting, WrongAliases, Rebuilds and Deliveries,
// and the troubles that follow from them, are about the process that is asked. The History of
// kinds begins with its start.
type Status struct {
	At        time.Time `json:"at"`
	StartedAt time.Time `json:"started_at"`

	Process   string   `json:"process"`   // the process that is asked: its host and its number there
	Processes []string `json:"processes"` // all processes that use the journal, including this one

	Well     bool      `json:"well"`               // there are no troubles
	Severity Severity  `json:"severity,omitempty"` // of the worst trouble; empty if there is none
	Troubles []Trouble `json:"troubles"`           // worst first

	Accepting       bool   `json:"accepting"`
	CannotAccept    string `json:"cannot_accept,omitempty"` // why not
	ElasticsearchUp bool   `json:"elasticsearch_up"`

	// Kinds, Journal, and the lists of dead letters and refusals are empty if the journal
	// cannot be read, which is then a trouble.
	Kinds   []KindStatus   `json:"kinds"`
	Senders []Arrived      `json:"senders,omitempty"` // whose credentials have names, and what is expected of them
	Line    string         `json:"line,omitempty"`    // of the journal: the same for its backups and copies
	Journal *JournalStatus `json:"journal,omitempty"`

	// Follows says which riskdex this one follows in place of a publisher. It is nil if it takes
	// deliveries itself.
	Follows *Following `json:"follows,omitempty"`

	// SearchFails says since when the search that apps make has failed, and why. It is nil if
	// that search is answered.
	SearchFails *SearchFailure `json:"search_fails,omitempty"`

	Waiting      []report.Waiting    `json:"waiting"`
	WrongAliases []report.WrongAlias `json:"wrong_aliases"` // that apps search
	Rebuilds     []report.Rebuild    `json:"rebuilds"`
	Deliveries   []report.Answered   `json:"deliveries"`   // the last ones, newest first
	Dead         []DeadLetter        `json:"dead_letters"` // some of them, without bodies
	Refused      []Refusal           `json:"refused"`      // the newest that are kept, without bodies

	DeadTotal    int `json:"dead_letters_total"`
	RefusedTotal int `json:"refused_total"` // kept
}

// Following says how a riskdex is followed.
type Following struct {
	From   string    `json:"from"`            // the address of its admin listener
	Line   string    `json:"line,omitempty"`  // of its journal; empty until it has answered
	Failed time.Time `json:"failed,omitzero"` // since when it cannot be followed
	Error  string    `json:"error,omitempty"` // why not
	Anew   *Anew     `json:"anew,omitempty"`  // nil until its changes are read
}

// Anew says when all changes of the riskdex that is followed were last read from the beginning.
type Anew struct {
	At   time.Time `json:"at"`
	Why  string    `json:"why"`
	Done bool      `json:"done"` // all were read, and what it no longer has is deleted
}

// String says it in words.
func (f Following) String() string {
	text := f.From
	if a := f.Anew; a != nil {
		text += ", "
		if a.Done {
			text += "read"
		} else {
			text += "being read"
		}
		text += " from the beginning since " + a.At.UTC().Format(clockForm) + ": " + a.Why
	}
	return text
}

// KindStatus is the status of one kind.
type KindStatus struct {
	Kind        report.Kind `json:"kind"`
	Documents   *int        `json:"documents"`       // that a search can find; null if Elasticsearch does not say
	Taken       int         `json:"taken,omitempty"` // that Elasticsearch had taken when they were last counted, at most about a minute ago; 0 if they were not
	Delivered   Arrived     `json:"delivered"`
	Pending     int         `json:"pending"`
	Resending   int         `json:"resending"`
	DeadLetters int         `json:"dead_letters"`
	LagSeconds  float64     `json:"lag_seconds"`
	Place       string      `json:"place,omitempty"`  // the cluster, by its id, and the prefix of the index that the journal sends to
	Holder      string      `json:"holder,omitempty"` // the process that has locked this kind, such as for a rebuild
	History     []Sample    `json:"history"`          // of the last hour, oldest first

	// Fields says how many of the Counted documents have which fields, as they were last counted, some
	// seconds ago. It is empty if they were not.
	Fields  []report.FieldCount `json:"fields"`
	Counted int                 `json:"counted"`
}

// Headline says in words whether something is wrong, and how soon somebody should look after it.
func (st Status) Headline() string {
	switch st.Severity {
	case Critical:
		return "critical: something is wrong"
	case Warning:
		return "warning: something needs attention"
	}
	return "all is well"
}

// Shared reports whether several processes use the journal.
func (st Status) Shared() bool { return len(st.Processes) > 1 }

// Elasticsearch returns the state of Elasticsearch as this process sees it: up, away, or up
// except for an index to which nothing has got through yet.
func (st Status) Elasticsearch() string {
	if !st.ElasticsearchUp {
		return "away"
	}
	var waiting []string
	for _, w := range st.Waiting {
		if !w.Paused {
			waiting = append(waiting, w.Index)
		}
	}
	if len(waiting) == 0 {
		return "up"
	}
	return fmt.Sprintf("up, but not yet for %s", waiting[0]+more(waiting[1:]))
}

// JournalStatus is the disk space of the journal, in bytes, with its loss and its newest
// backup.
type JournalStatus struct {
	Bytes int64 `json:"bytes"` // on disk
	WAL   int64 `json:"wal"`   // of that, the write-ahead log, which shrinks again by itself; 0 with PostgreSQL
	Used  int64 `json:"used"`  // of that, what counts towards the limit
	Limit int64 `json:"limit"` // 0 if there is none
	Free  int64 `json:"free"`  // left on its disk; -1 if unknown

	Loss *report.Loss `json:"loss,omitempty"` // not acknowledged yet

	History *HistoryStatus `json:"history,omitempty"` // nil if history is off and empty

	BackupAt *time.Time `json:"backup_at,omitempty"` // when the newest backup made by riskdex was begun
}

// HistoryStatus is what the journal keeps of the history of documents.
type HistoryStatus struct {
	KeepSeconds float64    `json:"keep_seconds"` // 0 if history is off
	Entries     int        `json:"entries"`
	Bytes       int64      `json:"bytes"` // what they count for
	MaxBytes    int64      `json:"max_bytes"`
	Since       *time.Time `json:"since,omitempty"` // when the oldest entry was accepted

	Note string `json:"note,omitempty"` // for people, if entries were dropped because of its size
}

func historyStatus(stats report.Stats, now time.Time) *HistoryStatus {
	b := stats.History
	h := &HistoryStatus{KeepSeconds: b.Keep.Seconds(), MaxBytes: b.MaxBytes}
	for _, k := range stats.Kinds {
		h.Entries += k.History
		h.Bytes += k.HistoryBytes
	}
	if b.Keep == 0 && h.Entries == 0 {
		return nil
	}
	if !b.Since.IsZero() {
		h.Since = new(b.Since.UTC())
	}
	h.Note = historyCut(stats, now)
	return h
}

// historyCut says in words that the history does not reach back as far as it is set to, because
// entries were dropped for its size; nothing if it does, or begins later than that.
func historyCut(stats report.Stats, now time.Time) string {
	b, cut := stats.History, report.HistoryCutIn(stats.Notes)
	if b.Keep == 0 || cut.IsZero() || b.Since.After(cut) || !b.Since.After(now.Add(-b.Keep)) {
		return ""
	}
	return fmt.Sprintf("history begins at %s, although --history is %s: it reached --history-max-bytes, and what was older was dropped, last at %s; raise the size, or accept that",
		b.Since.UTC().Format(time.RFC3339), keptText(b.Keep), cut.Format(time.RFC3339))
}

func keptText(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

// SearchFailure says that apps get no answer to a search.
type SearchFailure struct {
	Since  time.Time `json:"since"`
	Index  string    `json:"index,omitempty"` // that the answer is about, if it says so
	Reason string    `json:"reason"`          // as of an index that waits
	Detail string    `json:"detail"`
}

// Probe is the state of the document that riskdex writes and searches for.
type Probe struct {
	Index        string         // the alias of its index
	Unsearchable time.Duration  // for how long no search has found it
	Fails        *SearchFailure // since when each search for it has failed; nil if the last one was answered
	Clock        int            // how the clock by which deliveries are accepted differs from that of Elasticsearch: 1 is ahead, -1 behind
}

// Certificate is that of the listener for deliveries.
type Certificate struct {
	Expires   time.Time
	ReplaceBy time.Time // from when on it is a trouble
	Urgent    time.Time // from when on it is a critical one
}

// StatusParts are what a status is made of, besides the other Parts. Those that are nil are
// left out.
type StatusParts struct {
	Journal Journal
	Index   Index
	Waiting func() []report.Waiting
	// WrongAliases returns what is wrong with the aliases that apps search.
	WrongAliases func() []report.WrongAlias
	// SearchFails returns nil if the searches that apps make are answered.
	SearchFails func() *SearchFailure

	Lacking func() []report.Lacking              // the kinds of which the journal lacks most documents
	Missing func() map[report.Kind]int           // how many documents that it had taken the index of a kind lacks, at least
	Taken   func() map[report.Kind]int           // see KindStatus
	Fields  func() map[report.Kind]report.Fields // likewise
	Probe   func() Probe                         // nil without a probe

	Log         func() logsink.State // whether somebody takes its lines
	Certificate func() Certificate   // nil where deliveries come over plain HTTP

	Deliveries *Deliveries
	History    *History
	Now        func() time.Time
	Started    time.Time
	Process    string            // the name of this process in the journal
	Line       string            // of the journal
	Follows    func() *Following // see Status; nil where nobody is followed

	Expected    Expected      // deliveries
	BackupEvery time.Duration // how old the newest backup may become; 0 for any age
}
