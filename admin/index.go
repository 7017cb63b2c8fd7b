package admin

import (
	"context"
	"html"
	"strings"

	"riskdex/report"
	"riskdex/search"
)

// Index is what the status page needs of Elasticsearch. This package knows neither mappings nor
// Elasticsearch, so that whoever uses it need not link the gazetteer.
type Index interface {
	// Documents returns how many documents of kind a search can find.
	Documents(ctx context.Context, kind report.Kind) (int, error)
	// Search searches as a traveller app does. A search that cannot be made is a *search.Mistake.
	// The request is there after any other error too.
	Search(ctx context.Context, q search.Query) (search.Result, error)
	// Score explains what a document counts in a search, which it may not be found by.
	Score(ctx context.Context, q search.Query, key report.Key) (search.Score, error)
	// Threats returns the names of the threats that a search can be narrowed to.
	Threats() []string
	// Document returns what the index has of the document of c, compared with c.
	Document(ctx context.Context, c report.Change) (Indexed, error)
	// Shown returns the versions that searches find of documents; 0 or nothing if they find none.
	Shown(ctx context.Context, kind report.Kind, ids []report.ID) (map[report.ID]report.Version, error)
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
