package journal

import (
	"context"
	"errors"
	"iter"
	"time"

	"riskdex/report"
)

// ErrClosed is what every method returns after Close.
var ErrClosed = errors.New("the journal is closed")

// ErrNoRoom is wrapped by Append's error while the journal is at its limit or its disk is
// nearly full. Append succeeds again once there is space.
var ErrNoRoom = report.ErrNoRoom

// ErrNotFound is returned for a dead letter or a refusal that does not exist, or no longer
// does: it was retried or dropped, or a newer delivery has taken its place.
var ErrNotFound = report.ErrNotFound

// ErrSnapshotTooOld ends Records when too much was accepted since it began.
var ErrSnapshotTooOld = report.ErrSnapshotTooOld

// ErrorTypeDamaged is the error type of the dead letter that a record becomes when its
// checksum does not fit.
const ErrorTypeDamaged = "journal_damaged"

// Journal is what every engine provides. Any number of goroutines may call its methods at the
// same time.
type Journal interface {
	// Append accepts a delivery, all of it or nothing, and returns one stamp per change,
	// in the same order. The delivery is durable when the error is nil. When ctx ends
	// while Append waits, it returns the context's error, although the delivery may be
	// committed all the same. These errors say that nothing was accepted: ErrNotFound when
	// the refusal that d retries does not exist, report.ErrPlaceForgotten when it cannot
	// be retried any more, *report.RepeatedError or report.ErrIDReused (see
	// Delivery.Receipt), and report.ErrGone (see Delivery.Gone). A receipt is as durable
	// as its delivery. Append keeps no reference to d after it has returned, unless ctx
	// ended.
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)

	// Claim gives out up to maxChanges changes of kind whose bodies sum up to at most
	// maxBytes, but at least one if there is one. The oldest come first. Where both pending
	// changes and those of Resend or Renew (which have Again set) could fill the answer,
	// about a quarter of it is of the latter, so that neither starves. A document is left
	// out while it is claimed or while its last settlement defers it (see
	// report.Settlement). Each change stays claimed until its Settle. An empty answer means
	// that nothing was claimable; Changed tells when to ask again.
	Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error)

	// Settle says what became of claimed changes. A settlement of a version that was
	// overtaken since, or that is settled already, is harmless: at most it ends the claim.
	// Indexed or Deleted for an overtaken version counts in one respect: the newer version
	// is pending since its own acceptance, and not since that of the older one.
	Settle(ctx context.Context, s []report.Settlement) error

	// Resend marks every settled document of kind to be given out once more by
	// Claim, and returns how many. Tombstones are among them: nobody knows what is
	// in a restored index. Marked documents do not count as pending, and settling them
	// counts nothing. A newer version ends the mark.
	Resend(ctx context.Context, kind report.Kind) (int, error)

	// ResendDeleted is Resend for the tombstones alone, of deletes that were
	// accepted since the given time.
	ResendDeleted(ctx context.Context, kind report.Kind, since time.Time) (int, error)

	// Renew has settled documents sent once more, as Resend does, under a new version, for
	// an index that has a version of its own. It skips stamps that are not the newest or
	// not settled, and returns how many it renewed. A damaged record is not renewed, but
	// becomes a dead letter.
	Renew(ctx context.Context, stamps []report.Stamp) (int, error)

	// Pass gives pending documents a new version, above the one that an index has of them:
	// the index would refuse theirs for ever. All later versions are above it, too. Each is
	// the same change as before, so nothing is counted. Pass skips stamps that are not the
	// newest or not pending, and versions that are not [report.Version.InReach], and
	// returns how many it passed. A claim of the older version stays until it is settled.
	Pass(ctx context.Context, list []report.Ahead) (int, error)

	// Entries returns up to limit documents of kind whose ids come after the given
	// one, tombstones among them, in the order of their ids' bytes.
	Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error)

	// Lookup returns the entries of those of ids that are known, in no particular order.
	Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error)

	// Documents returns how many documents of kind there are that are not deleted.
	Documents(ctx context.Context, kind report.Kind) (int, error)

	// Document returns what the journal has of the document that a name leads to: its id or,
	// for a city, its code. It is the one that a DELETE of this path would be for. It writes
	// nothing and waits for no delivery.
	Document(ctx context.Context, kind report.Kind, name report.ID) (report.Document, error)

	// Records yields the newest record of every document of kind that is not deleted, in
	// the order of their ids' bytes. All are of one moment, which is that of the call or
	// later. What is accepted meanwhile waits for nothing, but an engine has to keep what it
	// replaces: ErrSnapshotTooOld ends the sequence when that becomes too much. An error is
	// the last pair. Memory is bounded by a few MiB and the largest record.
	Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error]

	// DeadLetters returns up to limit dead letters of kind whose ids come after the
	// given one, in the order of their ids' bytes, without bodies.
	DeadLetters(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.DeadLetter, error)

	// DeadLetter returns the dead letter of a document with its body, or
	// ErrNotFound. The body is nil where the record is damaged.
	DeadLetter(ctx context.Context, key report.Key) (report.DeadLetter, error)

	// RetryDead accepts dead letters once more, as new changes with new versions. It skips
	// those that are no longer the newest of their document and those whose record is
	// damaged, and returns how many it accepted.
	RetryDead(ctx context.Context, letters []report.Stamp) (int, error)

	// ReplaceDead accepts c, which is for the same document, in place of a dead
	// letter, or returns ErrNotFound where that is no longer the newest of its
	// document.
	ReplaceDead(ctx context.Context, letter report.Stamp, c report.Change) (report.Stamp, error)

	// DropDead gives dead letters up and returns how many it found. Their bodies are gone,
	// and the index keeps what it has of their documents until the next delivery. Renew,
	// RetryDead and DropDead handle long lists in several transactions: with an error, the
	// number says how many were done.
	DropDead(ctx context.Context, letters []report.Stamp) (int, error)

	// DropDeleted drops the tombstones that were settled longer ago than
	// Options.KeepDeleted, in steps between which deliveries are accepted, and returns how
	// many. A journal does so by itself, once an hour.
	DropDeleted(ctx context.Context) (int, error)

	// Note keeps a short text under a name, in place of the one before. Notes outlast
	// restarts and are in backups; Stats returns all of them.
	Note(ctx context.Context, name, value string) error

	// AcknowledgeLoss forgets the loss that Stats reports, which nothing else does, and
	// returns it, or ErrNotFound where there is none.
	AcknowledgeLoss(ctx context.Context) (report.Loss, error)

	// Changed receives a value after changes may have become claimable. It holds
	// at most one value however often that happened, and is never closed.
	Changed() <-chan struct{}

	// Stats returns one consistent snapshot.
	Stats(ctx context.Context) (Stats, error)

	// Refusals returns up to limit kept refusals, newest first, without bodies:
	// those with a lower Seq than before, or the newest where before is 0.
	Refusals(ctx context.Context, before int64, limit int) ([]report.Refusal, error)

	// Refusal returns a kept refusal with its body, or ErrNotFound.
	Refusal(ctx context.Context, seq int64) (report.Refusal, error)

	// DropRefusals forgets refusals, and returns how many it found.
	DropRefusals(ctx context.Context, seqs []int64) (int, error)

	// LockKind locks a kind for this process: no other claims any change of it until
	// UnlockKind, or until this process ends or its lease does. It waits until what
	// others have claimed is settled, and returns report.ErrHeld where another process
	// has the lock, or has had it since this one last claimed: then this one has to
	// look at its index anew. To lock a kind twice is harmless. Claim returns the same
	// error in these cases, and Claim with maxChanges 0 asks just that. In a journal
	// for one process every lock is free.
	LockKind(ctx context.Context, kind report.Kind) error

	// UnlockKind ends the lock of a kind, soon.
	UnlockKind(kind report.Kind)

	// LockVerify allows one verification of a kind at a time, over all processes; others
	// get report.ErrVerifying. The lock ends with done, or with the process.
	LockVerify(ctx context.Context, kind report.Kind) (done func(), err error)

	// Line returns the id of the line, which a journal is born with. Its backups, its
	// copies and what is restored from them have the same; no other journal has.
	Line() string

	// Ready returns nil when the journal can accept deliveries, and otherwise
	// what keeps it from doing so. It never waits.
	Ready() error

	// OldestWait returns for how long the oldest unanswered request of this process has
	// waited; 0 if there is none. From 5 seconds on, Ready returns an error.
	OldestWait() time.Duration

	// Close stops taking requests, finishes those that wait, and releases the
	// database. Calling it again returns the same error.
	Close() error
}

// Stats and KindStats are words of report, so that those who only read the sums
// need not know the journal.
type (
	Stats     = report.Stats
	KindStats = report.KindStats
)
