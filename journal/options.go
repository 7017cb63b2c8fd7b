package journal

import (
	"log/slog"
	"time"
)

// Defaults of Options.
const (
	DefaultMinFree         = 256 << 20
	DefaultMaxRefusals     = 10_000
	DefaultKeepDeleted     = 90 * 24 * time.Hour
	DefaultMaxRefusalBytes = 256 << 20
)

// MaxRefusalBody is how much of a refused body is kept, in bytes.
const MaxRefusalBody = 4 << 20

// Options are the settings of an engine. The zero value is usable.
type Options struct {
	Now func() time.Time // the clock; time.Now if nil
	Log *slog.Logger     // slog.Default() if nil

	// MaxRefusals and MaxRefusalBytes bound the refusals kept; the oldest are
	// dropped. Zero means the default.
	MaxRefusals     int
	MaxRefusalBytes int64

	// MaxDeliveryRefusals bounds the refusals kept of one delivery, so that it cannot
	// evict those of all others. Zero means a tenth of MaxRefusals. Together they take
	// at most a tenth of MaxRefusalBytes, or are one.
	MaxDeliveryRefusals int

	// MaxBytes is the most that the journal may take, in bytes: its documents and
	// its WAL, without what is free inside the file. Zero means that there is no
	// such limit. Past it, Append fails with ErrNoRoom for all but deletes of
	// documents that are there.
	MaxBytes int64

	// MinFree is how many bytes the disk of the journal must have left. Zero means the
	// default, a negative number that there is no such limit. Below it, Append fails with
	// ErrNoRoom; the rest is for settling what is pending.
	MinFree int64

	// KeepDeleted is how long a tombstone is kept once the delete is settled. Zero means
	// the default, a negative number that tombstones are kept for ever. A dropped one is
	// forgotten: when an index that had the document is restored, nobody knows that it is
	// deleted.
	KeepDeleted time.Duration

	// Observe, if not nil, is told how long each successful Append took, in
	// seconds, with all waiting and its fsync. It is called concurrently.
	Observe func(seconds float64)
}

// MaxRemembered bounds the tombstones of a kind that deletes of unknown documents may leave.
// Beyond it, all refusals that are kept lose their place in the order of deliveries instead,
// and can no longer be retried: nobody knows any more which of them are older than a delete.
const MaxRemembered = 10_000
