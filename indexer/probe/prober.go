package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/internal/histogram"
	"riskdex/report"
)

// Journal is the part of the journal that the prober needs.
type Journal interface {
	// Append makes a delivery durable and returns the versions of its changes.
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)
	// Newest returns the newest versions of a kind.
	Newest(ctx context.Context, kind report.Kind, limit int) ([]report.Stamp, error)
	// Stats says since when the probe of an earlier process has been waiting.
	Stats(ctx context.Context) (report.Stats, error)
}

// Config has the intervals of the prober. All must be greater than zero.
type Config struct {
	Every time.Duration // from one probe to the next
	Again time.Duration // until a probe that no search has found is written again
}

// DefaultConfig probes often enough for an alert within minutes, and to keep the index from
// idling: Elasticsearch stops refreshing an index that nobody has searched for 30 seconds.
func DefaultConfig() Config {
	return Config{Every: 15 * time.Second, Again: time.Minute}
}

// Prober delivers a document and searches for it, which shows how long a change takes until a
// search shows it, and that it arrives at all.
//
// There is one such document, and one version of it is probed at a time. An overdue probe is
// written again, because its version may be lost for good, such as in a dead letter; that does
// not start a new measurement.
type Prober struct {
	cfg          Config
	journal      Journal
	client       *elastic.Client
	alias        string
	ownedByOther func() bool // another journal fills the index of the probe
	log          *slog.Logger
	seconds      prometheus.Histogram
	since        atomic.Pointer[time.Time] // when the current probe was accepted; nil if there is none
	fails        atomic.Pointer[SearchFailure]
	clock        atomic.Int32 // the Clock at the last probe that was found
}

// Index knows the index of the probe.
type Index interface {
	Alias(kind report.Kind) string
	// OwnedByOther reports whether another journal fills the index, and has its own probe there.
	OwnedByOther(kind report.Kind) bool
}

// New returns a prober that does not run yet. It needs an indexer with Config.Probe on the same
// journal.
func New(cfg Config, journal Journal, indices Index, client *elastic.Client, reg prometheus.Registerer, log *slog.Logger) (*Prober, error) {
	if min(cfg.Every, cfg.Again) <= 0 {
		return nil, fmt.Errorf("the times between two probes, and until one is written again, must be more than 0, not %v and %v", cfg.Every, cfg.Again)
	}
	p := &Prober{cfg: cfg, journal: journal, client: client, alias: indices.Alias(report.Probe), log: log}
	p.ownedByOther = func() bool { return indices.OwnedByOther(report.Probe) }
	p.seconds = prometheus.NewHistogram(histogram.Seconds("riskdex_searchable_seconds",
		"Time from accepting a probe document until a search found it.", 10*time.Millisecond, 24*time.Hour))
	unsearchable := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riskdex_probe_unsearchable_seconds",
		Help: "How long no search has found the present probe document.",
	}, func() float64 { return p.Unsearchable().Seconds() })
	clock := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riskdex_clock_differs",
		Help: "1 if the clock by which deliveries are accepted is more than a minute ahead of that of Elasticsearch, -1 if it is that far behind, otherwise 0.",
	}, func() float64 { return float64(p.Clock()) })
	reg.MustRegister(p.seconds, unsearchable, clock)
	return p, nil
}

// Run probes until ctx is done. It may be called once.
func (p *Prober) Run(ctx context.Context) {
	began := time.Now()
	for since := p.oldest(ctx, began); ; since = began {
		waiting := since
		p.since.Store(&waiting)
		if !p.probe(ctx) {
			return
		}
		p.since.Store(nil)
		if !pause(ctx, p.cfg.Every-time.Since(began)) {
			return
		}
		began = time.Now()
	}
}

// oldest returns since when the probe of an earlier process has been waiting, or now. If the
// index already had that probe, but no search had shown it, it counts as found.
func (p *Prober) oldest(ctx context.Context, now time.Time) time.Time {
	stats, err := p.journal.Stats(ctx)
	if err != nil {
		p.log.Warn("cannot see since when a probe waits in the journal; it counts from now", "error", err)
		return now
	}
	if waiting := stats.Kinds[report.Probe].OldestWaiting; !waiting.IsZero() && waiting.Before(now) {
		return waiting
	}
	return now
}

