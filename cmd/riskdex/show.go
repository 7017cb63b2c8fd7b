package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

type showCommand struct {
	adminSettings
	Kind   string `arg:"" enum:"cities,advisories,special-reports" help:"Its kind: cities, advisories or special-reports."`
	Name   string `arg:"" name:"id" help:"Its id, or the code of a city."`
	Fields bool   `name:"fields" xor:"form" help:"Print also where its fields come from."`
	Body   bool   `name:"body" xor:"form" help:"Print its newest record alone, byte for byte unless on a terminal."`
	JSON   bool   `name:"json" xor:"form" help:"Print everything as one JSON object."`
}

// Run shows a document. It returns errNegative if apps do not find the newest record, and another
// error if there is no such document.
func (c *showCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	var d admin.Document
	if err := client.ask(ctx, http.MethodGet, "/api/document", query("kind", c.Kind, "id", c.Name), nil, &d); err != nil {
		return err
	}
	switch {
	case c.JSON:
		err = json.NewEncoder(io.out).Encode(d)
	case !d.By.Known():
	case c.Body:
		err = printBody(io.out, d.Raw())
	default:
		c.print(io, d)
	}
	switch {
	case err != nil:
		return err
	case !d.By.Known():
		return errors.New(d.Says + remedyText(d.Remedy))
	case !d.Searchable:
		return errNegative
	}
	return nil
}

func remedyText(remedy string) string {
	if remedy == "" {
		return ""
	}
	return " " + remedy
}

func (c *showCommand) print(io streams, d admin.Document) {
	paint := painter(useColour(io.out))
	fmt.Fprintf(io.out, "%s\n", paint.text(bold, string(d.Kind)+" "+sanitize.ShellWord(string(d.ID))))
	fmt.Fprintf(io.out, "%s\n", sanitize.OneLine(d.State+": "+d.Says))
	if d.Remedy != "" {
		fmt.Fprintf(io.out, "%s\n", sanitize.OneLine("do: "+d.Remedy))
	}
	facts := []string{"found by", foundBy(d), "delivered", agoAndAt(d.AcceptedAt) + deliveredBy(d), "version", fmt.Sprint(d.Version), "index", indexText(d)}
	if d.Code != "" {
		facts = append(facts, "code", d.Code)
	}
	if d.Op == report.Index {
		facts = append(facts, "record", bytesText(d.Bytes))
	}
	printFacts(io.out, facts...)
	for _, r := range d.Refused {
		fmt.Fprintf(io.out, "  refused %s: %s (riskdex refused show %d)\n", ago(r.At), sanitize.OneLine(r.Reason+": "+r.Detail), r.Number)
	}
	if !c.Fields || d.Index == nil || len(d.Index.Fields) == 0 {
		return
	}
	fmt.Fprintln(io.out)
	t := newTable("FIELD", "FROM", "VALUE")
	for _, f := range d.Index.Fields {
		value := f.Value
		if f.Reason != "" {
			value = "left out: " + f.Reason
		}
		t.add(f.Field, cmp.Or(f.Pointer, "the whole record"), value)
	}
	t.print(io.out)
}

// deliveredBy is byText of the newest delivery, or says how to have that kept.
func deliveredBy(d admin.Document) string {
	if d.From() == "" && d.Call == "" {
		return ", by whom is not kept (riskdex serve --history 90d)"
	}
	return byText(d.From(), d.Call, d.RequestID)
}

// byText says by whom something was delivered, with which call and in which request, as far as
// history knows.
func byText(from, call, request string) string {
	if from != "" {
		from = ", by " + from
	}
	if call != "" {
		from += ", " + call
	}
	if request != "" {
		from += ", request " + request
	}
	return sanitize.OneLine(from)
}

// foundBy returns the rule by which the name led to the document.
func foundBy(d admin.Document) string {
	switch d.By {
	case report.NamedByDeletedID:
		return "its id; it is deleted"
	case report.NamedByCode:
		return fmt.Sprintf("the code %s, which it alone has", strings.ToUpper(d.Name))
	case report.NamedByDeletedCode:
		return fmt.Sprintf("the code %s, which it had until it was deleted", strings.ToUpper(d.Name))
	}
	return "its id"
}

func indexText(d admin.Document) string {
	x := d.Index
	switch {
	case x == nil:
		return cmp.Or(d.IndexError, "not asked")
	case x.Version == 0:
		return x.Index + " has nothing of it"
	}
	text := x.Index + " has this version"
	if x.Version != d.Version {
		text = fmt.Sprintf("%s has version %d", x.Index, x.Version)
	}
	if len(x.Differ) > 0 {
		text += "; these fields differ: " + strings.Join(x.Differ, ", ")
	}
	return text
}
