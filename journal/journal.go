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

// Journal is what every engine provides. Any number of goroutines may call its methods at the
// same time.
//
// Document, DeadLetter, Refusal, PastVersion, PastAt, Records and Feed learn how long a body is and wait for
// the memory that ctx carries ([report.WithMemory]) before they read it, and hold no connection that others
// need meanwhile.
type Journal interface {
	// Append accepts all of a delivery or nothing, and returns one stamp per change, in the
	// same order. If the error is nil, the delivery and its receipt are durable. If ctx ends
	// while Append waits, it returns the context's error, and the delivery may still be
	// committed. With these errors nothing was accepted: report.ErrNoRoom, report.ErrNotFound if the refusal
	// that d retries does not exist, report.ErrPlaceForgotten if it can no longer be retried,
	// *report.RepeatedError or report.ErrIDReused (see Delivery.Receipt), and report.ErrGone
	// (see Delivery.Gone). Append keeps no reference to d after it has returned, unless ctx
	// ended.
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)

	// Claim gives out changes of kind, oldest first: at most maxChanges, with bodies of at most
	// maxBytes together, but one in any case if there is one. Those that Resend or Reissue has
	// marked (Resent is set) come in claims of their own: while there are both, each fourth, so
	// that neither starves. Claim leaves out documents that are claimed, or that their last
	// settlement defers (see report.Settlement). A change stays claimed until Settle. If
	// nothing can be claimed, the result is empty; Changed tells when to ask again.
	Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error)

	// Settle records what became of claimed changes, and ends their claims. For a version that
	// was settled before or overtaken since, it has no other effect, except that after Indexed
	// or Deleted the newer version counts as pending since its own acceptance, instead of that
	// of the older one, is given out a little later if it was not delivered yet, and the history
	// notes that searches had the older one.
	Settle(ctx context.Context, s []report.Settlement) error

	// Resend marks settled documents of kind, tombstones included, to be given out again by
	// Claim. One call looks at some thousand documents after a cursor, and returns how many it
	// marked and where to go on, which is the zero cursor after the last. Marked documents do
	// not count as pending, and settling them counts nothing. A newer version removes the mark.
	Resend(ctx context.Context, kind report.Kind, after report.ResendCursor) (marked int, next report.ResendCursor, err error)

	// ResendDeleted marks the tombstones of all deletes that were accepted since a time, as
	// Resend does, and returns how many.
	ResendDeleted(ctx context.Context, kind report.Kind, since time.Time) (int, error)

	// Reissue gives settled documents a new version and marks them as Resend does, for an index
	// that has a version which is not the journal's. It skips stamps that are not the newest
	// version or not settled, and returns how many it reissued. A damaged record becomes a dead
	// letter instead.
	Reissue(ctx context.Context, stamps []report.Stamp) (int, error)

	// RaiseVersions gives pending documents a version above the one that an index has of them,
	// which would otherwise refuse them for ever. All later versions are above it, too. The change
	// stays the same, so nothing is counted. RaiseVersions skips stamps that are not the newest
	// version or not pending, and versions that are not [report.Version.InReach], and returns how
	// many it raised. A claim of the older version stays until it is settled.
	RaiseVersions(ctx context.Context, list []report.Ahead) (int, error)

	// Entries returns up to limit entries of kind with ids after the given one, tombstones
	// included, in the byte order of their ids.
	Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error)

	// Lookup returns the entries of the ids that the journal knows, in any order.
	Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error)

	// Documents returns the number of documents of kind that are not deleted.
	Documents(ctx context.Context, kind report.Kind) (int, error)

	// Document resolves name, an id or the code of a city, as a DELETE of that path would, and
	// returns what the journal has of the document. It waits for no delivery.
	Document(ctx context.Context, kind report.Kind, name report.ID) (report.Document, error)

	// Records yields the newest record of every document of kind that is not deleted, in the
	// byte order of their ids, all as of one moment not before the call. Deliveries go on
	// meanwhile, but the engine has to keep what they replace: if that becomes too much, the
	// sequence ends with report.ErrSnapshotTooOld. An error is the last pair. Memory is bounded by a
	// few MiB and the largest record.
	Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error]

	// Feed returns the newest state of documents after a cursor, of the cursor's kinds,
	// tombstones included, in the order of their versions: up to limit, with records of up to
	// maxBytes together, but one if there is one. Everything in it is durable, and no version
	// below Next is committed later, so a reader that continues from Next misses nothing. A
	// document that changes appears again; states in between may be left out. The error is
	// report.ErrCursorTooOld or report.ErrOtherFeed if the feed cannot be continued from the
	// cursor, but must be read from the beginning; report.ErrLossOpen if it cannot begin yet.
	Feed(ctx context.Context, after report.Cursor, limit, maxBytes int) (report.FeedPage, error)

	// Committed returns a channel that is closed once Feed may return more. Notifications of
	// other processes may be lost, so call Feed again after some seconds in any case.
	Committed() <-chan struct{}

	// Delivered returns up to limit documents of a delivery, in the order of its versions, after
	// the given one. It includes documents that have been replaced since, if they are in the
	// history.
	Delivered(ctx context.Context, name report.DeliveryName, after report.Version, limit int) (report.DeliveredPage, error)

	// DeadLetters returns up to limit dead letters of kind with ids after the given one, in the
	// byte order of their ids, without bodies.
	DeadLetters(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.DeadLetter, error)

	// DeadLetter returns the dead letter of a document with its body, or
	// report.ErrNotFound. The body is nil where the record is damaged.
	DeadLetter(ctx context.Context, key report.Key) (report.DeadLetter, error)

	// RetryDead accepts dead letters again, as new changes with new versions. It skips those
	// that are no longer the newest version of their document or whose record is damaged, and
	// returns how many it accepted.
	RetryDead(ctx context.Context, letters []report.Stamp) (int, error)

	// ReplaceDead accepts c, a change of the same document, in place of a dead letter. It
	// returns report.ErrNotFound if that is no longer the newest version of its document.
	ReplaceDead(ctx context.Context, letter report.Stamp, c report.Change) (report.Stamp, error)

	// DropDead gives up dead letters, and returns how many it found. It deletes their bodies;
	// the index keeps what it has of their documents until the next delivery. Reissue, RetryDead
	// and DropDead handle long lists in several transactions: beside an error, the number says
	// how many were done.
	DropDead(ctx context.Context, letters []report.Stamp) (int, error)

	// DropDeleted drops the tombstones that were settled longer than Options.KeepDeleted ago,
	// in steps between which deliveries are accepted, and returns how many. The journal calls
	// it once an hour itself.
	DropDeleted(ctx context.Context) (int, error)

	// History returns versions of a document before the given one, newest first, without
	// bodies: about limit of them, or fewer if there are no more. The newest is the one that
	// the document has now. It has what was accepted while Options.History was set, and what
	// that replaced.
	History(ctx context.Context, key report.Key, before report.Version, limit int) ([]report.Past, error)

	// PastVersion returns one version of a document, with its body, or report.ErrNotFound.
	PastVersion(ctx context.Context, key report.Key, version report.Version) (report.Past, error)

	// PastAt returns the version of a document that was the newest at a time, with its body. It
	// returns report.ErrNotFound if the document did not exist then, and report.ErrHistoryTooShort if
	// the history does not go back that far.
	PastAt(ctx context.Context, key report.Key, at time.Time) (report.Past, error)

	// DropHistory drops the entries of the history beyond Options.History or
	// Options.HistoryMaxBytes, in steps between which deliveries are accepted, and returns how
	// many. The journal does so once a minute itself, and soon after the history has grown beyond
	// its size.
	DropHistory(ctx context.Context) (int, error)

	// Note stores a short text under a name, and replaces the one before. Notes survive
	// restarts and are part of backups; Stats returns all of them.
	Note(ctx context.Context, name, value string) error

	// CheckGiven compares the journal with versions that it had given out, as an index or a process
	// remembers them. If it does not know one, it was set back to an older state, whatever was
	// delivered since. It then notes the loss: the versions above what it has from before, up to the
	// highest that is lost. Until AcknowledgeLoss, Claim gives out nothing up to that version, and
	// what would send such a state under a new version returns report.ErrLossOpen; RaiseVersions
	// skips it. All later versions are above it, and the feed of changes begins anew, after
	// AcknowledgeLoss.
	CheckGiven(ctx context.Context, given []report.Stamp) error

	// Newest returns the newest versions of a kind, up to limit, the last first.
	Newest(ctx context.Context, kind report.Kind, limit int) ([]report.Stamp, error)

	// AcknowledgeLoss ends the loss that Stats reports, and returns it; report.ErrNotFound if there is
	// none. Nothing else ends a loss. A note of it remains ([report.AcknowledgedIn]).
	AcknowledgeLoss(ctx context.Context) (report.Loss, error)

	// Changed receives a value when changes may have become claimable. It buffers one value,
	// and is never closed.
	Changed() <-chan struct{}

	// Stats returns one consistent snapshot.
	Stats(ctx context.Context) (report.Stats, error)

	// Refusals returns up to limit refusals, newest first, without bodies: those with a Seq
	// below before, or the newest ones if before is 0.
	Refusals(ctx context.Context, before int64, limit int) ([]report.Refusal, error)

	// Refusal returns a kept refusal with its body, or report.ErrNotFound.
	Refusal(ctx context.Context, seq int64) (report.Refusal, error)

	// DropRefusals forgets refusals, and returns how many it found.
	DropRefusals(ctx context.Context, seqs []int64) (int, error)

	// LockKind locks a kind for this process: no other process can claim changes of it until
	// UnlockKind, or until this process or its lease ends. LockKind waits until the others have
	// settled what they had claimed. It returns report.ErrKindLocked if another process has the lock,
	// or has had it since this one last claimed; then this one must check its index again.
	// Locking twice is harmless. Claim returns the same error in these cases; with maxChanges 0
	// it only asks that. In a journal for one process every lock is free.
	LockKind(ctx context.Context, kind report.Kind) error

	// UnlockKind ends the lock of a kind. It returns at once, and others may see that later.
	UnlockKind(kind report.Kind)

	// LockVerify locks a kind for a verification. Until done is called, or the process ends,
	// all other calls, in any process, return report.ErrVerifying.
	LockVerify(ctx context.Context, kind report.Kind) (done func(), err error)

	// Lineage returns the id of the journal's lineage: the same for a journal, its backups and
	// copies, and what is restored from them, and for no other journal.
	Lineage() string

	// Ready returns nil if the journal can accept deliveries, and otherwise why not. It never
	// waits.
	Ready() error

	// OldestWait returns how long the oldest unanswered request of this process has waited; 0 if
	// there is none. From 5 seconds on, Ready returns an error.
	OldestWait() time.Duration

	// Close rejects new requests, finishes those that wait, and releases the database. A second
	// call returns the same error.
	Close() error
}