// probe writes the document and searches until it finds that version or a newer one. It returns
// false if ctx ends before.
func (p *Prober) probe(ctx context.Context) bool {
	version, accepted, ok := p.write(ctx)
	if !ok {
		return false
	}
	written, late := accepted, false
	for {
		began := time.Now()
		found, err := p.find(ctx, time.Since(accepted))
		p.fails.Store(following(p.fails.Load(), began, err))
		switch {
		case ctx.Err() != nil:
			return false
		case found.version >= version:
			if found.version == version {
				p.clock.Store(int32(found.clock))
			}
			p.seconds.Observe(time.Since(accepted).Seconds())
			if late {
				p.log.Info("a search finds the probe again", "after", time.Since(accepted).Round(time.Millisecond))
			}
			return true
		case time.Since(written) >= p.cfg.Again:
			if !late {
				log := p.log.With("index", p.alias, "since", accepted)
				if err != nil {
					log = log.With("error", err)
				}
				log.Warn("no search finds the probe; it is written again from time to time")
			}
			late, written = true, time.Now()
			if _, err := p.append(ctx); err != nil {
				p.log.Debug("the journal does not take a probe", "error", err)
			}
		}
		if !pause(ctx, searchAfter(time.Since(accepted))) {
			return false
		}
	}
}

// write retries until the journal accepts the document.
func (p *Prober) write(ctx context.Context) (v report.Version, accepted time.Time, ok bool) {
	for refused := false; ; refused = true {
		tried := time.Now()
		v, err := p.append(ctx)
		switch {
		case err == nil:
			return v, tried, true
		case ctx.Err() != nil:
			return 0, tried, false
		case !refused:
			p.log.Warn("the journal does not take a probe; it is tried again", "error", err)
		}
		if !pause(ctx, p.cfg.Every) {
			return 0, tried, false
		}
	}
}

func (p *Prober) append(ctx context.Context) (report.Version, error) {
	body, err := p.body(ctx)
	if err != nil {
		return 0, err
	}
	stamps, err := p.journal.Append(ctx, report.Delivery{Changes: []report.Change{
		{Key: report.Key{Kind: report.Probe, ID: probeID}, Op: report.Index, Body: body},
	}})
	if err != nil {
		return 0, fmt.Errorf("append the probe: %w", err)
	}
	return stamps[0].Version, nil
}

// carried is how many versions of a kind the probe carries.
const carried = 5

// body returns the newest versions that the journal has given out. With them, the index shows that
// the journal was set back even where that has lost nothing but deletes.
func (p *Prober) body(ctx context.Context) ([]byte, error) {
	body := struct {
		Given []report.Carried `json:"given,omitempty"`
	}{}
	for _, kind := range report.Kinds() {
		newest, err := p.journal.Newest(ctx, kind, carried)
		if err != nil {
			return nil, fmt.Errorf("make the probe: %w", err)
		}
		for _, s := range newest {
			body.Given = append(body.Given, report.Carried{Kind: s.Kind, ID: s.ID, Version: s.Version})
		}
	}
	return json.Marshal(body)
}

// Last writes the probe once more, and waits until the index has it or ctx ends. It is called when
// deliveries are no longer accepted.
func (p *Prober) Last(ctx context.Context) {
	version, err := p.append(ctx)
	for err == nil {
		has, failed := p.client.Versions(ctx, p.alias, []report.ID{probeID})
		if failed != nil || has[probeID].Version >= version || !pause(ctx, searchAfter(0)) {
			return
		}
	}
}

// probeID is the id of the only document of its kind, so that journal and index do not grow.
const probeID report.ID = "probe"

// Unsearchable returns for how long the current probe has not been found, even if the journal
// does not accept it; 0 if it was found. It may be called concurrently.
func (p *Prober) Unsearchable() time.Duration { return age(p.since.Load()) }

func age(since *time.Time) time.Duration {
	if since == nil {
		return 0
	}
	return max(0, time.Since(*since))
}

// Fails returns since when each search for the probe has failed, and why; nil if the last one was
// answered, whatever it found. It may be called concurrently.
func (p *Prober) Fails() *SearchFailure { return p.fails.Load() }

// Clock returns how the clocks differed at the last probe that was found. It may be called
// concurrently.
func (p *Prober) Clock() Clock { return Clock(p.clock.Load()) }

// searchAfter is how long to wait between two searches for a probe of some age: so short that
// the measured time is off by a fifth at most.
func searchAfter(age time.Duration) time.Duration {
	return min(max(age/5, 10*time.Millisecond), 5*time.Second)
}

// pause waits, and returns false if ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
