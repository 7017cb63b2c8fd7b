package main

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"riskdex/internal/testkit/elasticserver"
)

type elasticsearchCommand struct{}

// Help lists the environment variables that configure the server.
func (elasticsearchCommand) Help() string {
	return `ELASTICSEARCH_PORT is the port (9200), ELASTICSEARCH_HOME the folder that keeps the data
(.local/elasticsearch-data), ELASTICSEARCH_HEAP the size of the JVM heap (1g), ELASTICSEARCH_VERSION its version (` + elasticserver.DefaultVersion + ` or ` + elasticserver.NextVersion + `).`
}

// Run runs the developer's server until a signal stops it, which is a success, or it ends by
// itself, which is a failure.
func (elasticsearchCommand) Run(ctx context.Context, s streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	server, err := elasticserver.StartLocal(ctx, s.out)
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(s.out, "interrupted while starting; Elasticsearch is stopped")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, `  look at it:           curl '%[1]s/_cat/indices?v'
  run riskdex with it:  ELASTICSEARCH_URL=%[1]s riskdex serve
  stop it:              Ctrl-C (its data stays in %[2]s)
`, server.URL(), server.Home())

	select {
	case <-server.Done():
		return server.Err()
	case <-ctx.Done():
	}
	stop() // from here on a signal ends this process at once, and the server with it
	fmt.Fprintln(s.out, "stopping Elasticsearch")
	if err := server.Stop(); err != nil {
		return err
	}
	fmt.Fprintln(s.out, "stopped")
	return nil
}
