package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/mappings"
	"riskdex/report"
)

type mappingsShowCommand struct {
	adminSettings
	Kinds []string `arg:"" optional:"" name:"kind" enum:"cities,advisories,special-reports" help:"Only these kinds: cities, advisories, special-reports."`
	JSON  bool     `name:"json" help:"Print one JSON object for each kind."`
}

// Run shows how records are read. The error is errNegative if a field is missing that should be there.
func (c *mappingsShowCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	lacks := false
	for i, kind := range report.Kinds() {
		if len(c.Kinds) > 0 && !slices.Contains(c.Kinds, string(kind)) {
			continue
		}
		var r admin.Reading
		if err := client.ask(ctx, http.MethodGet, "/api/reading", query("kind", string(kind)), nil, &r); err != nil {
			return err
		}
		for _, of := range r.Shapes {
			lacks = lacks || slices.ContainsFunc(of.Lacking, func(l admin.LackingField) bool { return l.Expected })
		}
		if c.JSON {
			lines := json.NewEncoder(io.out)
			lines.SetEscapeHTML(false)
			if err := lines.Encode(r); err != nil {
				return fmt.Errorf("print how records are read: %w", err)
			}
			continue
		}
		if i > 0 && len(c.Kinds) != 1 {
			fmt.Fprintln(io.out)
		}
		printReading(io, r)
	}
	if lacks {
		return errNegative
	}
	return nil
}

func printReading(io streams, r admin.Reading) {
	paint := painter(useColour(io.out))
	head := count(r.Records, "record", "records")
	if r.Records == 0 {
		head = "no records yet"
	}
	if len(r.Stated) > 0 {
		head += "; your " + string(r.Kind) + ".json decides about " + strings.Join(r.Stated, ", ")
	}
	fmt.Fprintln(io.out, paint.text(bold, string(r.Kind))+": "+head)
	var without []string
	for i, shape := range r.Shapes {
		which := ""
		if len(r.Shapes) > 1 {
			which = fmt.Sprintf("shape %d of %d, ", i+1, len(r.Shapes))
		}
		fmt.Fprintf(io.out, "\n%s%s, %s:\n", which, count(shape.Records, "record", "records"), howRead(shape))
		printFieldsOf(io, shape)
		for _, name := range printLacking(io, r.Kind, shape) {
			if name = strconv.Quote(name); !slices.Contains(without, name) {
				without = append(without, name)
			}
		}
	}
	if len(without) == 0 {
		return
	}
	fmt.Fprintf(io.out, `
To teach riskdex what is missing:
  riskdex export %[1]s > %[1]s.jsonl
  riskdex mappings learn %[1]s.jsonl --to DIR
  add a line, such as the likeliest of above, to "fields" in DIR/%[1]s.json
  restart riskdex with --mappings DIR
If the feed has none, add to DIR/%[1]s.json: "without": [%[2]s]
`, r.Kind, strings.Join(without, ", "))
}

// howRead says what decides how the records of a shape are read.
func howRead(s admin.ReadShape) string {
	if s.Inferred == 0 {
		return "read by usual names, since values have told nothing better"
	}
	return fmt.Sprintf("read as the values of %s have told", count(s.Inferred, "record", "records"))
}

// printFieldsOf says where the fields of a shape come from, and what does not fit.
func printFieldsOf(io streams, s admin.ReadShape) {
	fields := newTable("FIELD", "FROM", "RECORDS", "SUCH AS", "BECAUSE")
	misfits := newTable("LEFT OUT", "FROM", "VALUES", "SUCH AS", "BECAUSE")
	misfit := false
	for _, f := range s.Fields {
		if f.Records > 0 {
			fields.add(f.Field, pointerText(f.Pointer), fmt.Sprint(f.Records), shortened(joined(f.Examples)), f.Because)
		}
		if f.Misfits > 0 {
			misfit = true
			misfits.add(f.Field, pointerText(f.Pointer), fmt.Sprint(f.Misfits), shortened(string(f.Misfit)), f.Reason)
		}
	}
	fields.print(io.out)
	if misfit {
		fmt.Fprintln(io.out)
		misfits.print(io.out)
	}
	if len(s.Unknown) > 0 {
		fmt.Fprintf(io.out, "\nnobody knows the level of %s: add them to \"risk_levels\"\n", shortened(inQuotes(s.Unknown)))
	}
}

