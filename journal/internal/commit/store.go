package commit

import (
	"bytes"
	"strings"

	"riskdex/report"
)

// Store is a database as one transaction sees it: it reads what it has written. It
// decides nothing; the methods of Transaction do.
type Store interface {
	// NextVersion is ahead of every version ever given out, of the clock, so that a
	// fresh journal is ahead of an index that outlived an older one, and of after, which
	// is what an index has where it is ahead all the same.
	NextVersion(after report.Version) (report.Version, error)

	// Find returns the row of a document, or nil. A row has to be found anew for each
	// change of it.
	Find(k report.Key) (*Row, error)
	// WithCode returns the ids of cities that have a code, and have not lost it, and whose
	// newest change is op: as many as there are, up to most.
	WithCode(code string, op report.Op, most int) ([]report.ID, error)

	// Put writes a pending change, and its trace, over the row that its document has,
	// if any.
	Put(c report.Change, n Naming, waitingSince int64, old *Row) error
	// Rename changes what a city is called.
	Rename(r *Row, n Naming) error
	// End, SetAside, Drop: the newest change of a document is settled, is a dead
	// letter, or no longer one. The checksum stays as it is where it is nil.
	End(r *Row, at int64) error
	SetAside(r *Row, at int64, errorType, reason string) error
	Drop(r *Row, at int64, crc *uint32) error
	// EndClaimed is End for a document that is as it was when it was claimed, without
	// looking it up. It does nothing and returns false where it is not, or where that
	// cannot be told.
	EndClaimed(s report.Settlement, claimed Claim, at int64) (bool, error)
	// Unclaim ends the claim that a settlement ends, and defers the document where it says
	// so, in a store that keeps claims.
	Unclaim(n Settled)
	// Wait sets since when a document is pending.
	Wait(r *Row, since int64) error
	// Mark and Renew have a settled document sent once more, as it is or under a new
	// version; Renew leaves a document as it is that waits already. MarkAll and MarkDeleted
	// mark all of a kind, or its tombstones, and return how many. MarkAll may do so in
	// pieces: it begins after an id, and returns the one to go on after, which is empty
	// when nothing is left.
	Mark(r *Row) error
	Renew(r *Row, v report.Version, crc uint32) error
	MarkAll(kind report.Kind, after report.ID) (n int64, next report.ID, err error)
	MarkDeleted(kind report.Kind, since int64) (int64, error)

	// DropDeleted drops settled deletes of a kind that were settled before a time, and
	// looks at up to limit of them after a cursor. It returns how many it has dropped, and
	// where to go on, which is the zero cursor at the end.
	DropDeleted(kind report.Kind, after Cursor, before int64, limit int) (n int, next Cursor, err error)

	// Tombstones is how many documents of a kind are deleted.
	Tombstones(kind report.Kind) (int64, error)

	// Origin returns the origin of the version that a row has, or 0. KeepOrigin notes
	// that of the version that a document has now.
	Origin(r *Row) (report.Version, error)
	KeepOrigin(k report.Key, origin report.Version) error

	// Refuse keeps a refusal.
	Refuse(r report.Refusal, place report.Version, size int64) error
	// Refusal returns the place and the size of a refusal, or ErrNotFound.
	Refusal(seq int64) (place report.Version, size int64, err error)
	// RefusalsOf returns the refusals of a kind before a place whose id is one of ids,
	// without regard to case.
	RefusalsOf(kind report.Kind, before report.Version, ids [3]string) ([]RefusalID, error)
	DropRefusal(seq int64) error
	// ForgetPlaces gives all refusals that are kept the place BeforeAll, and returns how
	// many had another.
	ForgetPlaces() (n int64, err error)
	// OldestRefusals calls f with each refusal, the oldest first, until f returns false.
	OldestRefusals(f func(seq, size int64) bool) error
	// DropRefusalsUntil returns how many it has dropped, and their size. Another process
	// may have dropped some before.
	DropRefusalsUntil(seq int64) (n int, bytes int64, err error)

	// Receipt returns what is kept of a delivery since a time; digest is nil where
	// that is nothing. DropReceipts drops a few from before it.
	Receipt(sender, id string, since int64) (digest, answer []byte, err error)
	KeepReceipt(r report.Receipt, at int64) error
	DropReceipts(before int64) error

	// EndLoss forgets what the journal lacks, and returns it, or ErrNotFound.
	EndLoss() (Loss, error)

	// Note keeps a value under a name, in place of the one before.
	Note(name, value string) error
}

// Cursor is a place among the settled deletes of a kind, in the order of their acceptance.
type Cursor struct {
	AcceptedAt int64
	Doc        int64     // in an SQLite journal
	ID         report.ID // in PostgreSQL
}

// Row is what the journal has of a document, without its body.
type Row struct {
	Doc     int64 // where it is in an SQLite journal
	ID      report.ID
	Version report.Version
	Op      report.Op
	State   int64
	Code    string
	Naming
	AcceptedAt, WaitedAt int64 // microseconds; WaitedAt is since when it is pending
	Foreign              bool  // another process has its claim
}

// CompareKeys compares keys in the order in which rows are locked.
func CompareKeys(a, b report.Key) int {
	if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
		return c
	}
	return bytes.Compare([]byte(a.ID), []byte(b.ID))
}
