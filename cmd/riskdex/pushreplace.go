package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"riskdex/internal/push"
	"riskdex/internal/reconcile"
	"riskdex/report"
)

// replace pushes a folder, and removes what it does not have.
func (c *pushCommand) replace(ctx context.Context, io streams, in input) error {
	if info, err := os.Stat(c.From); c.From == "" || err == nil && !info.IsDir() || c.Export != "" {
		return errors.New("--replace is for pushing a folder")
	}
	client, err := c.client(io)
	if err != nil {
		return err
	}
	requests, err := c.requests()
	if err != nil {
		return err
	}
	lists, err := c.lists(requests)
	if err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	if why := c.doubts(lists, in.isTerminal()); len(why) > 0 {
		return tellWhy(io, why, errors.New("nothing was sent"))
	}
	if err := c.send(ctx, io, push.Each(requests), len(requests), push.Size(requests)); err != nil {
		fmt.Fprintln(io.err, "nothing was removed")
		return err
	}
	r := &reconciliation{removalSettings: c.removalSettings, io: io, json: c.JSON, removes: true, delivered: true, progress: newProgress(io.err)}
	for _, list := range lists {
		if err := r.compare(ctx, client, list); err != nil {
			return fmt.Errorf("all was sent, and nothing was removed: %w", err)
		}
	}
	r.printFound()
	return cmp.Or(r.remove(ctx, in, in.isTerminal(), c.deliverySettings), r.printSummaries(), r.end())
}

// lists returns what a folder has of each kind.
func (c *pushCommand) lists(requests []push.Request) (lists []*reconcile.List, err error) {
	payloads, err := c.reader()
	if err != nil {
		return nil, err
	}
	for _, kind := range report.Kinds() {
		list, err := reconcile.FromRequests(requests, kind, payloads)
		switch {
		case err != nil:
			return nil, err
		case list == nil:
		case list.Unread > 0:
			return nil, fmt.Errorf("%s of %s in %s: %s", count(list.Unread, "record", "records"), kind, c.From, list.Why)
		case list.Doubt != "":
			return nil, errors.New(list.Doubt)
		default:
			lists = append(lists, list)
		}
	}
	if len(lists) == 0 {
		return nil, errors.New("the folder has no records")
	}
	return lists, nil
}
