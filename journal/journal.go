package journal

import (
	"context"
	"errors"

	"riskdex/report"
)

// ErrClosed is what every method returns after Close.
var ErrClosed = errors.New("the journal is closed")

// ErrorTypeDamaged is the error type of the dead letter that a record becomes
// whose checksum does not fit.
const ErrorTypeDamaged = "journal_damaged"

// Journal is what every engine provides. All methods may be called by many
// goroutines at the same time.
type Journal interface {
	// Append takes a delivery, all of it or nothing, and returns one stamp per
	// change, in the same order. It is durable when the error is nil. When ctx
	// ends while Append waits, it returns the context's error although the
	// delivery may be committed all the same. Append keeps no reference to d
	// after it has returned, unless ctx ended.
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)

	// Claim gives out up to maxChanges changes of kind whose bodies sum up to at
	// most maxBytes, but at least one if there is one. Those waiting longest come
	// first, pending ones before those of Resend. A document is left out while
	// it is claimed or while the NotBefore of its retry is in the future. Each
	// change stays claimed until its Settle. An empty answer means that nothing
	// was claimable; Changed tells when to ask again.
	Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error)

	// Settle says what became of claimed changes. A settlement of a version that
	// was overtaken since, or that is settled already, is harmless: at most it
	// ends the claim. Indexed or Deleted for an overtaken version does count in
	// one respect: the index was fresh as of the newer version's acceptance, so
	// that one is waiting from then on and not from earlier.
	Settle(ctx context.Context, s []report.Settlement) error

	// Resend marks every settled document of kind to be given out once more by
	// Claim, and returns how many. Tombstones are among them: nobody knows what an
	// index holds that has come back from elsewhere. They do not count as pending,
	// and settling them counts nothing. A newer version ends the mark.
	Resend(ctx context.Context, kind report.Kind) (int, error)

	// Changed receives a value after changes may have become claimable. It holds
	// at most one value however often that happened, and is never closed.
	Changed() <-chan struct{}

	// Stats returns one consistent snapshot.
	Stats(ctx context.Context) (Stats, error)

	// Refusals returns up to limit kept refusals, newest first.
	Refusals(ctx context.Context, limit int) ([]report.Refusal, error)

	// Ready returns nil when the journal can accept deliveries, and otherwise
	// what keeps it from doing so.
	Ready() error

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
