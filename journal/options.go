package journal

import (
	"log/slog"
	"time"
)

// Defaults of Options.
const (
	DefaultMinFree         = 256 << 20
	DefaultMaxRefusals     = 10_000
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

	// MaxBytes is the most that the journal may take, in bytes: its documents and
	// its log, without what is free inside the file. Zero means that there is no
	// such limit. Past it, Append fails with ErrNoRoom for all but deletes.
	MaxBytes int64

	// MinFree is how many bytes the disk that the journal lies on must have left.
	// Zero means the default; a negative one that there is no such mark. Past it,
	// Append fails with ErrNoRoom. What is left is for what waits to drain.
	MinFree int64

	// Observe, if not nil, is told how long each successful Append took, in
	// seconds, with all waiting and its fsync. It is called concurrently.
	Observe func(seconds float64)
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.MaxRefusals <= 0 {
		o.MaxRefusals = DefaultMaxRefusals
	}
	if o.MaxRefusalBytes <= 0 {
		o.MaxRefusalBytes = DefaultMaxRefusalBytes
	}
	if o.MinFree == 0 {
		o.MinFree = DefaultMinFree
	}
	if o.Observe == nil {
		o.Observe = func(float64) {}
	}
	return o
}
