package report

import "time"

// Stats is the state of a journal at one moment.
type Stats struct {
	Kinds   map[Kind]KindStats // has every kind, the probe among them
	Bytes   int64              // on disk
	WAL     int64              // of Bytes, the write-ahead log, which becomes small again by itself; 0 where it has none of its own
	Used    int64              // of Bytes, without what is free inside the file
	Limit   int64              // the most that Used may be; 0 if there is no limit
	Free    int64              // bytes left where it lies, for an ordinary user; -1 if unknown
	Refused int                // refusals kept
	Notes   map[string]string  // that were left in the journal, by name
	Loss    Loss               // what it lacks of what it had acknowledged

	// Processes are the names of the processes that work on the journal, each a host
	// and a number there, in the order in which they came. One that has died is among
	// them for a few seconds more.
	Processes []string
}

// KindStats is the state of one kind. The sums of Accepted and Settled are over
// the whole life of the journal, across restarts, and have every operation and
// every outcome:
//
//	sum(Accepted) = sum(Settled) + Pending
type KindStats struct {
	Accepted map[Op]uint64
	Settled  map[Outcome]uint64

	Pending     int // documents whose newest version is not settled
	Resending   int // settled documents that are sent once more, to a new index
	DeadLetters int // documents whose newest version is dead

	Tombstones int    // documents whose newest version is a delete
	Dropped    uint64 // tombstones dropped, over the whole life of the journal

	// Holder is the name of the process that has this kind alone, such as for a
	// rebuild; empty when none has, and in a journal for one process.
	Holder string

	// OldestWaiting is since when the index has lacked the pending document that
	// it has lacked longest; zero when none is pending.
	OldestWaiting time.Time

	// NewestWaiting is the same of the one that it has lacked shortest. Where that is yet
	// to come, the clock is behind, or had been ahead.
	NewestWaiting time.Time
}

// Loss is a time from which a journal may lack changes that it had acknowledged: an older
// copy took its place, or its log was damaged. It is the zero Loss where none is known, and
// once somebody has said that it was made good.
type Loss struct {
	Since   time.Time // zero where all may be missing that there was before Until
	Until   time.Time
	Noticed time.Time // first
}

// Lost tells whether there is one.
func (l Loss) Lost() bool { return !l.Until.IsZero() }

// Span says which time that is, to the second, in words that follow what happened then.
func (l Loss) Span() string {
	until := l.Until.Add(time.Second - 1).UTC().Format(time.RFC3339)
	if l.Since.IsZero() {
		return "until " + until
	}
	return "between " + l.Since.UTC().Format(time.RFC3339) + " and " + until
}

// Seconds is how long that time is, from 1970 on where all of it may be missing.
func (l Loss) Seconds() float64 {
	switch {
	case !l.Lost():
		return 0
	case l.Since.IsZero():
		return l.Until.Sub(time.Unix(0, 0)).Seconds()
	}
	return l.Until.Sub(l.Since).Seconds()
}
