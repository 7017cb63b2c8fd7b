package commit

import (
	"bytes"
	"strings"

	"riskdex/report"
)

// Store is the database as one transaction sees it, with its own writes. It makes no decisions; the
// methods of Transaction do. Times are in microseconds since 1970.
type Store interface {
	// NextVersion returns a version above every one given out before; above the clock, so that
	// a fresh journal is ahead of an index that outlived an older one; and above after, the
	// version of an index that is ahead all the same.
	NextVersion(after report.Version) (report.Version, error)
	// BeginDelivery has the versions up to EndDelivery follow each other without one of another
	// transaction between them: about so many.
	BeginDelivery(versions int) error
	EndDelivery()

	// After a change, a row that Find returned has to be found again.
	Lookup

	// Put writes a pending change with its trace, in place of the row of its document, if any.
	Put(c report.Change, n Naming, origin report.Version, waitingSince int64, old *Row) error
	// Update writes a row that Find has returned and that was changed since. The body stays as it is;
	// Drop is Update without it.
	Update(r *Row) error
	Drop(r *Row) error
	// EndClaimed ends a document as Row.end does, without a lookup, if it has not changed since it was
	// claimed. If it has, or that is unknown, EndClaimed does nothing and returns false. 0 leaves the
	// time when it ended as it is.
	EndClaimed(k report.Key, claimed Claim, ended int64) (bool, error)
	// Unclaim ends the claim of a settled change, and defers the document if the settlement
	// says so, in a store that keeps claims.
	Unclaim(n Settled)
	// KeepPast adds the row of a change to the history, with what it replaces, and counts
	// it. It returns what that is at most. It is called before Put. NoteReached notes in the history that a version reached
	// the index that had been replaced on its way.
	KeepPast(c report.Change, by report.Source, old *Row) (bytes int64, err error)
	NoteReached(k report.Key, v report.Version, at int64) error
	// DropPast drops rows that were accepted before a time, and then more of the oldest while
	// the history counts for more than most bytes, or they are less than over bytes, up to limit,
	// and returns how many.
	DropPast(before, most, over int64, limit int) (n int, err error)

	// MarkAll and MarkDeleted mark the settled documents of a kind, or its tombstones, to be sent again,
	// and return how many. MarkAll looks at limit of them, after a cursor, and returns where to go on,
	// which is the zero cursor at the end.
	MarkAll(kind report.Kind, after report.ResendCursor, limit int) (n int64, next report.ResendCursor, err error)
	MarkDeleted(kind report.Kind, since int64) (int64, error)

	// DropDeleted drops settled deletes of a kind that were settled before a time, and
	// looks at up to limit of them after a cursor. It returns the versions of those that it has
	// dropped, and where to go on, which is the zero cursor at the end.
	DropDeleted(kind report.Kind, after Cursor, before int64, limit int) (dropped []report.Version, next Cursor, err error)

	// Tombstones is how many documents of a kind are deleted.
	Tombstones(kind report.Kind) (int64, error)

	// Refuse keeps a refusal. place is its version in the order of deliveries.
	Refuse(r report.Refusal, place report.Version, size int64) error
	// Refusal returns the place and the size of a refusal, or ErrNotFound.
	Refusal(seq int64) (place report.Version, size int64, err error)
	// RefusalsOf returns the refusals of a kind before a place whose id is one of ids, all in the form
	// of Fold.
	RefusalsOf(kind report.Kind, before report.Version, ids [3]string) ([]RefusalID, error)
	DropRefusal(seq int64) error
	// ForgetPlaces sets the place of the refusals up to a place to BeforeAll, and returns how
	// many had another one.
	ForgetPlaces(until report.Version) (n int64, err error)
	// OldestRefusals calls f with each refusal, oldest first, until f returns false.
	OldestRefusals(f func(seq, size int64) bool) error
	// DropRefusalsUntil drops the refusals up to seq, and returns how many there still were,
	// and their size.
	DropRefusalsUntil(seq int64) (n int, bytes int64, err error)

	// Receipt returns the receipt of a delivery that was kept since a time; digest is nil if
	// there is none. DropReceipts drops a few older ones.
	Receipt(sender, id string, since int64) (digest, answer []byte, err error)
	KeepReceipt(r report.Receipt, at int64) error
	DropReceipts(before int64) error

	// Loss returns the loss, zero if there is none. KeepLoss joins one with it, and EndLoss
	// deletes it and returns it, or ErrNotFound. NewestBefore returns the highest version
	// of a kind below v, or 0.
	// LostUntil is the highest version that was ever lost, acknowledged or not, or 0.
	Loss() (Loss, error)
	LostUntil() (report.Version, error)
	KeepLoss(Loss) error
	EndLoss() (Loss, error)
	NewestBefore(kind report.Kind, v report.Version) (report.Version, error)

	// Note stores a value under a name among the ids, in place of the one before.
	Note(name, value string) error
}

// Cursor is a place among the settled deletes of a kind, in the order of their acceptance.
type Cursor struct {
	AcceptedAt int64
	ID         report.ID
}

// CompareKeys compares keys in the order in which rows are locked.
func CompareKeys(a, b report.Key) int {
	if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
		return c
	}
	return bytes.Compare([]byte(a.ID), []byte(b.ID))
}
