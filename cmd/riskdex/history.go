package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/admin"
	"riskdex/internal/jsondiff"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

type historyCommand struct {
	adminSettings
	Kind  string `arg:"" enum:"cities,advisories,special-reports" help:"Its kind: cities, advisories or special-reports."`
	Name  string `arg:"" name:"id" help:"Its id, or the code of a city."`
	At    string `name:"at" xor:"form" placeholder:"TIME" help:"Print what was valid at a time such as 2026-11-20T10:00Z, and when searches found it. Without a fraction, it is the end of that second."`
	Diff  string `name:"diff" xor:"form" placeholder:"A B" help:"Print what differs between two versions, or between what was valid at two times."`
	Body  bool   `name:"body" help:"With --at, print the record alone, byte for byte unless on a terminal."`
	Exact bool   `name:"exact" help:"The id is that of a document, and no code: for one that a city was until a record stated another id."`
	Limit int    `name:"limit" default:"20" placeholder:"N" help:"Most versions to list."`
	JSON  bool   `name:"json" help:"Print what the API answers."`

	B string `arg:"" optional:"" name:"version-or-time" help:"With --diff A: what to compare A with."`
}

func (c *historyCommand) Run(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	switch {
	case c.B != "" && c.Diff == "":
		return fmt.Errorf("%q is one argument too many", c.B)
	case c.Limit < 1:
		return errors.New("--limit must be at least 1")
	case c.Body && c.At == "":
		return errors.New("--body needs --at")
	case c.Diff != "":
		return c.diff(ctx, client, io)
	case c.At != "":
		return c.at(ctx, client, io)
	}
	return c.list(ctx, client, io)
}

func (c *historyCommand) ask(ctx context.Context, client *adminClient, more ...string) (p admin.Past, err error) {
	if c.Exact {
		more = append(more, "exact", "true")
	}
	err = client.ask(ctx, http.MethodGet, "/api/history", query(append([]string{"kind", c.Kind, "id", c.Name}, more...)...), nil, &p)
	return p, err
}

// whenForms are how a time may be written. Without a zone it is UTC, as everything is that
// riskdex prints.
var whenForms = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}

func parseWhen(text string) (time.Time, error) {
	for _, form := range whenForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write it like 2026-11-20T10:00Z", text)
}

// parsePast returns a time, and the last one that is written like it: lists show whole seconds, so
// one that is copied from a list has to reach what was accepted within that second.
func parsePast(text string) (at, end time.Time, err error) {
	if at, err = parseWhen(text); err != nil {
		return at, end, err
	}
	if at.After(time.Now().Add(time.Minute)) { // the clocks of two machines may differ a little
		return at, end, fmt.Errorf("%q is in the future", text)
	}
	end = at.UTC()
	if !strings.Contains(text, ".") {
		end = end.Add(time.Second - time.Microsecond)
	}
	return at, end, nil
}

// one asks for one version, by its number or by a time at which it was valid.
func (c *historyCommand) one(ctx context.Context, client *adminClient, which string) (admin.PastVersion, admin.Past, error) {
	asked := []string{"version", which}
	if n, err := strconv.ParseInt(which, 10, 64); err != nil {
		_, end, err := parsePast(which)
		if err != nil {
			return admin.PastVersion{}, admin.Past{}, fmt.Errorf("%w, or give the number of a version", err)
		}
		asked = []string{"at", end.Format(time.RFC3339Nano)}
	} else if n <= 0 {
		return admin.PastVersion{}, admin.Past{}, fmt.Errorf("there is no version %s: riskdex history %s %s lists them", which, c.Kind, sanitize.ShellWord(c.Name))
	}
	p, err := c.ask(ctx, client, asked...)
	if err != nil {
		return admin.PastVersion{}, p, err
	}
	if len(p.Versions) != 1 {
		return admin.PastVersion{}, p, fmt.Errorf("riskdex answered with %d versions, and was asked for one", len(p.Versions))
	}
	return p.Versions[0], p, nil
}

