package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/internal/reconcile"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

// shownOnTerminal is the most documents per problem that are listed on a terminal; all of them, of
// what is to be removed.
const shownOnTerminal = 20

// printFound prints the documents that differ.
func (r *reconciliation) printFound() {
	if r.json {
		lines := json.NewEncoder(r.io.out)
		for _, k := range r.kinds {
			for _, f := range k.Found {
				_ = lines.Encode(f)
			}
		}
		return
	}
	for _, k := range r.kinds {
		fmt.Fprintln(r.io.out, k.summary())
		if n := k.list.Unread; n > 0 {
			fmt.Fprintf(r.io.out, "%s in the list without an id that can be read: %s\n", count(n, "entry", "entries"), sanitize.OneLine(k.list.Why))
		}
		if k.list.Doubt != "" && !r.removes {
			fmt.Fprintf(r.io.out, "note that %s\n", sanitize.OneLine(k.list.Doubt))
		}
		for _, problem := range reconcile.Problems() {
			for i, f := range k.With(problem) {
				if i == shownOnTerminal && isTerminal(r.io.out) && !(r.removes && problem == reconcile.Surplus) {
					fmt.Fprintf(r.io.out, "%-9s and %s more, which --json lists\n", problem, humanize.Comma(int64(k.Count(problem)-i)))
					break
				}
				fmt.Fprintf(r.io.out, "%-9s %s %s%s\n", problem, f.Kind, sanitize.ShellWord(string(f.ID)), about(f))
			}
		}
	}
}

// about describes a document that differs.
func about(f reconcile.Finding) string {
	code, at := "", ""
	if f.Code != "" && f.Code != string(f.ID) {
		code = " (" + f.Code + ")"
	}
	if !f.AcceptedAt.IsZero() {
		done := map[bool]string{true: "deleted ", false: "delivered "}[f.Deleted]
		at = ": " + done + f.AcceptedAt.UTC().Format(time.RFC3339)
	}
	if f.Refused > 0 {
		at += fmt.Sprintf(": a delivery was refused, see riskdex refused show %d", f.Refused)
	}
	switch {
	case f.Lost == report.LostDropped:
		return code + ": its newest delivery was refused by Elasticsearch, and dropped"
	case f.Lost == report.LostDamaged:
		return code + ": its record in the journal is damaged"
	case f.Problem == reconcile.Ambiguous:
		return ": several cities here have this code"
	case f.Problem == reconcile.Newer:
		return code + at + ", after the cursor"
	}
	return code + at
}

// summary returns one line about a kind.
func (k *reconciled) summary() string {
	var parts []string
	for _, p := range reconcile.Problems() {
		if n := k.Count(p); n > 0 {
			said := map[reconcile.Problem]string{
				reconcile.Missing: "missing here", reconcile.Surplus: "here and not in the list", reconcile.Differs: "with another content here",
				reconcile.Ambiguous: "by a code of several cities", reconcile.Newer: "delivered since and left alone",
			}[p]
			parts = append(parts, humanize.Comma(int64(n))+" "+said)
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing differs"}
	}
	repeated := ""
	if k.list.Repeated > 0 {
		repeated = fmt.Sprintf(" (%s)", count(k.list.Repeated, "repetition", "repetitions"))
	}
	return fmt.Sprintf("%s: %s in the list%s, %s here: %s", k.list.Kind, humanize.Comma(int64(k.list.Len())), repeated,
		humanize.Comma(int64(k.Here)), strings.Join(parts, ", "))
}

// printSummaries prints a JSON object for each kind, if they are wanted.
func (r *reconciliation) printSummaries() error {
	if !r.json {
		return nil
	}
	lines := json.NewEncoder(r.io.out)
	for _, k := range r.kinds {
		if err := lines.Encode(struct {
			Kind      report.Kind `json:"kind"`
			Listed    int         `json:"listed"`
			Repeated  int         `json:"repeated"`
			Unread    int         `json:"unread"`
			Why       []string    `json:"nothing_removed_because,omitempty"`
			Here      int         `json:"here"`
			Missing   int         `json:"missing"`
			Surplus   int         `json:"surplus"`
			Differing int         `json:"differing"`
			Ambiguous int         `json:"ambiguous"`
			Newer     int         `json:"newer"`
			Removed   int         `json:"removed"`
			Gone      int         `json:"gone"`
			Outdated  int         `json:"outdated"`
			Failed    int         `json:"failed"`
		}{
			k.list.Kind, k.list.Len(), k.list.Repeated, k.list.Unread, r.why, k.Here,
			k.Count(reconcile.Missing), k.Count(reconcile.Surplus), k.Count(reconcile.Differs), k.Count(reconcile.Ambiguous), k.Count(reconcile.Newer),
			k.done.removed, k.done.gone, k.done.outdated, k.done.failed,
		}); err != nil {
			return fmt.Errorf("print the summary: %w", err)
		}
	}
	return nil
}
