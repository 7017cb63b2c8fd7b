package admin

import (
	"context"
	"html"
	"strings"

	"riskdex/report"
)

// Index is what the status page needs of Elasticsearch. It has types of its own, so that this
// package knows neither mappings nor Elasticsearch, and whoever uses it need not link the gazetteer.
type Index interface {
	// Documents returns how many documents of kind a search can find.
	Documents(ctx context.Context, kind report.Kind) (int, error)
	// Search searches as a traveller app does. A search that cannot be made is a *Problem.
	// The request is there after any other error too.
	Search(ctx context.Context, s Search) (Found, error)
	// Score explains what a document counts in a search, which it may not be found by.
	Score(ctx context.Context, s Search, key report.Key) (Score, error)
	// Threats returns the names of the threats that a search can be narrowed to.
	Threats() []string
	// Document returns what the index has of the document of c, compared with c.
	Document(ctx context.Context, c report.Change) (Indexed, error)
	// Shown returns the versions that searches find of documents; 0 or nothing if they find none.
	Shown(ctx context.Context, kind report.Kind, ids []report.ID) (map[report.ID]report.Version, error)
}

// Search is what somebody searches for. Empty fields narrow nothing.
type Search struct {
	Words     string
	Kinds     []report.Kind
	Countries []string // ISO 3166 alpha-2
	RiskLevel int      // and above
	Threats   []string
	From      int // hits to pass over
}

// Found is what a search found, best first.
type Found struct {
	Total      int
	More       bool // Total is a lower bound
	Hits       []Hit
	DidYouMean string  // likelier words, if there are any
	Facets     []Facet // kinds, countries, risk levels and threats of all hits
	Request    Request
}

// Request is a search as an app sends it.
type Request struct {
	Path string // with its query
	Body []byte // JSON
}

// Facet counts documents by the values of a field, the most frequent first.
type Facet struct {
	Field  string
	Values []FacetValue
}

// FacetValue is a value of a field, and how many documents have it.
type FacetValue struct {
	Value     string
	Documents int
}

// Hit is one document.
type Hit struct {
	Kind      report.Kind
	ID        report.ID
	Score     float64
	Title     string
	Code      string
	Countries []string
	RiskLevel int // 0 if it states none
	Threats   []string

	// Excerpts are parts of the text around matches, as HTML with <em> around each match. Only
	// <em> is taken as HTML.
	Excerpts []string
}

// Score is why a search finds a document.
type Score struct {
	Found   bool
	Total   float64
	Reasons []Reason // what adds most comes first
	Raw     []byte   // JSON, as Elasticsearch explains it
}

// Reason is a way in which a search finds a document.
type Reason struct {
	Says  string // in words; empty if nobody has named it
	Score float64
	Terms []Term
}

// Term is what was found where.
type Term struct {
	Field string // in words
	Words string // empty if what the field has counts, whatever was searched for
	Score float64
}

// Share returns which part of the score a reason is, in percent.
func (s Score) Share(of float64) int {
	if s.Total == 0 {
		return 0
	}
	return int(100*of/s.Total + .5)
}

// piece is a part of an excerpt.
type piece struct {
	Text  string
	Match bool
}

// pieces splits an excerpt at the matches, so that nothing of it gets to the page as HTML.
func pieces(excerpt string) []piece {
	var all []piece
	add := func(text string, match bool) {
		if text != "" {
			all = append(all, piece{html.UnescapeString(text), match})
		}
	}
	for excerpt != "" {
		before, rest, _ := strings.Cut(excerpt, "<em>")
		match, after, _ := strings.Cut(rest, "</em>")
		add(before, false)
		add(match, true)
		excerpt = after
	}
	return all
}
