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

// statusPatience is how long the answer may take.
const statusPatience = 20 * time.Second

type statusCommand struct {
	adminSettings
	JSON bool `name:"json" help:"Print it as one JSON object."`
}

// Run shows how a running riskdex is. Its error is errNegative when something is
// wrong.
func (c *statusCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	var st admin.Status
	err = client.ask(ctx, http.MethodGet, "/api/status", nil, nil, &st)
	if p, ok := errors.AsType[*admin.Problem](err); ok {
		return fmt.Errorf("%s does not tell its status: %w", redacted(client.base), p)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(io.out).Encode(st)
	} else {
		printStatus(io.out, st)
	}
	if err == nil && !st.Well {
		err = errNegative
	}
	return err
}
