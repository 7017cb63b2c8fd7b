package indices

import (
	"context"
	"fmt"
	"net/http"

	"riskdex/elastic"
	"riskdex/report"
	"riskdex/search"
)

// Fields returns how many documents of a kind have each field, of those that searches find.
func (x *Indices) Fields(ctx context.Context, kind report.Kind) (report.Fields, error) {
	answer, err := x.Client.Ask(ctx, elastic.Request{Method: http.MethodPost, Path: search.Path(x.Alias(kind)), Body: x.Set.FieldsBody(kind)}, elastic.Searched)
	if err != nil {
		return report.Fields{}, fmt.Errorf("counting the documents of %s by their fields: %w", kind, err)
	}
	return x.Set.ReadFields(kind, answer)
}
