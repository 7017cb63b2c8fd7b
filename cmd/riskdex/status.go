package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"riskdex/admin"
)

// statusTimeout bounds how long the answer may take.
const statusTimeout = 20 * time.Second

type statusCommand struct {
	adminSettings
	JSON     bool          `name:"json" help:"Print it as one JSON object."`
	Watch    bool          `name:"watch" help:"Repeat until Ctrl-C: in place on a terminal, one line each time elsewhere. The exit status is that of the last one."`
	Interval time.Duration `name:"interval" default:"2s" placeholder:"TIME" help:"With --watch: how often."`
}

// Run shows the status of a running riskdex. The error is errNegative if something critical is
// wrong, and errWarning if there are only warnings.
func (c *statusCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	if c.Watch {
		return c.watch(ctx, client)
	}
	st, err := c.ask(ctx, client)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(io.out).Encode(st)
	} else {
		printStatus(io.out, st)
		printFacts(io.out, "asked", redacted(client.base))
	}
	if err == nil {
		err = verdict(st)
	}
	return err
}

func verdict(st admin.Status) error {
	switch st.Severity {
	case admin.Critical:
		return errNegative
	case admin.Warning:
		return errWarning
	}
	return nil
}

func (c *statusCommand) ask(ctx context.Context, client *adminClient) (st admin.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	err = client.ask(ctx, http.MethodGet, "/api/status", nil, nil, &st)
	if p, ok := errors.AsType[*admin.Problem](err); ok {
		return st, fmt.Errorf("%s cannot give its status: %w", redacted(client.base), p)
	}
	return st, err
}
