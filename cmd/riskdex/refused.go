package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

type refusedCommand struct {
	List  refusedListCommand  `cmd:"" help:"List refused deliveries, newest first."`
	Show  refusedShowCommand  `cmd:"" help:"Show a refused delivery with its body and the reason."`
	Retry refusedRetryCommand `cmd:"" help:"Deliver refused deliveries again, one of them edited if need be."`
	Drop  refusedDropCommand  `cmd:"" help:"Forget refused deliveries."`
}

type refusedListCommand struct {
	adminSettings
	Kind   string `name:"kind" enum:",cities,advisories,special-reports" default:"" placeholder:"KIND" help:"Only this kind."`
	Reason string `name:"reason" placeholder:"REASON" help:"Only those refused for this reason, such as invalid_json."`
	JSON   bool   `name:"json" help:"Print one JSON object per refusal."`
}

// Run lists.
func (c *refusedListCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	list := newListing(io.out, c.JSON, "NUMBER", "WHEN", "CALL", "RECORD", "ID", "SIZE", "REASON", "DETAIL")
	err = each(ctx, client, "/api/refused", "before", query("kind", c.Kind, "reason", c.Reason), func(r admin.Refusal) error {
		id := ""
		if r.ID != "" {
			id = sanitize.ShellWord(r.ID)
		}
		return list.add(r, fmt.Sprint(r.Number), ago(r.At), r.Method+" "+r.Path, record(r.Position), id, sizeOf(r), r.Reason, r.Detail)
	})
	if err != nil {
		return err
	}
	list.end("refusal kept", "refusals kept")
	return nil
}

// record returns the position of a record in its delivery, or an empty string for a whole
// delivery.
func record(position int) string {
	if position < 0 {
		return ""
	}
	return fmt.Sprint(position)
}

func sizeOf(r admin.Refusal) string {
	if r.Cut {
		return bytesText(r.Bytes) + ", cut"
	}
	return bytesText(r.Bytes)
}

type refusedShowCommand struct {
	adminSettings
	Number int64 `arg:"" help:"Its number, as the list shows it."`
	JSON   bool  `name:"json" xor:"form" help:"Print it as one JSON object."`
	Body   bool  `name:"body" xor:"form" help:"Print its body alone, byte for byte unless on a terminal."`
}

// Run shows a refusal. The error is errNegative if it does not exist.
func (c *refusedShowCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	var r admin.Refusal
	if err := client.call(ctx, http.MethodGet, "/api/refused/delivery", query("number", fmt.Sprint(c.Number)), nil, &r); err != nil {
		return err
	}
	switch {
	case c.JSON:
		return json.NewEncoder(io.out).Encode(r)
	case c.Body:
		return printBody(io.out, r.Raw())
	}
	paint := painter(useColour(io.out))
	fmt.Fprintf(io.out, "%s\n", paint.text(bold, fmt.Sprintf("refusal %d", r.Number)))
	call := r.Method + " " + r.Path
	if r.Position >= 0 {
		call += fmt.Sprintf(", record %d of it", r.Position)
	}
	facts := []string{"reason", r.Reason, "detail", r.Detail, "call", call, "when", agoAndAt(r.At), "size", sizeOf(r)}
	if r.ID != "" {
		facts = append(facts, "id", sanitize.ShellWord(r.ID))
	}
	printFacts(io.out, facts...)
	showBody(io.out, r.Raw())
	switch r.Retry {
	case report.RetryNever:
		fmt.Fprintf(io.out, "\nit cannot be retried; give it up: riskdex refused drop %d\n", r.Number)
	default:
		fmt.Fprintf(io.out, "\ndeliver it once more with an edited body: riskdex refused retry %d --body FILE\n", r.Number)
	}
	return nil
}

type refusedRetryCommand struct {
	adminSettings
	refusedSelection
	Body string `name:"body" placeholder:"FILE" help:"An edited body in place of the kept one; - is the standard input."`
}

// Run delivers again. The error is errNegative if there is nothing to deliver, or it is
// refused again.
func (c *refusedRetryCommand) Run(ctx context.Context, io streams, in input) error {
	if (c.All || len(c.Numbers) > 1) && c.Body != "" {
		return errors.New("--body is for one: leave --all out, and give its number")
	}
	client, err := c.client(io)
	if err != nil {
		return err
	}
	method, path, body := http.MethodPost, "/api/refused/retry", []byte(nil)
	if c.Body != "" {
		method, path = http.MethodPut, "/api/refused/delivery"
		if body, err = readBody(c.Body, in); err != nil {
			return err
		}
	}
	return c.each(func(q url.Values) error {
		var done admin.Redelivered
		if err := client.call(ctx, method, path, q, body, &done); err != nil {
			return err
		}
		return client.printRedelivered(done)
	})
}

func (c *adminClient) printRedelivered(done admin.Redelivered) error {
	if done.Refused > 0 {
		fmt.Fprintf(c.io.err, "%s again, and kept\n", count(done.Refused, "is refused", "are refused"))
	}
	if done.Overtaken > 0 {
		fmt.Fprintf(c.io.err, "%s left alone: something newer has been delivered\n", count(done.Overtaken, "document", "documents"))
	}
	fmt.Fprintf(c.io.out, "%s accepted at %s\n", count(done.Accepted, "document", "documents"), redacted(c.base))
	if done.Refused > 0 || done.Deliveries == 0 {
		return errNegative
	}
	return nil
}

type refusedDropCommand struct {
	adminSettings
	refusedSelection
	sure
}

// Run drops refusals. The error is errNegative if there is nothing to drop.
func (c *refusedDropCommand) Run(ctx context.Context, io streams, in input) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	if c.All {
		if err := c.confirm(ctx, client, in, "Forget all these refusals? Their bodies are gone then."); err != nil {
			return err
		}
	}
	return c.each(func(q url.Values) error {
		return client.end(ctx, "/api/refused/drop", q, "dropped", "gone meanwhile")
	})
}
