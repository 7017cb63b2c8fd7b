package journal

import (
	"riskdex/report"
)

// store is a database as one transaction sees it: it reads what it has written. It
// decides nothing; the methods of transaction do.
type store interface {
	// nextVersion is ahead of every version ever given out, of the clock, so that a
	// fresh journal is ahead of an index that outlived an older one, and of after, which
	// is what an index has where it is ahead all the same.
	nextVersion(after report.Version) (report.Version, error)

	// find returns the row of a document, or nil. What changes a row finds it first,
	// and uses it for one change.
	find(k report.Key) (*row, error)
	// withCode returns the ids of cities that have a code, and have not lost it, and whose
	// newest change is op: as many as there are, up to most.
	withCode(code string, op report.Op, most int) ([]report.ID, error)

	// put writes a pending change, and its trace, over the row that its document has,
	// if any.
	put(c report.Change, n naming, waitingSince int64, old *row) error
	// rename changes what a city is called.
	rename(r *row, n naming) error
	// end, setAside, drop: the newest change of a document is settled, is a dead
	// letter, or no longer one. The checksum stays as it is where it is nil.
	end(r *row, at int64) error
	setAside(r *row, at int64, errorType, reason string) error
	drop(r *row, at int64, crc *uint32) error
	// endClaimed is end for a document that is as it was when it was claimed, without
	// looking it up. It does nothing and returns false where it is not, or where that
	// cannot be told.
	endClaimed(s report.Settlement, held claim, at int64) (bool, error)
	// unclaim ends the claim that a settlement ends, and puts the document off where it
	// says so, for a store that keeps claims.
	unclaim(n settled)
	// wait changes since when a document waits.
	wait(r *row, since int64) error
	// mark and renew have a settled document sent once more, as it is or under a new
	// version; renew leaves a document as it is that waits already. markAll and markDeleted do the first with all of a kind, or with
	// its tombstones, and return how many. markAll may do so in pieces: it begins after
	// an id, and returns the one to go on after, which is empty when nothing is left.
	mark(r *row) error
	renew(r *row, v report.Version, crc uint32) error
	markAll(kind report.Kind, after report.ID) (n int64, next report.ID, err error)
	markDeleted(kind report.Kind, since int64) (int64, error)

	// dropDeleted drops settled deletes of a kind that were settled before a time, and
	// looks at up to so many after a place, in the order of their acceptance. It returns
	// how many it has dropped, and where to go on, which is the zero place at the end.
	dropDeleted(kind report.Kind, after place, before int64, limit int) (n int, next place, err error)

	// tombstones is how many documents of a kind are deleted.
	tombstones(kind report.Kind) (int64, error)

	// origin returns the origin of the version that a row has, or 0. keepOrigin notes
	// that of the version that a document has now.
	origin(r *row) (report.Version, error)
	keepOrigin(k report.Key, origin report.Version) error

	refuse(r report.Refusal, turn report.Version, size int64) error
	// refusal returns the turn and the size of a refusal, or ErrNotFound.
	refusal(seq int64) (turn report.Version, size int64, err error)
	// refusalsOf returns the refusals of a kind before a turn whose id is one of ids,
	// without regard to case.
	refusalsOf(kind report.Kind, before report.Version, ids [3]string) ([]refusalID, error)
	dropRefusal(seq int64) error
	// forgetPlaces has all refusals that are kept have the turn beforeAll, and returns of
	// how many it was another.
	forgetPlaces() (n int64, err error)
	// oldestRefusals calls f with each refusal, the oldest first, until f returns false.
	oldestRefusals(f func(seq, size int64) bool) error
	// dropRefusalsUntil returns how many it has dropped, and their size. Another process
	// may have dropped some before.
	dropRefusalsUntil(seq int64) (n int, bytes int64, err error)

	// receipt returns what is kept of a delivery since a time; digest is nil where
	// that is nothing. dropReceipts drops a few from before it.
	receipt(sender, id string, since int64) (digest, answer []byte, err error)
	keepReceipt(r report.Receipt, at int64) error
	dropReceipts(before int64) error

	// endLoss forgets what the journal lacks, and returns it, or ErrNotFound.
	endLoss() (loss, error)

	// note keeps a value under a name, in place of the one before.
	note(name, value string) error
}

// place is that of a settled delete among the others.
type place struct {
	acceptedAt int64
	doc        int64     // in an SQLite journal
	id         report.ID // in PostgreSQL
}

// row is what the journal has of a document, without its body.
type row struct {
	doc     int64 // where it is in an SQLite journal
	id      report.ID
	version report.Version
	op      report.Op
	state   int64
	code    string
	naming
	acceptedAt, waitedAt int64 // microseconds; waitedAt is since when it waits
	foreign              bool  // another process has its claim
}

// States of a document. SQLite stores the numbers 0 and 1 in no byte and these in
// one, so that a change of state overwrites the record where it is.
const (
	pending = 2
	done    = 3 // indexed, deleted or superseded
	dead    = 4
	resend  = 5
	dropped = 6 // a dead letter that was given up: it has no body
)
