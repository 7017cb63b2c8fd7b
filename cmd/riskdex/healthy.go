package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"riskdex/internal/sanitize"
)

// healthyTimeout bounds how long the answer may take.
const healthyTimeout = 4 * time.Second

type healthyCommand struct {
	adminSettings
	JSON bool `name:"json" help:"Print the answer as one JSON object."`
}

// Run asks whether deliveries can be made durable now. It is for supervisors, and works in
// images without a shell. Any failure to get a yes counts as a no.
func (c *healthyCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthyTimeout)
	defer cancel()
	unhealthy := client.healthy(ctx)
	switch {
	case c.JSON:
		answer := map[string]any{"healthy": unhealthy == nil}
		if unhealthy != nil {
			answer["reason"] = unhealthy.Error()
		}
		err = json.NewEncoder(io.out).Encode(answer)
	case unhealthy != nil:
		fmt.Fprintln(io.err, sanitize.OneLine(unhealthy.Error()))
	default:
		fmt.Fprintln(io.out, "healthy")
	}
	if unhealthy != nil {
		return errNegative
	}
	return err
}

func (c *adminClient) healthy(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", redacted(c.base), err)
	}
	res, err := c.send(req)
	if err != nil {
		return fmt.Errorf("no riskdex answers at %s: %w", redacted(c.base), err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	var state struct{ Reason string }
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&state); err != nil || state.Reason == "" {
		return fmt.Errorf("%s answered %s to /readyz", redacted(c.base), res.Status)
	}
	return fmt.Errorf("it cannot accept deliveries: %s", state.Reason)
}
