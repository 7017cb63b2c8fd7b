package indices

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"riskdex/elastic"
	"riskdex/report"
	"riskdex/search"
)

// Search runs a body made by SearchBody or CompleteBody on every alias that apps search.
func (x *Indices) Search(ctx context.Context, body []byte) (search.Result, error) {
	return Search(ctx, x.Client, x.Searched(), body)
}

// Ask makes a search of every alias that apps search. What it sends is in the result of any error but a
// *search.Mistake, too.
func (x *Indices) Ask(ctx context.Context, q search.Query) (search.Result, error) {
	found, err := x.Set.Ask(q, func(body []byte) (search.Result, error) { return x.Search(ctx, body) })
	found.Request.Path = search.Path(x.Searched()...)
	return found, err
}

// TrySearches searches some aliases as apps do, and completes. It does not matter what is found: the
// error says why there is no complete answer.
func (x *Indices) TrySearches(ctx context.Context, aliases ...string) error {
	for _, try := range []struct {
		file  string
		query search.Query
	}{
		{"search.json", search.Query{Words: "protest london", Size: 1}},
		{"complete.json", search.Query{Words: "lond", Complete: true, Size: 1}},
	} {
		body, err := x.Set.Body(try.query)
		if err == nil {
			_, err = Search(ctx, x.Client, aliases, body)
		}
		if err != nil {
			return fmt.Errorf("with %s: %w", try.file, err)
		}
	}
	return nil
}

// Searched returns every alias that apps search.
func (x *Indices) Searched() []string {
	var aliases []string
	for _, kind := range report.Kinds() {
		aliases = append(aliases, x.Alias(kind))
	}
	return aliases
}

// Score explains the score that a document has in a search that is sorted by relevance.
func (x *Indices) Score(ctx context.Context, q search.Query, key report.Key) (search.Score, error) {
	q.Sort = search.Relevance
	body, err := x.Set.Body(q)
	if err != nil {
		return search.Score{}, err
	}
	asked, err := search.ScoreBody(body, key.ID)
	if err != nil {
		return search.Score{}, err
	}
	answer, err := x.Client.Ask(ctx, elastic.Request{Method: http.MethodPost, Path: search.ScorePath(x.Alias(key.Kind)), Body: asked}, elastic.Searched)
	if err != nil {
		return search.Score{}, fmt.Errorf("explaining the score of %s/%s: %w", key.Kind, key.ID, err)
	}
	return search.ReadScore(answer, body)
}

// Search is Indices.Search for some aliases or indices.
func Search(ctx context.Context, client *elastic.Client, indices []string, body []byte) (search.Result, error) {
	answer, err := client.Ask(ctx, elastic.Request{Method: http.MethodPost, Path: search.Path(indices...), Body: body}, elastic.Searched)
	if err != nil {
		return search.Result{}, fmt.Errorf("searching %s: %w", strings.Join(indices, ", "), err)
	}
	result, err := search.ReadResult(answer)
	if err != nil {
		return search.Result{}, fmt.Errorf("searching %s: %w", strings.Join(indices, ", "), err)
	}
	return result, nil
}
