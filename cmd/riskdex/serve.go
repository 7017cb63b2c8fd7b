package main

import (
	"context"

	"riskdex/indexer"
)

type serveCommand struct {
	receiverSettings
	elasticsearchSettings
	logSettings
	AdminListen string `name:"admin-listen" env:"RISKDEX_ADMIN_LISTEN" default:"127.0.0.1:8081" help:"Address for metrics, health and administration."`
	Journal     string `name:"journal" env:"RISKDEX_JOURNAL" default:"data/riskdex.db" placeholder:"FILE" help:"The journal."`
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
