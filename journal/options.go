package journal

import (
	"log/slog"
	"time"
)

// Defaults of Options.
const (
	DefaultMaxRefusals     = 10_000
	DefaultMaxRefusalBytes = 64 << 20
)

// MaxRefusalBody is how much of a refused body is kept, in bytes.
const MaxRefusalBody = 64 << 10

// Options are the settings of an engine. The zero value is usable.
type Options struct {
	Now func() time.Time // the clock; time.Now if nil
	Log *slog.Logger     // slog.Default() if nil

	// MaxRefusals and MaxRefusalBytes bound the refusals kept; the oldest are
	// dropped. Zero means the default.
	MaxRefusals     int
	MaxRefusalBytes int64

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
	if o.Observe == nil {
		o.Observe = func(float64) {}
	}
	return o
}
