package admin

import (
	"context"
	"html"
	"strings"

	"riskdex/report"
)

// Index is what the status page needs of Elasticsearch.
type Index interface {
	// Documents returns how many documents of kind a search can find.
	Documents(ctx context.Context, kind report.Kind) (int, error)
	// Search searches all kinds as a traveller app does.
	Search(ctx context.Context, words string) (Found, error)
	// Document returns what the index has of the document of c, compared with c.
	Document(ctx context.Context, c report.Change) (Indexed, error)
	// Shown returns the versions that searches find of documents; 0 or nothing if they find none.
	Shown(ctx context.Context, kind report.Kind, ids []report.ID) (map[report.ID]report.Version, error)
}

// Found is what a search found, best first.
type Found struct {
	Total int
	More  bool // Total is a lower bound
	Hits  []Hit
}

// Hit is one document.
type Hit struct {
	Kind      report.Kind
	ID        report.ID
	Title     string
	Code      string
	Countries []string
	RiskLevel int // 0 if it states none

	// Excerpts are parts of the text around matches, as HTML with <em> around each match. Only
	// <em> is taken as HTML.
	Excerpts []string
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
