package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"riskdex/elastic"
	"riskdex/internal/sanitize"
	"riskdex/mappings/indices"
	"riskdex/search"
)

type searchCommand struct {
	elasticsearchSettings
	Words     []string `arg:"" optional:"" help:"What to search for: a place, a code, a threat. Without words, the filters give everything."`
	Complete  bool     `name:"complete" help:"Treat the words as the beginning of a name or a code, for suggestions while typing."`
	Kind      []string `name:"kind" enum:"cities,advisories,special-reports" placeholder:"KIND" help:"Only this kind; may be repeated."`
	Country   []string `name:"country" placeholder:"CODE" help:"Only reports about this country, such as FR; may be repeated."`
	RiskLevel string   `name:"risk-at-least" placeholder:"1-5" help:"Only this risk level and above."`
	Threat    []string `name:"threat" placeholder:"NAME" help:"Only reports with this threat of threats.json, such as crime; may be repeated."`
	Near      string   `name:"near" placeholder:"LAT,LON" help:"Only reports about a place near this point."`
	Within    string   `name:"within-km" placeholder:"KM" help:"How far from --near, in kilometres. By default 50."`
	ValidOn   string   `name:"valid-on" placeholder:"DATE" help:"Only reports that are valid on this day (2026-07-30, in UTC) or at this time (RFC 3339)."`
	Sort      string   `name:"sort" placeholder:"ORDER" help:"relevance, newest, nearest or risk. By default by relevance; without words the nearest to --near first, or the newest."`
	Language  string   `name:"lang" placeholder:"CODE" help:"Language of excerpts, where a report has several."`
	Size      string   `name:"size" placeholder:"N" help:"Hits to show. By default 10, or 8 with --complete."`
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
	q, err := c.query()
	if err != nil {
		return err
	}
	indices := &indices.Indices{Client: client, Prefix: c.IndexPrefix, Set: set}
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	started := time.Now()
	found, err := indices.Ask(ctx, q)
	if _, is := errors.AsType[*search.Mistake](err); is {
		return err
	}
	if _, answered := errors.AsType[*elastic.ResponseError](err); answered {
		return fmt.Errorf("%w; an app that searches gets the same answer", err)
	}
	if err != nil {
		return fmt.Errorf("%w (is Elasticsearch at %s?)", err, redacted(c.ElasticsearchURL))
	}
	took := time.Since(started)
	if c.JSON {
		err = printHitsJSON(io.out, found.Hits, q)
	} else {
		printHits(io.out, found, q, took)
		if c.Facets {
			printFacets(io.out, found.Facets)
		}
	}
	if err == nil && len(found.Hits) == 0 {
		err = errNegative
	}
	return err
}

// query returns the query that the words and flags are: a flag is a parameter in an address.
func (c *searchCommand) query() (search.Query, error) {
	q, err := search.Parse(url.Values{
		"q": {strings.Join(c.Words, " ")}, "kind": c.Kind, "country": c.Country, "threat": c.Threat, "risk_at_least": {c.RiskLevel},
		"near": {c.Near}, "within_km": {c.Within}, "valid_on": {c.ValidOn}, "sort": {c.Sort}, "lang": {c.Language},
		"size": {c.Size}, "from": {strconv.Itoa(c.From)},
	})
	q.Complete, q.Facets = c.Complete, c.Facets
	return q, err
}

func printHitsJSON(w io.Writer, hits []search.Hit, q search.Query) error {
	lines := json.NewEncoder(w)
	for _, h := range hits {
		_, distance := h.Nearest(q.Near)
		err := lines.Encode(map[string]any{
			"kind": h.Kind, "id": h.ID, "title": h.Title, "score": h.Score, "code": h.Code,
			"countries": h.Countries, "risk_level": h.RiskLevel, "threats": h.Threats, "distance_km": distance, "highlights": h.Highlights,
		})
		if err != nil {
			return fmt.Errorf("print a hit: %w", err)
		}
	}
	return nil
}

func printHits(w io.Writer, found search.Result, q search.Query, took time.Duration) {
	if said := found.WithoutReport(); said != "" {
		fmt.Fprintln(w, sanitize.OneLine(said))
	}
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
		if _, distance := h.Nearest(q.Near); distance != nil {
			facts = append(facts, fmt.Sprintf("%.1f km", *distance))
		}
		fmt.Fprintf(w, "%2d  %s  %s\n", q.From+i+1, paint.text(bold, sanitize.OneLine(h.Title)), strings.Join(nonEmpty(facts), ", "))
		name := fmt.Sprintf("%s/%s", h.Kind, h.ID)
		if q.Scored() {
			name += fmt.Sprintf("  score %.1f", h.Score)
		}
		fmt.Fprintf(w, "    %s\n", paint.text(dim, name))
		for _, text := range h.Excerpts(q.Language) {
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
func printFacets(w io.Writer, facets map[string][]search.Count) {
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

// excerpt turns an excerpt, which is HTML, into a line for a terminal.
func excerpt(highlight, start, end string) string {
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
