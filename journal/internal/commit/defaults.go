package commit

import (
	"log/slog"
	"time"

	"riskdex/journal"
)

// WithDefaults sets what is not set.
func WithDefaults(o journal.Options) journal.Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.MaxRefusals <= 0 {
		o.MaxRefusals = journal.DefaultMaxRefusals
	}
	if o.MaxRefusalBytes <= 0 {
		o.MaxRefusalBytes = journal.DefaultMaxRefusalBytes
	}
	if o.MaxDeliveryRefusals <= 0 {
		o.MaxDeliveryRefusals = max(1, o.MaxRefusals/10)
	}
	if o.MinFree == 0 {
		o.MinFree = journal.DefaultMinFree
	}
	if o.KeepDeleted == 0 {
		o.KeepDeleted = journal.DefaultKeepDeleted
	}
	if o.HistoryMaxBytes <= 0 {
		o.HistoryMaxBytes = journal.DefaultHistoryMaxBytes
	}
	if o.Observe == nil {
		o.Observe = func(float64) {}
	}
	return o
}
