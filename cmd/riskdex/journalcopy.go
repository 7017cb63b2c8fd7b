package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/journal/transfer"
)

type journalCopyCommand struct {
	From string `arg:"" help:"The journal: a file, or postgres://…. No riskdex may use it; stop it first."`
	To   string `arg:"" help:"The copy: a file that does not exist, or postgres://… with a schema that has no journal yet."`
	JSON bool   `name:"json" help:"Print what was copied as one JSON object."`
}

// copied is what the command prints as JSON.
type copied struct {
	From string `json:"from"`
	To   string `json:"to"`
	transfer.Report
	Lost *lostChanges `json:"lost,omitempty"`
}

// lostChanges is the time in which changes were acknowledged that the journal lacks.
type lostChanges struct {
	Since time.Time `json:"since,omitzero"` // zero if everything before Until may be missing
	Until time.Time `json:"until"`
}

// Run copies. The error is errNegative if the copy was made but the journal is damaged or
// lacks changes.
func (c *journalCopyCommand) Run(ctx context.Context, io streams) error {
	for _, name := range []string{c.From, c.To} {
		if err := refusePassword(name); err != nil {
			return err
		}
	}
	p := newProgress(io.err)
	made, err := transfer.Copy(ctx, endpointNamed(c.From), endpointNamed(c.To), func(at transfer.Progress) {
		p.show(copyLine(at))
	})
	p.clear()
	if err != nil {
		return err
	}
	if err := c.print(io, made); err != nil {
		return err
	}
	if made.Damaged > 0 {
		printDamagedKeys(io, "journal", made.Damaged, made.Named)
		fmt.Fprintln(io.err, "They are in the copy as they are in the journal.")
	}
	if made.Loss.Lost() {
		fmt.Fprintf(io.err, "the journal lacks changes that it had acknowledged %s: it is damaged, or an older copy of it; ask the publisher to deliver again "+
			"what it sent in that time. The copy says so until: riskdex journal acknowledge-loss\n", made.Loss.Span())
	}
	if made.Damaged > 0 || made.Loss.Lost() {
		return errNegative
	}
	return nil
}

func (c *journalCopyCommand) print(io streams, made transfer.Report) error {
	if !c.JSON {
		fmt.Fprintf(io.out, "%s: %s (%s), %s, %s, %s; read back, and the same as in %s\n", c.To, count(int(made.Documents), "document", "documents"),
			humanize.IBytes(uint64(made.Bytes)), count(int(made.Refusals), "refusal", "refusals"), count(int(made.Receipts), "receipt", "receipts"),
			count(int(made.History), "entry of history", "entries of history"), c.From)
		printFacts(io.out, "version", fmt.Sprint(made.LastVersion), "checksum", made.Checksum)
		return nil
	}
	out := copied{From: c.From, To: c.To, Report: made}
	if made.Loss.Lost() {
		out.Lost = &lostChanges{made.Loss.Since, made.Loss.Until}
	}
	return json.NewEncoder(io.out).Encode(out)
}

func copyLine(at transfer.Progress) string {
	what := "copying"
	if at.Checking {
		what = "checking the copy"
	}
	return fmt.Sprintf("%s: %s of %s documents%s", what, humanize.Comma(at.Done), humanize.Comma(at.Total), percent(at.Done, at.Total))
}
