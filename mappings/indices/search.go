package indices

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"riskdex/elastic"
	"riskdex/mappings"
	"riskdex/report"
)

// Search runs a body made by SearchBody or CompleteBody on every alias that apps search.
func (x *Indices) Search(ctx context.Context, body []byte) (mappings.Result, error) {
	return Search(ctx, x.Client, x.Searched(), body)
}

// TrySearches searches some aliases as apps do, and completes. It does not matter what is found: the
// error says why there is no complete answer.
func (x *Indices) TrySearches(ctx context.Context, aliases ...string) error {
	for _, try := range []struct {
		file, words string
		body        func(string, mappings.SearchOptions) ([]byte, error)
	}{
		{"search.json", "protest london", x.Set.SearchBody},
		{"complete.json", "lond", x.Set.CompleteBody},
	} {
		body, err := try.body(try.words, mappings.SearchOptions{Size: 1})
		if err == nil {
			_, err = Search(ctx, x.Client, aliases, body)
		}
		if err != nil {
			return fmt.Errorf("with %s: %w", try.file, err)
		}
	}
	return nil
}

// SearchPath returns the path and the query of the request that Search makes.
func (x *Indices) SearchPath() string { return mappings.SearchPath(x.Searched()...) }

// Searched returns every alias that apps search.
func (x *Indices) Searched() []string {
	var aliases []string
	for _, kind := range report.Kinds() {
		aliases = append(aliases, x.Alias(kind))
	}
	return aliases
}

// Score explains the score that a document has in the search of body. It returns false if
// the search does not find it.
func (x *Indices) Score(ctx context.Context, body []byte, key report.Key) (mappings.Score, bool, error) {
	asked, err := mappings.ScoreBody(body, key.ID)
	if err != nil {
		return mappings.Score{}, false, err
	}
	answer, err := x.Client.Ask(ctx, elastic.Request{Method: http.MethodPost, Path: mappings.ScorePath(x.Alias(key.Kind)), Body: asked}, elastic.Searched)
	if err != nil {
		return mappings.Score{}, false, fmt.Errorf("explaining the score of %s/%s: %w", key.Kind, key.ID, err)
	}
	return mappings.ReadScore(answer, body)
}

// Search is Indices.Search for some aliases or indices.
func Search(ctx context.Context, client *elastic.Client, indices []string, body []byte) (mappings.Result, error) {
	answer, err := client.Ask(ctx, elastic.Request{Method: http.MethodPost, Path: mappings.SearchPath(indices...), Body: body}, elastic.Searched)
	if err != nil {
		return mappings.Result{}, fmt.Errorf("searching %s: %w", strings.Join(indices, ", "), err)
	}
	result, err := mappings.ReadResult(answer)
	if err != nil {
		return mappings.Result{}, fmt.Errorf("searching %s: %w", strings.Join(indices, ", "), err)
	}
	return result, nil
}
