package report

import "time"

// Stats is the state of a journal at one moment.
type Stats struct {
	Now     time.Time          // by the clock by which deliveries are accepted
	Kinds   map[Kind]KindStats // every kind, including the probe
	Bytes   int64              // on disk
	WAL     int64              // the part of Bytes in the write-ahead log, which shrinks by itself; 0 if the engine has none
	Used    int64              // Bytes without the free space inside the file
	Limit   int64              // upper bound of Used; 0 if there is none
	Free    int64              // bytes that an ordinary user can still write to the disk; -1 if unknown
	MinFree int64              // lower bound of Free; 0 if there is none
	Refused int                // refusals kept
	Notes   map[string]string  // by name
	Loss    Loss               // acknowledged changes that may be missing
	History HistoryBounds

	// Processes are the names of the processes that use the journal, each a host and a
	// number on it, oldest first. A process that has died stays for a few seconds.
	Processes []string
}

// KindStats is the state of one kind. Accepted and Settled count over the whole life of the
// journal, across restarts, and have an entry for every operation and every outcome:
//
//	sum(Accepted) = sum(Settled) + Pending
type KindStats struct {
	Accepted map[Op]uint64
	Settled  map[Outcome]uint64

	Pending     int // documents whose newest version is not settled
	Resending   int // settled documents that are sent once more to fill or repair an index
	DeadLetters int // documents whose newest version is dead

	// DroppedLetters is how many documents' newest version is a dead letter that was dropped.
	DroppedLetters int

	// RefusedDocuments is how many documents the kept refusals name: the newest record of each
	// was refused, and nothing was accepted for it since.
	RefusedDocuments int

	Tombstones int    // documents whose newest version is a delete
	Dropped    uint64 // tombstones dropped, over the whole life of the journal

	History        int    // entries of the history
	HistoryBytes   int64  // that they count for: a fixed part of each, and the records that they keep
	HistoryDropped uint64 // entries dropped, over the whole life of the journal

	// Holder is the name of the process that has locked this kind, for example for a
	// rebuild. It is empty if there is none, and in a journal for a single process.
	Holder string

	// OldestWaiting is when the document that has been pending longest began to be so: when
	// the first of its changes that the index lacks was delivered. It is zero if no document
	// is pending.
	OldestWaiting time.Time

	// NewestWaiting is the same for the document that became pending last. If it is in the
	// future, the clock is slow now or was fast then.
	NewestWaiting time.Time
}

// Loss is a period whose acknowledged changes the journal may lack, because an older copy
// replaced it or its write-ahead log was damaged. It is zero if no loss is known, or once
// somebody has acknowledged it.
type Loss struct {
	Since   time.Time `json:"since,omitzero"` // zero if everything before Until may be missing
	Until   time.Time `json:"until"`
	Noticed time.Time `json:"noticed_at"` // when riskdex first noticed
}

// Lost reports whether there is a loss.
func (l Loss) Lost() bool { return !l.Until.IsZero() }

// MayHave reports whether changes of a delivery may be among those that are lost.
func (l Loss) MayHave(n DeliveryName) bool {
	return l.Lost() && int64(n.First) <= l.Until.UnixMicro() && (l.Since.IsZero() || int64(n.Last) > l.Since.UnixMicro())
}

// Span returns the period in words, to the second, as it reads after "what was delivered".
func (l Loss) Span() string {
	until := l.Until.Add(time.Second - 1).UTC().Format(time.RFC3339)
	if l.Since.IsZero() {
		return "until " + until
	}
	return "between " + l.Since.UTC().Format(time.RFC3339) + " and " + until
}

// Seconds returns the length of the period. It begins in 1970 if Since is zero.
func (l Loss) Seconds() float64 {
	switch {
	case !l.Lost():
		return 0
	case l.Since.IsZero():
		return l.Until.Sub(time.Unix(0, 0)).Seconds()
	}
	return l.Until.Sub(l.Since).Seconds()
}
