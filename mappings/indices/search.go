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
	var aliases []string
	for _, kind := range report.Kinds() {
		aliases = append(aliases, x.Alias(kind))
	}
	return Search(ctx, x.Client, aliases, body)
}

// Search is Indices.Search for some aliases or indices.
func Search(ctx context.Context, client *elastic.Client, indices []string, body []byte) (mappings.Result, error) {
	answer, err := client.Ask(ctx, elastic.Request{Method: http.MethodPost, Path: mappings.SearchPath(indices...), Body: body})
	if err != nil {
		return mappings.Result{}, fmt.Errorf("searching %s: %w", strings.Join(indices, ", "), err)
	}
	result, err := mappings.ReadResult(answer)
	if err != nil {
		return mappings.Result{}, fmt.Errorf("searching %s: %w", strings.Join(indices, ", "), err)
	}
	return result, nil
}
