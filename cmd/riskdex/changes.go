package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

type changesCommand struct {
	adminSettings
	Kinds  []string `arg:"" optional:"" name:"kind" enum:"cities,advisories,special-reports" help:"Only these kinds: cities, advisories, special-reports."`
	After  string   `name:"after" placeholder:"CURSOR" help:"Only what came after this, which an earlier call printed."`
	Follow bool     `name:"follow" short:"f" help:"Go on with what comes, until interrupted."`
	Now    bool     `name:"now" help:"Print the cursor of this moment, and no change."`
	JSON   bool     `name:"json" help:"Print each change as one JSON object, and after each page one with the cursor to go on from, as next, and whether there is more."`
}

// change is what exportline.AppendVersion writes.
type change struct {
	Kind       report.Kind     `json:"kind"`
	ID         report.ID       `json:"id"`
	Version    report.Version  `json:"version"`
	AcceptedAt time.Time       `json:"accepted_at"`
	Code       string          `json:"code"`
	Record     json.RawMessage `json:"record"`
	Deleted    bool            `json:"deleted"`
	Lost       report.Lost     `json:"lost"`
}

// changesAgain is the time between two attempts while following, when riskdex or its journal is away.
const changesAgain = time.Second

// Run prints changes. With Follow, it goes on where it was once riskdex is there again.
func (c *changesCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	if c.Now {
		return c.printNow(ctx, client, io)
	}
	out := bufio.NewWriterSize(io.out, 1<<16)
	q := query("kind", strings.Join(c.Kinds, ","), "after", c.After, "limit", "1000")
	told := false // that riskdex is away
	more := false // after the page before
	for {
		var page admin.ChangesPage
		err := client.ask(ctx, http.MethodGet, "/api/changes", q, nil, &page)
		if c.Follow && ctx.Err() != nil {
			return nil
		}
		p, answered := errors.AsType[*admin.Problem](err)
		if err != nil && c.Follow && (!answered || p.Status >= http.StatusInternalServerError) && q.Get("after") != "" {
			if !told {
				fmt.Fprintln(io.err, sanitize.OneLine(err.Error()))
			}
			told = true
			select {
			case <-time.After(changesAgain):
			case <-ctx.Done():
			}
			continue
		}
		if err != nil {
			return err
		}
		told = false
		if err := c.print(out, page, q.Get("after"), more); err != nil {
			return err
		}
		more = page.More
		q.Set("after", page.Next)
		switch {
		case page.More:
		case c.Follow:
			q.Set("wait", "30")
		default:
			if !c.JSON {
				fmt.Fprintf(io.err, "to go on from here: riskdex changes --after %s\n", page.Next)
			}
			return nil
		}
	}
}

// changesPage returns a page of changes.
func changesPage(ctx context.Context, client *adminClient, kinds []report.Kind, after string, limit int) (page admin.ChangesPage, err error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	q := query("kind", strings.Join(names, ","), "after", after, "limit", strconv.Itoa(limit))
	return page, client.ask(ctx, http.MethodGet, "/api/changes", q, nil, &page)
}

// printNow prints the cursor after which comes what is not committed yet. A feed that begins knows
// it, as where deletes begin to count.
func (c *changesCommand) printNow(ctx context.Context, client *adminClient, io streams) error {
	kinds := make([]report.Kind, len(c.Kinds))
	for i, k := range c.Kinds {
		kinds[i] = report.Kind(k)
	}
	page, err := changesPage(ctx, client, kinds, "", 1)
	if err != nil {
		return err
	}
	now, err := report.ParseCursor(page.Next)
	if err != nil {
		return err
	}
	now.Version = now.Began
	fmt.Fprintln(io.out, now)
	return nil
}

// print prints a page that was read after a cursor. more says that the page before was not the
// last.
func (c *changesCommand) print(out *bufio.Writer, page admin.ChangesPage, after string, more bool) error {
	for _, item := range page.Items {
		if c.JSON {
			_, _ = out.Write(item)
			_ = out.WriteByte('\n')
			continue
		}
		var x change
		if err := json.Unmarshal(item, &x); err != nil {
			return fmt.Errorf("read a change: %w", err)
		}
		fmt.Fprintf(out, "%s  %s\n", x.AcceptedAt.UTC().Format(time.RFC3339), sanitize.OneLine(x.text()))
	}
	if c.JSON && (page.Next != after || more) {
		fmt.Fprintf(out, "{\"after\":%q,\"next\":%q,\"more\":%t}\n", after, page.Next, page.More)
	}
	return out.Flush()
}

func (x change) text() string {
	text := string(x.Kind) + " " + sanitize.ShellWord(string(x.ID))
	if x.Code != "" {
		text += " (" + x.Code + ")"
	}
	switch {
	case x.Lost != report.NotLost:
		return text + ": its record is " + string(x.Lost)
	case x.Deleted:
		return text + ": deleted"
	}
	return text + ": " + bytesText(len(x.Record))
}
