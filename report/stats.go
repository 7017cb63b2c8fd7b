package report

import "time"

// Stats is the state of a journal at one moment.
type Stats struct {
	Kinds   map[Kind]KindStats // has every kind, the probe among them
	Bytes   int64              // on disk
	Used    int64              // of Bytes, without what is free inside the file
	Limit   int64              // the most that Used may be; 0 if there is no limit
	Free    int64              // bytes left where it lies, for an ordinary user; -1 if unknown
	Refused int                // refusals kept

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

	// Holder is the name of the process that has this kind alone, such as for a
	// rebuild; empty when none has, and in a journal for one process.
	Holder string

	// OldestWaiting is since when the index has lacked the pending document that
	// it has lacked longest; zero when none is pending.
	OldestWaiting time.Time
}
