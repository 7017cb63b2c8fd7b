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
	DefaultHistoryMaxBytes = 10 << 30
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
	// evict those of all others. Zero means a tenth of MaxRefusals. Together they take at
	// most a tenth of MaxRefusalBytes, but one is always kept.
	MaxDeliveryRefusals int

	// MaxBytes bounds the size of the journal in bytes: in SQLite the file without free space, and the
	// WAL; in PostgreSQL the records, uncompressed and with a fixed amount for each, and the table of
	// receipts, as of the last heartbeat. Zero means no limit. Above it, Append fails with report.ErrNoRoom for
	// everything but deletes of existing documents.
	MaxBytes int64

	// MinFree is the free space that the journal's disk must have, in bytes. Zero means the
	// default, a negative number no limit. Below it, Append fails with report.ErrNoRoom; the rest of
	// the space is for settling pending changes.
	MinFree int64

	// KeepDeleted is how long a tombstone is kept after its delete was settled. Zero means the
	// default, a negative number for ever. Without the tombstone, a restored index may bring
	// the deleted document back.
	KeepDeleted time.Duration

	// History is how long the history of documents is kept: what was delivered, by whom, and
	// when the index had it. With zero, nothing is added and existing entries stay; with a
	// negative number, existing entries are dropped, too. HistoryMaxBytes bounds the size of the
	// history, before compression and with a fixed amount per entry. Beyond it, or near MaxBytes,
	// the oldest entries are dropped soon after. Zero means the default.
	History         time.Duration
	HistoryMaxBytes int64

	// Observe, if not nil, is called with the duration of each successful Append in seconds,
	// including all waiting and the fsync. It is called concurrently.
	Observe func(seconds float64)
}

// MaxRemembered is the number of tombstones of a kind from which on a delete of an unknown document
// leaves none. Such a delete makes all kept refusals unretryable instead, since nobody could tell
// which of them it would have deleted.
const MaxRemembered = 10_000
