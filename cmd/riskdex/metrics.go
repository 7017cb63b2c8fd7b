package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"

	"riskdex/internal/logsink"
	"riskdex/journal"
	"riskdex/report"
)

type metricsCommand struct {
	JSON bool `name:"json" help:"Print one JSON object per metric, with the values that its labels may have."`
}

// Run prints the metrics that riskdex serve exposes. It needs no running riskdex: it reads
// them from the components of serve.
func (c *metricsCommand) Run(io streams) error {
	all, err := metricsOfServe()
	switch {
	case err != nil:
		return fmt.Errorf("list the metrics: %w", err)
	case c.JSON:
		lines := json.NewEncoder(io.out)
		lines.SetEscapeHTML(false)
		for _, m := range all {
			if err := lines.Encode(m); err != nil {
				return fmt.Errorf("print a metric: %w", err)
			}
		}
		return nil
	}
	table := newTable("METRIC", "TYPE", "SCOPE", "LABELS", "MEANING")
	for _, m := range all {
		table.add(m.Name, m.Type, m.Scope, strings.Join(m.labelNames(), ", "), m.Help)
	}
	table.print(io.out)
	return nil
}

// metricsOfServe returns the metrics of a serve with the settings of the environment and the
// defaults, without opening its journal.
func metricsOfServe() ([]metric, error) {
	serve := new(serveCommand)
	if err := kong.ApplyDefaults(serve, kong.PostBuild(emptyIsUnset)); err != nil {
		return nil, err
	}
	serve.SearchListen = cmp.Or(serve.SearchListen, "127.0.0.1:8082") // its metrics, too
	w, err := newComponents(serve, nil, func(func(float64)) (journal.Journal, error) { return emptyJournal{}, nil }, slog.New(slog.DiscardHandler), new(logsink.Sink), nil)
	if err != nil {
		return nil, err
	}
	families, err := w.registry.Gather()
	if err != nil {
		return nil, err
	}
	shared := prometheus.NewRegistry()
	shared.MustRegister(w.global)
	known, err := shared.Gather()
	if err != nil {
		return nil, err
	}
	return describe(families, known), nil
}

// emptyJournal is an empty journal for describing metrics. It has only the methods that this
// needs; all others panic.
type emptyJournal struct{ journal.Journal }

// Ready implements journal.Journal.
func (emptyJournal) Ready() error { return nil }

// OldestWait implements journal.Journal.
func (emptyJournal) OldestWait() time.Duration { return 0 }

// Lineage implements journal.Journal. It is that of no journal.
func (emptyJournal) Lineage() string { return "" }

// Stats implements journal.Journal.
func (emptyJournal) Stats(context.Context) (report.Stats, error) { return report.Stats{}, nil }
