package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/exportline"
	"riskdex/internal/sanitize"
	"riskdex/mappings"
	"riskdex/receiver"
	"riskdex/report"
)

type mappingsLearnCommand struct {
	Feeds []string `arg:"" name:"feed.json" help:"Payloads as they are delivered, a list of records or an envelope around one; or what riskdex export has written."`
	Kind  string   `name:"kind" enum:",cities,advisories,special-reports" default:"" placeholder:"KIND" help:"The kind of the records; by default, the one in the name of the file."`
	To    string   `name:"to" placeholder:"DIR" help:"Write the proposal into this folder, for --mappings. A new folder gets the built-in files too."`
	JSON  bool     `name:"json" help:"Print one JSON object."`
	payloadSettings
}

// Run proposes a mapping file. It says so if it is not certain where the ids of the records are:
// until the operator states that, deliveries are refused.
func (c *mappingsLearnCommand) Run(io streams) error {
	kind, err := c.kind()
	if err != nil {
		return err
	}
	cfg := receiver.DefaultConfig()
	if err := c.addTo(&cfg); err != nil {
		return err
	}
	all, err := c.read(cfg, kind)
	if err != nil {
		return err
	}
	set, err := mappings.Builtin()
	if err != nil {
		return err
	}
	lesson, err := set.Learn(kind, all.Records)
	if err != nil {
		return fmt.Errorf("propose a mapping: %w", err)
	}
	file := lesson.File
	if c.JSON {
		err = c.printJSON(io, lesson, all, file)
	} else {
		err = c.print(io, lesson, all)
	}
	if err != nil {
		return fmt.Errorf("print the proposal: %w", err)
	}
	if c.To != "" {
		if err := c.write(io, string(kind)+".json", file); err != nil {
			return fmt.Errorf("write the proposal: %w", err)
		}
	}
	return nil
}

// kind returns the kind that the flag or, without it, the name of the first file states.
func (c *mappingsLearnCommand) kind() (report.Kind, error) {
	if c.Kind != "" {
		return report.Kind(c.Kind), nil // kong has checked it
	}
	name := strings.ToLower(filepath.Base(c.Feeds[0]))
	for _, kind := range report.Kinds() {
		stem := strings.TrimSuffix(strings.TrimSuffix(string(kind), "s"), "ie")
		if strings.Contains(strings.ReplaceAll(name, "_", "-"), stem) {
			return kind, nil
		}
	}
	return "", errors.New("say what the records are with --kind: cities, advisories or special-reports")
}

// read returns the records of all files as one feed.
func (c *mappingsLearnCommand) read(cfg receiver.Config, kind report.Kind) (receiver.Feed, error) {
	bodies := make([]string, len(c.Feeds))
	var all receiver.Feed
	for i, name := range c.Feeds {
		body, err := os.ReadFile(name)
		if err != nil {
			return all, fmt.Errorf("read the feed: %w", err)
		}
		feed, err := cfg.Feed(kind, recordsOf(kind, body))
		if err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		for j, record := range feed.Records {
			bodies[i] += map[bool]string{true: ",", false: ""}[j > 0] + string(record)
		}
		if feed.RecordsAt != "" {
			all.RecordsAt = feed.RecordsAt
		}
	}
	cfg.Records = nil
	at := all.RecordsAt
	joined := strings.Join(nonEmpty(bodies), ",")
	if joined == "" {
		return all, errors.New("there are no records in it")
	}
	all, err := cfg.Feed(kind, []byte("["+joined+"]"))
	all.RecordsAt = at
	return all, err
}

// recordsOf returns the records of a kind in an export as a list, and anything else as it is.
func recordsOf(kind report.Kind, body []byte) []byte {
	list := []byte("[")
	for line := range bytes.Lines(body) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		l, err := exportline.Parse(line)
		if err != nil {
			return body
		}
		if l.Kind != kind {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, l.Record...)
	}
	if len(list) == 1 {
		return body
	}
	return append(list, ']')
}