// printLacking says which fields no record has, or fewer than should, and where they may be. It returns
// those that should be there.
func printLacking(io streams, kind report.Kind, s admin.ReadShape) (missing []string) {
	var nowhere []string
	for _, l := range s.Lacking {
		if !l.Expected && len(l.Candidates) == 0 {
			nowhere = append(nowhere, l.Field)
			continue
		}
		has := "nothing fills it"
		if l.Records > 0 {
			has = fmt.Sprintf("%d of %d records have it", l.Records, s.Records)
		}
		if l.Expected {
			has = "MISSING: " + has
			missing = append(missing, l.Field)
		}
		if len(l.Candidates) == 0 {
			fmt.Fprintf(io.out, "\n%s: %s, and nothing looks like it\n", l.Field, has)
			continue
		}
		fmt.Fprintf(io.out, "\n%s: %s; it may be\n", l.Field, has)
		some := newTable("IN "+strings.ToUpper(string(kind))+".JSON", "RECORDS", "SUCH AS", "BECAUSE")
		for _, c := range l.Candidates {
			some.add(fmt.Sprintf("%q: [%s]", l.Field, sanitize.OneLine(string(c.At))), fmt.Sprint(c.Records), shortened(inQuotes(c.Examples)), c.Because)
		}
		some.print(io.out)
	}
	if len(nowhere) > 0 {
		fmt.Fprintf(io.out, "\nnothing fills %s\n", strings.Join(nowhere, ", "))
	}
	return missing
}

func pointerText(pointer string) string {
	if pointer == "" {
		return "(the record)"
	}
	return pointer
}

func inQuotes(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strconv.Quote(text)
	}
	return strings.Join(all, ", ")
}

func joined(values []json.RawMessage) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return strings.Join(all, ", ")
}

// Reading implements admin.Reader.
func (x index) Reading(kind report.Kind, records [][]byte) (admin.Reading, error) {
	s, err := x.set.Show(kind, records)
	if err != nil {
		return admin.Reading{}, errors.Join(errors.New("how records are read cannot be said"), err)
	}
	r := admin.Reading{Kind: kind, Records: s.Records, Stated: append([]string{}, s.Stated...), Shapes: []admin.ReadShape{}}
	for _, of := range s.Shapes {
		r.Shapes = append(r.Shapes, readShape(of))
	}
	return r, nil
}

func readShape(s mappings.ShownShape) admin.ReadShape {
	r := admin.ReadShape{Records: s.Records, Inferred: s.Inferred, Fields: []admin.ReadField{}, Unknown: []string{}, Lacking: []admin.LackingField{}}
	for _, f := range s.Fields {
		one := admin.ReadField{Field: f.Field, Pointer: string(f.Pointer), Records: f.Records, Examples: []json.RawMessage{}, Because: f.Why, Misfits: f.Misfits, Reason: f.Reason}
		for _, e := range f.Examples {
			one.Examples = append(one.Examples, json.RawMessage(e))
		}
		if f.Misfits > 0 {
			one.Misfit = json.RawMessage(f.Misfit)
		}
		r.Fields = append(r.Fields, one)
	}
	r.Unknown = append(r.Unknown, mappings.Lesson{Unknown: s.Unknown}.Labels()...)
	for _, l := range s.Lacking {
		one := admin.LackingField{Field: l.Field, Records: l.Records, Expected: l.Expected, Candidates: []admin.Candidate{}}
		for _, c := range l.Candidates {
			one.Candidates = append(one.Candidates, admin.Candidate{At: json.RawMessage(c.At), Records: c.Records, Examples: c.Examples, Because: c.Why})
		}
		r.Lacking = append(r.Lacking, one)
	}
	return r
}
