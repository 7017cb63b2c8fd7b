package main

import (
	"context"
	"fmt"
	"net/http"

	"riskdex/report"
)

type acknowledgeLossCommand struct {
	adminSettings
	sure
}

// Run acknowledges the changes that the journal lacks, which ends the alert about them. The
// error is errNegative if it lacks none.
func (c *acknowledgeLossCommand) Run(ctx context.Context, io streams, in input) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	if err := c.confirm(ctx, client, in, "Has the publisher delivered again what it sent in the time that riskdex status names? Otherwise those changes are given up. Acknowledge the loss?"); err != nil {
		return err
	}
	var l report.Loss
	if err := client.call(ctx, http.MethodPost, "/api/journal/acknowledge-loss", nil, nil, &l); err != nil {
		return err
	}
	fmt.Fprintf(io.out, "acknowledged: changes of the time %s may have been missing\n", l.Span())
	return nil
}
