package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"riskdex/admin"
	"riskdex/internal/sanitize"
)

type deliveryCommand struct {
	adminSettings
	Name string `arg:"" help:"The name in the answer to the delivery."`
	JSON bool   `name:"json" help:"Print everything as one JSON object."`
}

// Run shows what became of a delivery. It returns errNegative if apps cannot find a document of
// it that nothing newer has replaced, or if some of it may be lost, and another error if there
// is no such delivery.
func (c *deliveryCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	var all admin.DeliveryPage
	q := query("name", c.Name, "limit", "1000")
	for {
		var page admin.DeliveryPage
		if err := client.ask(ctx, http.MethodGet, "/api/delivery", q, nil, &page); err != nil {
			return err
		}
		items := all.Items
		next := page.Next
		all, page.Next = page, ""
		all.Items, all.Next = append(items, page.Items...), ""
		if next == "" {
			break
		}
		q.Set("after", next)
	}
	if c.JSON {
		err = json.NewEncoder(io.out).Encode(all)
	} else {
		printDelivery(io, all)
	}
	if err != nil {
		return err
	}
	if all.Lost || slices.ContainsFunc(all.Items, func(d admin.DeliveredDocument) bool { return !d.Searchable && d.State != admin.DocumentReplaced }) {
		return errNegative
	}
	return nil
}

// printDelivery prints the documents that apps cannot find, and the number in each state.
func printDelivery(io streams, p admin.DeliveryPage) {
	fmt.Fprintln(io.out, sanitize.OneLine(p.Says))
	if p.IndexError != "" {
		fmt.Fprintln(io.out, sanitize.OneLine("Elasticsearch does not say what searches find: "+p.IndexError))
	}
	states := map[string]int{}
	for _, d := range p.Items {
		states[d.State]++
	}
	for _, state := range []string{
		admin.DocumentSearchable, admin.DocumentDeleted, admin.DocumentWaiting, admin.DocumentDead, admin.DocumentDropped, admin.DocumentDiffers, admin.DocumentNotAsked, admin.DocumentReplaced,
	} {
		if states[state] > 0 {
			fmt.Fprintf(io.out, "%s: %d\n", state, states[state])
		}
	}
	for _, d := range p.Items {
		if !d.Searchable {
			fmt.Fprintf(io.out, "  %s\n", sanitize.OneLine(string(d.Kind)+" "+sanitize.ShellWord(string(d.ID))+": "+d.Says()))
		}
	}
}