// print writes the proposal for people.
func (c *mappingsLearnCommand) print(io streams, l mappings.Lesson, feed receiver.Feed) error {
	fmt.Fprintf(io.out, "records of %s: %d\n\n", l.Kind, l.Records)
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FIELD\tFROM\tRECORDS\tVALUES\tSUCH AS\tBECAUSE")
	for _, id := range feed.IDs {
		name := "id?"
		if id.At == feed.IDAt {
			name = "id"
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\n", name, sanitize.OneLine(id.At), id.Records, id.Distinct, shortened(fmt.Sprintf("%q", id.Example)))
	}
	misfits := false
	for _, f := range l.Fields {
		misfits = misfits || f.Misfits > 0
		if f.Records > 0 {
			why := cmp.Or(f.Why, map[bool]string{true: "of its name"}[f.ByName])
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\n", f.Field, sanitize.OneLine(f.Pointer), f.Records, f.Distinct, shortened(strings.Join(f.Examples, ", ")), shortened(why))
		}
	}
	if misfits {
		fmt.Fprint(table, "\nleft out, because they do not fit:\n")
		for _, f := range l.Fields {
			if f.Misfits > 0 {
				fmt.Fprintf(table, "%s\t%s\t%d\t\t%s\t%s\n", f.Field, sanitize.OneLine(f.Pointer), f.Misfits, shortened(f.Misfit), f.Reason)
			}
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(io.out)
	for _, advice := range advise(l, feed) {
		fmt.Fprintln(io.out, advice)
	}
	return nil
}

// advise returns sentences about what the operator has to decide.
func advise(l mappings.Lesson, feed receiver.Feed) []string {
	var all []string
	if feed.RecordsAt != "" {
		all = append(all, fmt.Sprintf("The records are at %s: state it with --records %s=%[1]s.", sanitize.OneLine(feed.RecordsAt), l.Kind))
	}
	usual := feed.IDAt != "" && len(feed.IDs) > 0
	switch {
	case feed.IDAt == "" && len(feed.IDs) > 0:
		all = append(all, fmt.Sprintf("It is not certain which of these is the id, so a delivery is refused: state it, such as with --ids %s=%s.", l.Kind, sanitize.OneLine(feed.IDs[0].At)))
	case feed.IDAt == "":
		all = append(all, fmt.Sprintf("Nothing looks like an id. Cities are identified by their code if they have one; everything else is refused: state where the ids are with --ids %s=POINTER.", l.Kind))
	case usual && !idIsKnown(feed):
		all = append(all, fmt.Sprintf("The id is told by the words of its name. To be certain: --ids %s=%s.", l.Kind, sanitize.OneLine(feed.IDAt)))
	}
	if labels := l.Labels(); len(labels) > 0 {
		all = append(all, fmt.Sprintf("Nobody knows the level of %s: add it to risk_levels.", shortened(fmt.Sprintf("%q", labels))))
	}
	return append(all, "Values in no row are only in text, or in source. If no pointer of the file leads to a value, the words of names decide.")
}

func idIsKnown(feed receiver.Feed) bool {
	for _, id := range feed.IDs {
		if id.At == feed.IDAt {
			return id.Known
		}
	}
	return false
}

func (c *mappingsLearnCommand) printJSON(io streams, l mappings.Lesson, feed receiver.Feed, file []byte) error {
	type place struct {
		Field    string            `json:"field"`
		Pointer  jsontext.Pointer  `json:"pointer"`
		Records  int               `json:"records"`
		Distinct int               `json:"distinct"`
		Examples []json.RawMessage `json:"examples"`
		Because  string            `json:"because,omitempty"`
		ByName   bool              `json:"by_name,omitempty"`
		Misfits  int               `json:"misfits,omitempty"`
		Reason   string            `json:"reason,omitempty"`
	}
	type id struct {
		Pointer  jsontext.Pointer `json:"pointer"`
		Example  string           `json:"example"`
		Records  int              `json:"records"`
		Distinct int              `json:"distinct"`
	}
	out := struct {
		Kind      report.Kind      `json:"kind"`
		Records   int              `json:"records"`
		RecordsAt jsontext.Pointer `json:"records_at,omitempty"`
		ID        jsontext.Pointer `json:"id"` // empty if it is not certain
		IDs       []id             `json:"ids"`
		Fields    []place          `json:"fields"`
		Advice    []string         `json:"advice"`
		File      json.RawMessage  `json:"file"`
	}{Kind: l.Kind, Records: l.Records, RecordsAt: feed.RecordsAt, ID: feed.IDAt, Advice: advise(l, feed), File: file}
	for _, p := range feed.IDs {
		out.IDs = append(out.IDs, id{p.At, p.Example, p.Records, p.Distinct})
	}
	for _, f := range l.Fields {
		p := place{Field: f.Field, Pointer: f.Pointer, Records: f.Records, Distinct: f.Distinct, Because: f.Why, ByName: f.ByName, Misfits: f.Misfits, Reason: f.Reason}
		for _, e := range f.Examples {
			p.Examples = append(p.Examples, json.RawMessage(e))
		}
		out.Fields = append(out.Fields, p)
	}
	lines := json.NewEncoder(io.out)
	lines.SetEscapeHTML(false)
	return lines.Encode(out)
}

// write puts the proposal into the folder, beside the built-in files. It never overwrites a
// file that somebody has edited.
func (c *mappingsLearnCommand) write(io streams, name string, file []byte) error {
	target := filepath.Join(c.To, name)
	there, err := os.ReadFile(target)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	builtin, err := mappings.ReadFile(name)
	if err != nil {
		return err
	}
	if there != nil && string(there) != string(builtin) {
		return fmt.Errorf("%s is there already and differs from the built-in file; name a new folder", target)
	}
	if _, err := os.Stat(c.To); errors.Is(err, os.ErrNotExist) {
		if err := os.CopyFS(c.To, mappings.Files()); err != nil {
			return err
		}
	}
	if err := os.WriteFile(target, file, 0o644); err != nil { // #nosec G306 -- a mapping file is not a secret
		return err
	}
	if !c.JSON {
		fmt.Fprintf(io.out, "The proposal is %s: look at it, try it with riskdex mappings check %s --record RECORD.json --kind %s, and start riskdex with --mappings %[2]s\n", target, c.To, strings.TrimSuffix(name, ".json"))
	}
	return nil
}
