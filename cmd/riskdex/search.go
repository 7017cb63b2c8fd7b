package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"riskdex/elastic"
	"riskdex/internal/sanitize"
	"riskdex/mappings"
	"riskdex/mappings/indices"
)

type searchCommand struct {
	elasticsearchSettings
	Words     []string `arg:"" help:"What to search for: a place, a code, a threat."`
	Complete  bool     `name:"complete" help:"Treat the words as the beginning of a name or a code, for suggestions while typing."`
	Kind      []string `name:"kind" enum:"cities,advisories,special-reports" placeholder:"KIND" help:"Only this kind; may be repeated."`
	Country   []string `name:"country" placeholder:"CODE" help:"Only reports about this country, such as FR; may be repeated."`
	RiskLevel int      `name:"risk-at-least" placeholder:"1-5" help:"Only this risk level and above."`
	Threat    []string `name:"threat" placeholder:"NAME" help:"Only reports with this threat of threats.json, such as crime; may be repeated."`
	Near      string   `name:"near" placeholder:"LAT,LON" help:"Only reports about a place near this point."`
	Within    float64  `name:"within" placeholder:"KM" help:"The radius of --near, in kilometres. By default 50."`
	Nearest   bool     `name:"nearest-first" help:"Sort by the distance from --near."`
	ValidAt   string   `name:"valid-at" placeholder:"DATE" help:"Only reports that are valid on this day (2026-07-30, in UTC) or at this time (RFC 3339)."`
	Size      int      `name:"size" placeholder:"N" help:"Hits to show. By default 10, or 8 with --complete."`
	From      int      `name:"from" placeholder:"N" help:"Hits to skip."`
	Facets    bool     `name:"facets" help:"Also print how many hits each kind, country, risk level and threat has."`
	JSON      bool     `name:"json" help:"Print one JSON object per hit."`
}

// searchTimeout bounds how long a search may take.
const searchTimeout = 30 * time.Second

// Run searches. The error is errNegative if nothing was found.
func (c *searchCommand) Run(ctx context.Context, io streams) error {
	set, err := c.mappings()
	if err != nil {
		return err
	}
	client, err := c.elasticsearchSettings.client()
	if err != nil {
		return err
	}
	body, err := c.body(set)
	if err != nil {
		return err
	}
	indices := &indices.Indices{Client: client, Prefix: c.IndexPrefix, Set: set}
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	started := time.Now()
	found, err := indices.Search(ctx, body)
	if _, answered := errors.AsType[*elastic.ResponseError](err); answered {
		return fmt.Errorf("%w; an app that searches gets the same answer", err)
	}
	if err != nil {
		return fmt.Errorf("%w (is Elasticsearch at %s?)", err, redacted(c.ElasticsearchURL))
	}
	took := time.Since(started)
	if c.JSON {
		err = printHitsJSON(io.out, found.Hits)
	} else {
		printHits(io.out, found, c.From, took)
		if c.Facets {
			printFacets(io.out, found.Facets)
		}
	}
	if err == nil && len(found.Hits) == 0 {
		err = errNegative
	}
	return err
}

func printHitsJSON(w io.Writer, hits []mappings.Hit) error {
	lines := json.NewEncoder(w)
	for _, h := range hits {
		err := lines.Encode(map[string]any{
			"kind": h.Kind, "id": h.ID, "title": h.Title, "score": h.Score, "code": h.Code,
			"countries": h.Countries, "risk_level": h.RiskLevel, "threats": h.Threats, "highlights": h.Highlights,
		})
		if err != nil {
			return fmt.Errorf("print a hit: %w", err)
		}
	}
	return nil
}

func printHits(w io.Writer, found mappings.Result, from int, took time.Duration) {
	paint := painter(useColour(w))
	for i, h := range found.Hits {
		var facts []string
		if h.Code != "" {
			facts = append(facts, h.Code)
		}
		facts = append(facts, strings.Join(h.Countries, " "))
		if h.RiskLevel > 0 {
			facts = append(facts, fmt.Sprintf("risk %d of 5", h.RiskLevel))
		}
		fmt.Fprintf(w, "%2d  %s  %s\n", from+i+1, paint.text(bold, sanitize.OneLine(h.Title)), strings.Join(nonEmpty(facts), ", "))
		fmt.Fprintf(w, "    %s\n", paint.text(dim, fmt.Sprintf("%s/%s  score %.1f", h.Kind, h.ID, h.Score)))
		for _, text := range excerpts(h) {
			fmt.Fprintf(w, "    %s\n", excerpt(text, paint.start(bold), paint.end()))
		}
	}
	total := fmt.Sprint(found.Total)
	if found.More {
		total = "more than " + total
	}
	fmt.Fprintf(w, "%d of %s hits in %s\n", len(found.Hits), total, took.Round(time.Millisecond))
	if found.DidYouMean != "" {
		fmt.Fprintf(w, "did you mean: %s\n", sanitize.OneLine(found.DidYouMean))
	}
}

// printFacets prints a line for every field, the most frequent values first.
func printFacets(w io.Writer, facets map[string][]mappings.Count) {
	for _, field := range slices.Sorted(maps.Keys(facets)) {
		var counts []string
		for _, count := range facets[field] {
			counts = append(counts, fmt.Sprintf("%s %d", sanitize.OneLine(count.Value), count.Documents))
		}
		if len(counts) > 0 {
			fmt.Fprintf(w, "%-11s %s\n", field, strings.Join(counts, ", "))
		}
	}
}

// excerpts returns up to two highlights, from the fields that read best. It leaves out the
// title, which is shown anyway.
func excerpts(h mappings.Hit) []string {
	const most = 2
	text := "text"
	for field := range h.Highlights {
		if strings.HasPrefix(field, "text_in.") { // the same text, and more of it matches
			text = field
		}
	}
	var all []string
	for _, field := range []string{"summary", text, "places.name"} {
		all = append(all, h.Highlights[field]...)
	}
	return all[:min(most, len(all))]
}

// excerpt turns a highlight, which is HTML, into a line for a terminal. Of its paragraphs, such as
// titles and labels before a sentence, it keeps those with a match.
func excerpt(highlight, start, end string) string {
	var matching []string
	for paragraph := range strings.SplitSeq(highlight, "\n\n") {
		if strings.Contains(paragraph, "<em>") {
			matching = append(matching, paragraph)
		}
	}
	highlight = strings.Join(matching, " … ")
	plain := sanitize.OneLine(html.UnescapeString(strings.NewReplacer("<em>", startMark, "</em>", endMark).Replace(highlight)))
	return strings.NewReplacer(startMark, start, endMark, end).Replace(plain)
}

// Private-use characters stand for the marks of a match while the rest of the text is made
// safe.
const startMark, endMark = "\ue000", "\ue001"

func nonEmpty(list []string) []string {
	var kept []string
	for _, s := range list {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}

// painter puts text in a style if it is true, and leaves it as it is otherwise.
type painter bool

const (
	bold = "\x1b[1m"
	dim  = "\x1b[2m"
)

func (p painter) start(style string) string {
	if !p {
		return ""
	}
	return style
}

func (p painter) end() string { return p.start("\x1b[0m") }

func (p painter) text(style, text string) string { return p.start(style) + text + p.end() }
