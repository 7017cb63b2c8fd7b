package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"riskdex/indexer"
	"riskdex/indexer/probe"
	"riskdex/internal/logsink"
	"riskdex/internal/reread"
)

type serveCommand struct {
	receiverSettings
	followSettings
	authSettings
	elasticsearchSettings
	logSettings
	TLS         tlsSettings `embed:"" envprefix:"RISKDEX_"`
	AdminListen string      `name:"admin-listen" env:"RISKDEX_ADMIN_LISTEN" default:"127.0.0.1:8081" placeholder:"ADDRESS" help:"Address for metrics, health and administration."`
	adminAccess
	SearchListen string            `name:"search-listen" env:"RISKDEX_SEARCH_LISTEN" placeholder:"ADDRESS" help:"Address for searches of apps, as riskdex search-api has it. By default none."`
	SearchAPI    searchAPISettings `embed:"" prefix:"search-" envprefix:"RISKDEX_SEARCH_"`
	Journal      string            `name:"journal" env:"RISKDEX_JOURNAL" default:"data/riskdex.db" placeholder:"FILE|URL" help:"The journal: a file in a folder that exists, for one process, or postgres://… for several."`
	MaxBytes     size              `name:"journal-max-bytes" env:"RISKDEX_JOURNAL_MAX_BYTES" placeholder:"SIZE" help:"Most space that the journal may take; near it the history gives way, and beyond it only deletes of existing documents are accepted. By default no limit."`
	MinFree      *size             `name:"journal-min-free" env:"RISKDEX_JOURNAL_MIN_FREE" placeholder:"SIZE" help:"Free space that the disk of a journal in a file must have; below it nothing is accepted. By default 256MiB."`
	KeepDeleted  retention         `name:"keep-deleted" env:"RISKDEX_KEEP_DELETED" default:"90d" placeholder:"TIME" help:"How long a deleted document is remembered: at least as long as an index may be restored from an older snapshot."`
	History      historyRetention  `name:"history" env:"RISKDEX_HISTORY" placeholder:"TIME" help:"How long to keep what was delivered for every document, from whom, and when searches found it, such as 90d. By default nothing is added to it; 0 drops what there is, too."`
	HistoryMax   size              `name:"history-max-bytes" env:"RISKDEX_HISTORY_MAX_BYTES" default:"10GiB" placeholder:"SIZE" help:"Most that the history may count for: the records in it, and 200 bytes per entry; the oldest entries are dropped."`
	BackupEvery  interval          `name:"backup-every" env:"RISKDEX_BACKUP_EVERY" placeholder:"TIME" help:"How old the newest backup of a journal in a file may become, such as 1d, before status and an alert report it. By default never."`
	Expect       expectation       `name:"expect-every" env:"RISKDEX_EXPECT_EVERY" placeholder:"TIME" help:"How often deliveries come at least, before status and an alert report silence: 24h for each of the three kinds, or by kind or sender, such as cities=24h,advisories=7d,acme=1h. By default a silence is told that is clearly longer than any of the four weeks before it."`
	Workers      int               `name:"workers" env:"RISKDEX_WORKERS" default:"4" placeholder:"N" help:"Workers that send to Elasticsearch."`
	Refresh      float64           `name:"refresh-share" env:"RISKDEX_REFRESH_SHARE" default:"0.3" placeholder:"SHARE" help:"Largest share of the time that refreshes may take, from 0 to 1; 0 leaves them to the index's own interval."`
	ProbeEvery   time.Duration     `name:"probe-every" env:"RISKDEX_PROBE_EVERY" default:"15s" placeholder:"TIME" help:"How often to write a document of riskdex's own and search for it, and to search as apps do; 0 is never, and then nothing tells that searches fail."`
}

// Run serves until ctx is done. It then returns within stopWithin, also while the journal is
// being opened: work that waits for a disk that hangs is abandoned, and ends with the process.
// That is safe: senders without an answer were not told that their delivery is durable.
//
// Nothing waits for whoever reads the log.
func (c *serveCommand) Run(ctx context.Context, io streams) error {
	return c.unheld(io, func(log *slog.Logger, lines *logsink.Sink, files *reread.Group) error {
		return c.serveInTime(ctx, log, lines, files)
	})
}

func (c *serveCommand) serveInTime(ctx context.Context, log *slog.Logger, lines *logsink.Sink, files *reread.Group) error {
	served := make(chan error, 1)
	go func() { served <- c.serve(ctx, log, lines, files) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-served:
		return err
	case <-time.After(stopWithin - lastLines):
		return fmt.Errorf("stop: not done within %v, perhaps because the disk of the journal hangs; riskdex ends nevertheless, and what was acknowledged is in the journal", stopWithin-lastLines)
	}
}

func (c *serveCommand) serve(ctx context.Context, log *slog.Logger, lines *logsink.Sink, files *reread.Group) error {
	s, err := newService(ctx, c, log, lines, files)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(newBallast())
	log.Info("riskdex serves", "version", thisBuild().Version, "deliveries", s.URL(), "admin", s.AdminURL(), "journal", c.Journal, "elasticsearch", redacted(c.ElasticsearchURL))
	err = s.Run(ctx)
	if err == nil {
		log.Info("riskdex has stopped")
	}
	return err
}

// newBallast returns memory that is never touched, and so takes none of the machine's. The
// garbage collector lets the heap double before it collects. riskdex has a few MB in it, so
// without the ballast it would collect some hundred times a second under load.
func newBallast() []byte { return make([]byte, 16<<20) }

func (c *serveCommand) indexerConfig() indexer.Config {
	cfg := indexer.DefaultConfig()
	cfg.Workers = c.Workers
	cfg.RefreshShare = c.Refresh
	cfg.Probe = c.ProbeEvery != 0
	return cfg
}

func (c *serveCommand) probeConfig() probe.Config {
	cfg := probe.DefaultConfig()
	cfg.Every = c.ProbeEvery
	return cfg
}
