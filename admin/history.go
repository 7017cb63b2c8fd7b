package admin

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"riskdex/report"
)

// Sample has the largest values of one minute.
type Sample struct {
	Minute     time.Time `json:"minute"` // its start
	LagSeconds float64   `json:"lag_seconds"`
	Pending    int       `json:"pending"`
}

// How far the history goes back, and how often it is sampled.
const (
	historyMinutes = 60
	sampleEvery    = 10 * time.Second
)

// History remembers the last hour in memory, so it is empty after a restart. Its methods
// may be called concurrently.
type History struct {
	journal Journal
	now     func() time.Time
	log     *slog.Logger

	mu      sync.Mutex
	samples map[report.Kind][]Sample // oldest first, one per minute, at most historyMinutes
}

// NewHistory returns a history that is empty until Run or Sample is called.
func NewHistory(journal Journal, now func() time.Time, log *slog.Logger) *History {
	return &History{journal: journal, now: now, log: log, samples: map[report.Kind][]Sample{}}
}

// Run takes samples until ctx is done.
func (h *History) Run(ctx context.Context) {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		h.Sample(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Sample takes one sample. While the journal cannot be read, the history has a gap.
func (h *History) Sample(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, statsTimeout)
	defer cancel()
	stats, err := h.journal.Stats(ctx)
	if err != nil {
		h.log.Debug("the journal cannot be read for the lag of the last hour, which gets a gap", "error", err)
		return
	}
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kind := range report.Kinds() {
		k := stats.Kinds[kind]
		s := Sample{Minute: now.UTC().Truncate(time.Minute), LagSeconds: lagSeconds(k.OldestWaiting, now), Pending: k.Pending}
		h.samples[kind] = withSample(h.samples[kind], s)
	}
}

// withSample adds a sample to its minute, and drops samples that are too old.
func withSample(all []Sample, s Sample) []Sample {
	if n := len(all); n > 0 && !s.Minute.After(all[n-1].Minute) { // or the clock was put back
		last := &all[n-1]
		last.LagSeconds, last.Pending = max(last.LagSeconds, s.LagSeconds), max(last.Pending, s.Pending)
		return all
	}
	all = append(all, s)
	first := s.Minute.Add(-(historyMinutes - 1) * time.Minute)
	for len(all) > 0 && all[0].Minute.Before(first) {
		all = all[1:]
	}
	return all
}

// Of returns the history of a kind, oldest first.
func (h *History) Of(kind report.Kind) []Sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Sample{}, h.samples[kind]...)
}
