package indexertest

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/indexer"
	"riskdex/indexer/probe"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// Probed is Quick with a lane for the probe.
func Probed() indexer.Config {
	cfg := Quick()
	cfg.Probe = true
	return cfg
}

// Often makes a prober start the next probe at once.
func Often() probe.Config {
	return probe.Config{Every: time.Millisecond, Again: time.Hour}
}

// Once makes a prober find one probe and then rest.
func Once() probe.Config {
	return probe.Config{Every: 24 * time.Hour, Again: 24 * time.Hour}
}

// Probing is a running prober with its own metrics, of which a process has one set.
type Probing struct {
	*Rig
	Prober *probe.Prober
	Stop   func()
}

// Probe runs a prober on the journal and the indices of a rig.
func (r *Rig) Probe(cfg probe.Config) *Probing {
	r.T.Helper()
	return r.ProbeInto(cfg, r.Journal)
}

// ProbeInto is Probe with another journal.
func (r *Rig) ProbeInto(cfg probe.Config, j probe.Journal) *Probing {
	r.T.Helper()
	own := &Rig{T: r.T, Journal: r.Journal, Indices: r.Indices, Registry: prometheus.NewRegistry(), Direct: r.Direct}
	log := slog.New(slog.NewTextHandler(r.T.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	p, err := probe.New(cfg, j, r.Indices, r.Indices.Client, own.Registry, log)
	require.NoError(r.T, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	stop := sync.OnceFunc(func() { cancel(); running.Wait() })
	r.T.Cleanup(stop)
	return &Probing{own, p, stop}
}

// Found returns how many probes were found.
func (p *Probing) Found() int { return int(p.Metric("riskdex_searchable_seconds")) }

// Unsearchable returns for how long the search that apps make has failed, or 0.
func (p *Probing) Unsearchable() time.Duration {
	return time.Duration(p.Metric("riskdex_probe_unsearchable_seconds") * float64(time.Second))
}

// Finds waits until n more probes have been found.
func (p *Probing) Finds(n int) {
	p.T.Helper()
	goal := p.Found() + n
	p.Eventually("probes are found", func() bool { return p.Found() >= goal })
}

// Rested waits until the probe was found and the next one is not yet awaited.
func (p *Probing) Rested() {
	p.T.Helper()
	p.Eventually("the probe was found", func() bool { return p.Found() > 0 && p.Unsearchable() == 0 })
}

// ProbeStats returns the journal's totals of the probe.
func (r *Rig) ProbeStats() report.KindStats {
	r.T.Helper()
	return r.Stats().Kinds[report.Probe]
}
