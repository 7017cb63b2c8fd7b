package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

type deadCommand struct {
	List  deadListCommand  `cmd:"" help:"List dead letters: documents that Elasticsearch refuses."`
	Show  deadShowCommand  `cmd:"" help:"Show a dead letter with its body and the reason."`
	Retry deadRetryCommand `cmd:"" help:"Send dead letters again, one of them edited if need be."`
	Drop  deadDropCommand  `cmd:"" help:"Give up dead letters. The index keeps what it has of the documents."`
}

type deadListCommand struct {
	adminSettings
	Kind string `name:"kind" enum:",cities,advisories,special-reports" default:"" placeholder:"KIND" help:"Only this kind."`
	Type string `name:"type" placeholder:"TYPE" help:"Only those with this error type."`
	JSON bool   `name:"json" help:"Print one JSON object per dead letter."`
}

// Run lists.
func (c *deadListCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	list := newListing(io.out, c.JSON, "KIND", "ID", "SINCE", "SIZE", "TYPE", "REASON")
	for _, kind := range kindsOr(c.Kind) {
		err := each(ctx, client, "/api/dead", "after", query("kind", string(kind), "type", c.Type), func(l admin.DeadLetter) error {
			return list.add(l, string(l.Kind), sanitize.ShellWord(string(l.ID)), ago(l.DeadAt), bytesText(l.Bytes), l.ErrorType, l.Reason)
		})
		if err != nil {
			return err
		}
	}
	list.end("dead letter", "dead letters")
	return nil
}

// kindsOr returns kind, which kong has checked, or all kinds if it is empty.
func kindsOr(kind string) []report.Kind {
	if kind == "" {
		return report.Kinds()
	}
	return []report.Kind{report.Kind(kind)}
}

type deadShowCommand struct {
	adminSettings
	Kind string `arg:"" enum:"cities,advisories,special-reports" help:"Its kind: cities, advisories or special-reports."`
	ID   string `arg:"" help:"Its id."`
	JSON bool   `name:"json" xor:"form" help:"Print it as one JSON object."`
	Body bool   `name:"body" xor:"form" help:"Print its body alone, byte for byte unless on a terminal."`
}

// Run shows a dead letter. The error is errNegative if it does not exist.
func (c *deadShowCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	var l admin.DeadLetter
	if err := client.call(ctx, http.MethodGet, "/api/dead/letter", query("kind", c.Kind, "id", c.ID), nil, &l); err != nil {
		return err
	}
	switch {
	case c.JSON:
		return json.NewEncoder(io.out).Encode(l)
	case c.Body:
		return printBody(io.out, l.Raw())
	}
	paint := painter(useColour(io.out))
	fmt.Fprintf(io.out, "%s\n", paint.text(bold, string(l.Kind)+" "+sanitize.ShellWord(string(l.ID))))
	printFacts(io.out,
		"type", l.ErrorType,
		"reason", l.Reason,
		"dead since", agoAndAt(l.DeadAt),
		"accepted", agoAndAt(l.AcceptedAt),
		"version", fmt.Sprint(l.Version),
		"change", fmt.Sprintf("%s, %s", l.Op, bytesText(l.Bytes)))
	showBody(io.out, l.Raw())
	fmt.Fprintf(io.out, "\nsend it again with an edited body: riskdex dead retry --version %d --body FILE %s %s\n", l.Version, l.Kind, sanitize.ShellArgument(string(l.ID)))
	return nil
}

type deadRetryCommand struct {
	adminSettings
	deadSelection
	Version int64  `name:"version" placeholder:"N" help:"Only if it still is this version, as printed by show, so that no newer delivery is replaced."`
	Body    string `name:"body" placeholder:"FILE" help:"An edited body in place of the kept one; - is the standard input."`
}

// Run retries dead letters. The error is errNegative if there is nothing to retry, or the
// edited body is refused.
func (c *deadRetryCommand) Run(ctx context.Context, io streams, in input) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	if c.All && (c.Body != "" || c.Version != 0) {
		return errors.New("--body and --version are for one document: leave --all out, and name it")
	}
	if c.Version != 0 {
		q.Set("version", strconv.FormatInt(c.Version, 10))
	}
	client, err := c.client(io)
	if err != nil {
		return err
	}
	if c.Body != "" {
		body, err := readBody(c.Body, in)
		if err != nil {
			return err
		}
		var replaced admin.Replaced
		if err := client.call(ctx, http.MethodPut, "/api/dead/letter", q, body, &replaced); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "accepted with the edited body, as version %d\n", replaced.Version)
		return nil
	}
	return client.end(ctx, "/api/dead/retry", q, "accepted once more", "damaged, or a newer delivery came in between")
}

type deadDropCommand struct {
	adminSettings
	deadSelection
	sure
}

// Run drops dead letters. The error is errNegative if there is nothing to drop.
func (c *deadDropCommand) Run(ctx context.Context, io streams, in input) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	client, err := c.client(io)
	if err != nil {
		return err
	}
	if c.All {
		if err := c.confirm(ctx, client, in, "Drop all these dead letters? Their bodies are gone then."); err != nil {
			return err
		}
	}
	return client.end(ctx, "/api/dead/drop", q, "dropped", "a newer delivery came in between")
}