func (c *historyCommand) list(ctx context.Context, client *adminClient, io streams) error {
	p, err := c.ask(ctx, client, "limit", strconv.Itoa(c.Limit))
	if err != nil {
		return err
	}
	for left := c.Limit - len(p.Versions); left > 0 && p.Next != ""; {
		more, err := c.ask(ctx, client, "limit", strconv.Itoa(left), "before", p.Next)
		if err != nil {
			return err
		}
		p.Versions, p.Next = append(p.Versions, more.Versions...), more.Next
		left -= max(1, len(more.Versions))
	}
	if c.JSON {
		return json.NewEncoder(io.out).Encode(p)
	}
	fmt.Fprintln(io.out, painter(useColour(io.out)).text(bold, string(p.Kind)+" "+sanitize.ShellWord(string(p.ID))))
	t := newTable("ACCEPTED (UTC)", "VERSION", "CALL", "FROM", "SIZE", "SEARCHABLE (UTC)", "CHANGED")
	for _, v := range p.Versions {
		if v.Gap {
			t.add("", "", "", "", "", "", "(what was accepted in between is not kept)")
		}
		size := ""
		if v.Bytes > 0 {
			size = bytesText(v.Bytes)
		}
		t.add(v.AcceptedAt.Format(time.DateTime), fmt.Sprint(v.Version), cmp.Or(v.Call, string(v.Op)), v.From(), size, v.Searchable(), v.Changes)
	}
	t.print(io.out)
	if p.Next != "" {
		fmt.Fprintf(io.out, "There are older ones: riskdex history --limit %d %s %s\n", 10*c.Limit, p.Kind, sanitize.ShellWord(c.Name))
	}
	if earlier := p.Earlier(); earlier != "" {
		fmt.Fprintln(io.out, sanitize.OneLine(earlier))
	}
	if p.Note != "" && p.Next == "" {
		fmt.Fprintln(io.out, "The "+sanitize.OneLine(p.Note)+".")
	}
	if p.KeptSeconds == 0 {
		fmt.Fprintln(io.out, "History is off, so nothing more is kept: riskdex serve --history 90d.")
	}
	return nil
}

// at prints what was valid at a time, and when searches found it.
func (c *historyCommand) at(ctx context.Context, client *adminClient, io streams) error {
	at, end, err := parsePast(c.At)
	if err != nil {
		return fmt.Errorf("--at: %w", err)
	}
	p, err := c.ask(ctx, client, "at", end.Format(time.RFC3339Nano))
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(io.out).Encode(p)
	}
	v := p.Versions[0]
	if c.Body {
		if v.Op == report.Delete || v.Lost != "" {
			return errors.New(recordIs(v))
		}
		return printBody(io.out, v.Raw())
	}
	fmt.Fprintf(io.out, "%s at %s\n", painter(useColour(io.out)).text(bold, string(p.Kind)+" "+sanitize.ShellWord(string(p.ID))), at.UTC().Format("2006-01-02 15:04:05 UTC"))
	until := "now"
	if v.ReplacedAt != nil {
		until = v.ReplacedAt.Format(time.DateTime)
	}
	printFacts(io.out, "valid", fmt.Sprintf("%s to %s UTC, version %d%s", v.AcceptedAt.Format(time.DateTime), until, v.Version, byText(v.From(), v.Call, v.RequestID)),
		"searchable", v.Searchable(), "a search showed then", shownText(v), "record", recordIs(v))
	if p.Former != "" && p.Former == p.ID {
		fmt.Fprintf(io.out, "The city was this document until %s UTC.\n", p.FormerUntil.Format(time.DateTime))
	}
	if len(v.Raw()) > 0 {
		fmt.Fprintln(io.out)
		return printBody(io.out, v.Raw())
	}
	return nil
}

func recordIs(v admin.PastVersion) string {
	switch {
	case v.Op == report.Delete:
		return "the document was deleted"
	case v.Lost == string(report.LostUnknown):
		return "not known: history was off when the next version came"
	case v.Lost == string(report.LostDropped):
		return "given up: it was a dead letter that somebody dropped"
	case v.Lost != "":
		return "damaged in the journal"
	}
	return bytesText(v.Bytes)
}

