package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

type rebuildCommand struct {
	adminSettings
	sure
	Kind     string `arg:"" optional:"" enum:",cities,advisories,special-reports" default:"" help:"Only this kind: cities, advisories or special-reports."`
	JSON     bool   `name:"json" help:"Print each rebuild as one JSON object once it has ended, or is started with --detach."`
	TakeOver bool   `name:"take-over" xor:"stop" help:"Also if another journal fills the index: from now on this one does. Takes half a minute longer."`
	Detach   bool   `name:"detach" xor:"mode" help:"Start it and do not wait for its end."`
	Stop     bool   `name:"stop" xor:"mode,stop" help:"Give up a rebuild that is under way. Apps go on searching the old index."`
}

// watchEvery is how often riskdex is asked how far its rebuilds are.
const watchEvery = 500 * time.Millisecond

// Run rebuilds. The error is errNegative if a kind is not being rebuilt, if a rebuild was
// stopped, or if the command was interrupted before the rebuilds ended.
func (c *rebuildCommand) Run(ctx context.Context, io streams, in input) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	kinds := kindsOr(c.Kind)
	if c.Stop {
		return c.stop(ctx, client, kinds)
	}
	if c.TakeOver {
		if err := c.confirm(ctx, client, in, "Have this journal fill the indices from now on? What only the journal that fills them now has is not found any more."); err != nil {
			return err
		}
	}
	w := &rebuildWatch{client: client, progress: newProgress(io.err), started: map[report.Kind]time.Time{}}
	if c.JSON {
		w.lines = json.NewEncoder(io.out)
	}
	newlyStarted := false
	for _, kind := range kinds {
		how, err := startRebuild(ctx, client, kind, c.TakeOver)
		if err != nil {
			return err
		}
		if how.none {
			w.stopped = true
			continue
		}
		w.started[kind] = how.rebuild.StartedAt
		newlyStarted = newlyStarted || !how.joined
		if c.Detach && c.JSON {
			if err := w.lines.Encode(how.rebuild); err != nil {
				return err
			}
		}
	}
	if c.Detach {
		if newlyStarted && !c.JSON {
			fmt.Fprintln(io.out, "started; to see how far it is: riskdex status")
		}
		return w.verdict()
	}
	err = w.run(ctx)
	if ctx.Err() != nil {
		w.progress.clear()
		fmt.Fprintln(io.err, "the rebuild goes on; to see how far it is: riskdex status; to give it up: riskdex rebuild --stop")
		return errNegative
	}
	return err
}

// startedRebuild is the result of asking for a rebuild.
type startedRebuild struct {
	rebuild report.Rebuild
	joined  bool // it was already under way
	none    bool // no rebuild is under way, and none was started
}

// startRebuild starts a rebuild, or finds the one that is under way in the process that is
// asked. If there is neither, it prints that, so that nobody waits for a rebuild that ended
// before.
func startRebuild(ctx context.Context, client *adminClient, kind report.Kind, takeOver bool) (startedRebuild, error) {
	var list admin.Page[report.Rebuild]
	q := query("kind", string(kind))
	if takeOver {
		q.Set("take_over", "true")
	}
	err := client.ask(ctx, http.MethodPost, "/api/rebuild", q, nil, &list)
	if err == nil {
		r, _ := latest(list, kind)
		return startedRebuild{rebuild: r}, nil
	}
	p, ok := errors.AsType[*admin.Problem](err)
	if !ok || p.Status != http.StatusConflict {
		return startedRebuild{}, err
	}
	fmt.Fprintln(client.io.err, sanitize.OneLine(p.Detail))
	if p.Reason != admin.ReasonHeldElsewhere && p.Reason != admin.ReasonAnotherJournal {
		if err := client.ask(ctx, http.MethodGet, "/api/rebuild", query(), nil, &list); err != nil {
			return startedRebuild{}, err
		}
		if r, ok := latest(list, kind); ok && r.Active {
			return startedRebuild{rebuild: r, joined: true}, nil
		}
	}
	if p.Reason == admin.ReasonRebuilding {
		fmt.Fprintf(client.io.err, "%s: it has ended since, and no rebuild was started. To start one: riskdex rebuild %[1]s\n", kind)
	} else {
		fmt.Fprintf(client.io.err, "%s: no rebuild was started\n", kind)
	}
	return startedRebuild{none: true}, nil
}

// latest returns the last rebuild of a kind, and whether there is one.
func latest(list admin.Page[report.Rebuild], kind report.Kind) (report.Rebuild, bool) {
	i := slices.IndexFunc(list.Items, func(r report.Rebuild) bool { return r.Kind == kind })
	if i < 0 {
		return report.Rebuild{}, false
	}
	return list.Items[i], true
}

func (c *rebuildCommand) stop(ctx context.Context, client *adminClient, kinds []report.Kind) error {
	stopped := 0
	for _, kind := range kinds {
		var list admin.Page[report.Rebuild]
		err := client.ask(ctx, http.MethodPost, "/api/rebuild/stop", query("kind", string(kind)), nil, &list)
		if p, ok := errors.AsType[*admin.Problem](err); ok && p.Status == http.StatusConflict {
			fmt.Fprintln(client.io.err, sanitize.OneLine(p.Detail))
			continue
		}
		if err != nil {
			return err
		}
		stopped++
		if r, known := latest(list, kind); c.JSON && known {
			if err := json.NewEncoder(client.io.out).Encode(r); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(client.io.out, "%s: stopped; apps go on searching the old index\n", kind)
	}
	if stopped == 0 {
		return errNegative
	}
	return nil
}
