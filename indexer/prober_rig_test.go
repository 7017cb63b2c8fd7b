package indexer_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/indexer"
	"riskdex/indexer/probe"
	"riskdex/report"
)

// probed is quick with a lane for the probe.
func probed() indexer.Config {
	cfg := quick()
	cfg.Probe = true
	return cfg
}

// often has one probe follow the other.
func often() probe.Config {
	return probe.Config{Every: time.Millisecond, Again: time.Hour}
}

// once has a prober find one probe and rest.
func once() probe.Config {
	return probe.Config{Every: 24 * time.Hour, Again: 24 * time.Hour}
}

// probing is a prober that runs, with metrics of its own: a process has one.
type probing struct {
	*rig
	prober *probe.Prober
	stop   func()
}

// probe runs a prober on what the rig has.
func (r *rig) probe(cfg probe.Config) *probing {
	r.t.Helper()
	return r.probeInto(cfg, r.journal)
}

func (r *rig) probeInto(cfg probe.Config, j probe.Journal) *probing {
	r.t.Helper()
	return r.probeFor(cfg, j, func(context.Context) error { return nil })
}

// probeFor is probeInto for apps that search so.
func (r *rig) probeFor(cfg probe.Config, j probe.Journal, search probe.Search) *probing {
	r.t.Helper()
	own := &rig{t: r.t, journal: r.journal, indices: r.indices, reg: prometheus.NewRegistry(), direct: r.direct}
	log := slog.New(slog.NewTextHandler(r.t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	p, err := probe.New(cfg, j, r.indices, search, r.indices.Client, own.reg, log)
	must(r.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	stop := sync.OnceFunc(func() { cancel(); running.Wait() })
	r.t.Cleanup(stop)
	return &probing{own, p, stop}
}

func (p *probing) found() int { return int(p.metric("riskdex_searchable_seconds")) }

func (p *probing) unsearchable() time.Duration {
	return time.Duration(p.metric("riskdex_probe_unsearchable_seconds") * float64(time.Second))
}

// finds waits until n more probes were found.
func (p *probing) finds(n int) {
	p.t.Helper()
	goal := p.found() + n
	p.eventually("probes are found", func() bool { return p.found() >= goal })
}

// rested waits until the probe was found and no other is looked for.
func (p *probing) rested() {
	p.t.Helper()
	p.eventually("the probe was found", func() bool { return p.found() > 0 && p.unsearchable() == 0 })
}

func (r *rig) probeStats() report.KindStats {
	r.t.Helper()
	return r.stats().Kinds[report.Probe]
}

// hangs has requests that write to an alias wait until the fault ends.
func hangs(alias string) (f fault, end func()) {
	over := make(chan struct{})
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/"+alias+"/_bulk" {
			<-over
		}
		next.ServeHTTP(w, req)
	}, sync.OnceFunc(func() { close(over) })
}

func testHanging(t *testing.T, r *rig, kind report.Kind, meanwhile func()) {
	t.Helper()
	f, end := hangs(r.indices.Alias(kind))
	t.Cleanup(end)
	r.fail(f)
	meanwhile()
	end()
	r.heal()
}