// shownText says what a search showed at the time that was asked for.
func shownText(v admin.PastVersion) string {
	s := v.Shown
	switch {
	case s == nil || !s.Known && s.Version == 0:
		return "not known"
	case !s.Known && v.State == admin.PastRefused && s.Version == v.Version:
		return "this version, or nothing, if it had been refused by then when it was sent again"
	case !s.Known && s.Op == report.Delete:
		return "not known: nothing of it, or a version that was overtaken later, whose answer from Elasticsearch was lost"
	case !s.Known:
		return fmt.Sprintf("not known: version %d, accepted at %s, or a later one that was overtaken, whose answer from Elasticsearch was lost", s.Version, s.AcceptedAt.Format(time.DateTime))
	case s.Version == 0:
		return "nothing of it"
	case s.Op == report.Delete && s.Version == v.Version:
		return "nothing of it, as it was deleted"
	case s.Op == report.Delete:
		return fmt.Sprintf("nothing of it, as it had been deleted at %s", s.AcceptedAt.Format(time.DateTime))
	case s.Version == v.Version:
		return "this version"
	}
	return fmt.Sprintf("version %d, accepted at %s", s.Version, s.AcceptedAt.Format(time.DateTime))
}

// diff prints where the records of two versions differ.
func (c *historyCommand) diff(ctx context.Context, client *adminClient, io streams) error {
	if c.B == "" {
		return errors.New("--diff needs two versions or times: riskdex history KIND ID --diff A B")
	}
	a, p, err := c.one(ctx, client, c.Diff)
	if err != nil {
		return err
	}
	b, _, err := c.one(ctx, client, c.B)
	if err != nil {
		return err
	}
	for _, v := range []admin.PastVersion{a, b} {
		if v.Op == report.Delete || v.Lost != "" {
			return fmt.Errorf("version %d has no record to compare: %s", v.Version, recordIs(v))
		}
	}
	changes, err := jsondiff.Compare(a.Raw(), b.Raw())
	if err != nil {
		return fmt.Errorf("compare versions %d and %d: %w", a.Version, b.Version, err)
	}
	if c.JSON {
		return json.NewEncoder(io.out).Encode(comparisonOf(a, b, changes))
	}
	fmt.Fprintf(io.out, "%s\n", painter(useColour(io.out)).text(bold, string(p.Kind)+" "+sanitize.ShellWord(string(p.ID))))
	for _, v := range []admin.PastVersion{a, b} {
		fmt.Fprintf(io.out, "version %d, accepted %s UTC%s\n", v.Version, v.AcceptedAt.Format(time.DateTime), byText(v.From(), v.Call, v.RequestID))
	}
	printChanges(io.out, changes)
	if len(changes) > 0 {
		return errNegative
	}
	return nil
}

// longestValue is how much is printed of a value, in characters.
const longestValue = 2000

func printChanges(out io.Writer, changes []jsondiff.Change) {
	paint := painter(useColour(out))
	if len(changes) == 0 {
		fmt.Fprintln(out, "They state the same.")
	}
	for _, c := range changes {
		fmt.Fprintln(out, paint.text(bold, sanitize.OneLine(cmp.Or(string(c.Pointer), "the whole record"))))
		if c.Old != nil {
			fmt.Fprintln(out, "- "+sanitize.OneLine(jsondiff.Short(c.Old, longestValue)))
		}
		if c.New != nil {
			fmt.Fprintln(out, "+ "+sanitize.OneLine(jsondiff.Short(c.New, longestValue)))
		}
	}
}

// comparison is what --diff --json prints.
type comparison struct {
	From    report.Version `json:"from"`
	To      report.Version `json:"to"`
	Changes []changedPlace `json:"changes"`
}

// changedPlace has no old or no new value if there is nothing at the place.
type changedPlace struct {
	Pointer jsontext.Pointer `json:"pointer"`
	Old     any              `json:"old,omitempty"`
	New     any              `json:"new,omitempty"`
}

func comparisonOf(a, b admin.PastVersion, changes []jsondiff.Change) comparison {
	d := comparison{a.Version, b.Version, []changedPlace{}}
	for _, c := range changes {
		d.Changes = append(d.Changes, changedPlace(c))
	}
	return d
}
