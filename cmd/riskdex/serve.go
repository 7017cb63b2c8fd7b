package main

import (
	"context"

	"riskdex/indexer"
)

type serveCommand struct {
	receiverSettings
	doorSettings
	elasticsearchSettings
	logSettings
	AdminListen string `name:"admin-listen" env:"RISKDEX_ADMIN_LISTEN" default:"127.0.0.1:8081" help:"Address for metrics, health and administration."`
	Journal     string `name:"journal" env:"RISKDEX_JOURNAL" default:"data/riskdex.db" placeholder:"FILE" help:"The journal."`
	MaxBytes    size   `name:"journal-max-bytes" env:"RISKDEX_JOURNAL_MAX_BYTES" placeholder:"SIZE" help:"The most that the journal may take; past it only deletes are accepted. No limit if not given."`
	MinFree     size   `name:"journal-min-free" env:"RISKDEX_JOURNAL_MIN_FREE" default:"256MiB" placeholder:"SIZE" help:"What the journal's disk must have left; below it nothing is accepted."`
	Workers     int    `name:"workers" env:"RISKDEX_WORKERS" default:"4" help:"Goroutines that send to Elasticsearch."`
}

// Run serves until ctx is done.
func (c *serveCommand) Run(ctx context.Context, io streams) error {
	log := c.logger(io.err)
	s, err := newService(ctx, c, log)
	if err != nil {
		return err
	}
	log.Info("riskdex serves", "deliveries", s.URL(), "admin", s.AdminURL(), "journal", c.Journal, "elasticsearch", redacted(c.ElasticsearchURL))
	err = s.Run(ctx)
	if err == nil {
		log.Info("riskdex has stopped")
	}
	return err
}

func (c *serveCommand) indexerConfig() indexer.Config {
	cfg := indexer.DefaultConfig()
	cfg.Workers = c.Workers
	return cfg
}
