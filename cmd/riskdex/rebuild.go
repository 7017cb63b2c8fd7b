package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"riskdex/admin"
	"riskdex/report"
)

type rebuildCommand struct {
	adminSettings
	Kind   string `arg:"" optional:"" enum:",cities,advisories,special-reports" default:"" help:"Only this kind: cities, advisories or special-reports."`
	Detach bool   `name:"detach" xor:"mode" help:"Start it and do not wait for its end."`
	Stop   bool   `name:"stop" xor:"mode" help:"Give up a rebuild that is under way. Apps go on searching the old index."`
}

// watchEvery is how often the worker is asked how far it is.
const watchEvery = 500 * time.Millisecond

// Run rebuilds. Its error is errNegative when a rebuild was stopped, or did not
// end while this waited.
func (c *rebuildCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	kinds := kindsOr(c.Kind)
	if c.Stop {
		return stopRebuilds(ctx, client, kinds)
	}
	watched := map[report.Kind]time.Time{} // when the rebuild started
	for _, kind := range kinds {
		list, err := startRebuild(ctx, client, kind)
		if err != nil {
			return err
		}
		for _, r := range list.Items {
			if r.Kind == kind {
				watched[kind] = r.StartedAt
			}
		}
	}
	if c.Detach {
		fmt.Fprintln(io.out, "started; to see how far it is: riskdex rebuild")
		return nil
	}
	w := &rebuildWatch{client: client, progress: newProgress(io.err), started: watched}
	err = w.run(ctx)
	if ctx.Err() != nil {
		w.progress.clear()
		fmt.Fprintln(io.err, "the rebuild goes on; to see how far it is: riskdex rebuild; to give it up: riskdex rebuild --stop")
		return errNegative
	}
	return err
}

// startRebuild starts one, or finds the one that is under way.
func startRebuild(ctx context.Context, client *adminClient, kind report.Kind) (list admin.Page[admin.Rebuild], err error) {
	err = client.ask(ctx, http.MethodPost, "/api/rebuild", query("kind", string(kind)), nil, &list)
	if p, ok := errors.AsType[*admin.Problem](err); ok && p.Status == http.StatusConflict {
		fmt.Fprintf(client.io.err, "%s: a rebuild is under way already\n", kind)
		err = client.ask(ctx, http.MethodGet, "/api/rebuild", query(), nil, &list)
	}
	return list, err
}

func stopRebuilds(ctx context.Context, client *adminClient, kinds []report.Kind) error {
	stopped := 0
	for _, kind := range kinds {
		var list admin.Page[admin.Rebuild]
		err := client.ask(ctx, http.MethodPost, "/api/rebuild/stop", query("kind", string(kind)), nil, &list)
		if p, ok := errors.AsType[*admin.Problem](err); ok && p.Status == http.StatusConflict {
			fmt.Fprintln(client.io.err, oneLine(p.Detail))
			continue
		}
		if err != nil {
			return err
		}
		stopped++
		fmt.Fprintf(client.io.out, "%s: stopped; apps go on searching the old index\n", kind)
	}
	if stopped == 0 {
		return errNegative
	}
	return nil
}
