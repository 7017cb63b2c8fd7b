package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"riskdex/internal/testkit/prometheus"
)

// startPrometheus starts Prometheus if it is installed. It is only there to look at: if it
// fails to start, everything else goes on, except in a run that is a check.
func (r *stack) startPrometheus(ctx context.Context) error {
	local := filepath.Dir(r.binary)
	dashboards := filepath.Join(filepath.Dir(local), "dashboards")
	server, err := prometheus.Start(ctx, prometheus.Options{
		Home:     filepath.Join(local, "prometheus"),
		Config:   filepath.Join(dashboards, "prometheus.yml"),
		Rules:    filepath.Join(dashboards, "rules.yml"),
		Target:   r.admin,
		Interval: r.scrapeEvery(),
	})
	switch {
	case errors.Is(err, prometheus.ErrMissing):
		r.say("no metrics over time: %v", prometheus.ErrMissing)
		return nil
	case err != nil && !r.once && ctx.Err() == nil:
		r.say("no metrics over time: %v", err)
		return nil
	case err != nil:
		return err
	}
	r.watching = server
	r.undo = append(r.undo, func() error {
		r.say("stopping Prometheus")
		return server.Stop()
	})
	r.say("Prometheus watches riskdex at %s, its log is %s", server.URL(), shown(server.Log()))
	return nil
}

// scrapeEvery returns a short interval for a developer who watches, and a shorter one for a
// check, which waits for a scrape.
func (r *stack) scrapeEvery() time.Duration {
	if r.once {
		return time.Second
	}
	return 5 * time.Second
}

// watched waits, in a run that is a check, until Prometheus has seen riskdex.
func (r *stack) watched(ctx context.Context) error {
	if r.watching == nil || !r.once {
		return nil
	}
	var err error
	waited := r.await(ctx, "Prometheus to scrape riskdex", func() bool {
		err = r.watching.Scraped(ctx)
		return err == nil
	})
	if waited != nil {
		return errors.Join(waited, err)
	}
	rules, err := r.watching.Rules(ctx)
	if err != nil {
		return fmt.Errorf("check the rules in Prometheus: %w", err)
	}
	r.say("Prometheus has scraped riskdex and has its %d rules", rules)
	return nil
}

// lost returns a channel that is closed when Prometheus has ended, or nil without Prometheus.
func (r *stack) lost() <-chan struct{} {
	if r.watching == nil {
		return nil
	}
	return r.watching.Done()
}
