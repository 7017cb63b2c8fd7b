package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"riskdex/admin"
	"riskdex/internal/logsink"
	"riskdex/internal/reread"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/receiver/auth"
	"riskdex/report"
	"riskdex/search"
	"riskdex/search/searchapi"
)

// searchAPISettings say who may search through riskdex, and how much.
type searchAPISettings struct {
	Keys       []string      `name:"key-file" env:"KEY_FILE" placeholder:"FILE" help:"Keys for apps that search, one per line; by default none is needed. Reread when it changes."`
	Origins    []string      `name:"allow-origin" env:"ALLOW_ORIGIN" placeholder:"ORIGIN" help:"Origins whose pages may search from a browser, such as https://app.example; * for all."`
	MaxRate    float64       `name:"max-rate" env:"MAX_RATE" default:"20" placeholder:"N" help:"Requests a second from one key, or else address; 0 is unlimited."`
	Timeout    time.Duration `name:"timeout" env:"TIMEOUT" default:"5s" placeholder:"TIME" help:"How long a search may take."`
	ShowSource bool          `name:"show-source" env:"SHOW_SOURCE" help:"Give what was delivered with each document that is asked for."`
	KeepMissed bool          `name:"keep-missed" env:"KEEP_MISSED" help:"Keep the words of searches without a hit in memory, for GET /api/searches/missed of the admin listener."`
	Proxies    []string      `name:"trusted-proxies" env:"TRUSTED_PROXIES" placeholder:"RANGE" help:"Addresses of proxies before the search API whose X-Forwarded-For is trusted."`
	TLS        tlsSettings   `embed:""`
}

// server returns the handler of searches, with a client of its own.
func (s searchAPISettings) server(e elasticsearchSettings, set *mappings.Set, tracer trace.Tracer, reg prometheus.Registerer, group *reread.Group, log *slog.Logger) (*searchapi.Server, error) {
	client, err := e.client()
	if err != nil {
		return nil, err
	}
	networks, err := auth.NewNetworks(s.Proxies)
	if err != nil {
		return nil, err
	}
	cfg := searchapi.Config{
		Network: networks.Of, Origins: s.Origins, MaxRate: s.MaxRate, Timeout: s.Timeout, ShowSource: s.ShowSource,
		Tracer: tracer, Now: time.Now, Log: log,
	}
	if s.KeepMissed {
		cfg.Missed = new(search.Missed)
	}
	if len(s.Keys) > 0 {
		keys, err := auth.OpenTokens(group, "keys for searches", s.Keys, time.Now, log)
		if err != nil {
			return nil, err
		}
		cfg.Allow = keys.Allow
	}
	return searchapi.New(cfg, searched{&indices.Indices{Client: client, Prefix: e.IndexPrefix, Set: set}}, reg), nil
}

func (s searchAPISettings) listen(ctx context.Context, address string, server *searchapi.Server, group *reread.Group, log *slog.Logger) (*endpoint, error) {
	secured, err := s.TLS.config(group, "searches", time.Now, log)
	if err != nil {
		return nil, err
	}
	return listen(ctx, "searches", address, secured, server, log)
}

// searched implements searchapi.Index.
type searched struct{ *indices.Indices }

// Source implements searchapi.Index.
func (x searched) Source(ctx context.Context, key report.Key) (jsontext.Value, error) {
	shown, source, err := x.Client.Shown(ctx, x.Alias(key.Kind), key.ID)
	if err != nil || !shown.Found {
		return nil, err
	}
	return jsontext.Value(source), nil
}

// SilentSince implements searchapi.Index.
func (x searched) SilentSince() time.Time { return x.Client.SilentSince() }

// Ping implements searchapi.Index, over a connection of its own. A server that hangs answers nothing, not even
// that it does not let riskdex in.
func (x searched) Ping(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		return err
	}
	res, err := x.Client.Anew().Perform(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

type searchAPICommand struct {
	Listen string            `name:"listen" env:"RISKDEX_SEARCH_API_LISTEN" default:"127.0.0.1:8082" placeholder:"ADDRESS" help:"Address for searches of apps."`
	Access searchAPISettings `embed:"" envprefix:"RISKDEX_SEARCH_"`
	elasticsearchSettings
	logSettings
	AdminListen string `name:"admin-listen" env:"RISKDEX_SEARCH_API_ADMIN_LISTEN" placeholder:"ADDRESS" help:"Address for metrics, health and profiles. By default none."`
	adminAccess
	InsecureOpen bool `name:"insecure-open" env:"RISKDEX_INSECURE_OPEN" help:"Allow administration without tokens on an address that is not loopback."`
}

// Run answers searches until ctx is done.
func (c *searchAPICommand) Run(ctx context.Context, io streams) error {
	return c.unheld(io, func(log *slog.Logger, lines *logsink.Sink, files *reread.Group) error {
		return c.serve(ctx, log, lines, files)
	})
}

func (c *searchAPICommand) serve(ctx context.Context, log *slog.Logger, lines *logsink.Sink, files *reread.Group) (err error) {
	tracing := startTracing(ctx, log)
	defer func() { tracing.stop(log) }()
	log = tracing.logger(log)
	set, err := c.mappings()
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registerBuild(registry, thisBuild())
	registerLog(registry, lines.State)
	server, err := c.Access.server(c.elasticsearchSettings, set, tracing.tracer(), registry, files, log)
	if err != nil {
		return err
	}
	searches, err := c.Access.listen(ctx, c.Listen, server, files, log)
	if err != nil {
		return err
	}
	working, broken := context.WithCancelCause(ctx)
	defer broken(nil)
	if c.AdminListen != "" {
		allow, err := c.allow(files, log)
		if err != nil {
			return errors.Join(err, searches.close())
		}
		ready := func() error { return server.Ready(working) }
		health := admin.Health{CanAccept: ready, ElasticsearchUp: func() bool { return ready() == nil }}
		guard := (&serveCommand{adminAccess: c.adminAccess, authSettings: authSettings{InsecureOpen: c.InsecureOpen}}).guardAdmin
		administration, err := c.listenForAdmin(ctx, c.AdminListen, guard, admin.New(admin.Parts{Health: health, Metrics: registry, Missed: server.Missed, Allow: allow, Log: log}), files, log)
		if err != nil {
			return errors.Join(err, searches.close())
		}
		administration.serve(broken)
		defer func() { err = errors.Join(err, administration.shutdown(stopAdmin)) }()
	}
	searches.serve(broken)
	log.Info("riskdex answers searches", "version", thisBuild().Version, "searches", searches.url(), "elasticsearch", redacted(c.ElasticsearchURL))
	<-working.Done()
	err = searches.shutdown(stopDeliveries)
	if ctx.Err() == nil {
		err = errors.Join(context.Cause(working), err)
	}
	return err
}
