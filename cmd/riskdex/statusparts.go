package main

import (
	"context"

	"github.com/elastic/go-elasticsearch/v8"

	"riskdex/admin"
	"riskdex/indexer"
	"riskdex/mappings"
	"riskdex/receiver"
	"riskdex/report"
)

// noteIn has the admin listener remember what the receiver has answered.
func noteIn(last *admin.Deliveries) func(receiver.Answered) {
	return func(a receiver.Answered) {
		last.Note(admin.Delivery{
			At: a.At.UTC(), Kind: a.Kind, Method: a.Method, Status: a.Status,
			Reason: a.Reason, Accepted: a.Accepted, Refused: a.Refused,
		})
	}
}

// waitingIn lets the admin listener see which indices wait.
func waitingIn(x *indexer.Indexer) func() []admin.Waiting {
	return func() []admin.Waiting {
		var list []admin.Waiting
		for _, w := range x.Waiting() {
			list = append(list, admin.Waiting{
				Kind: w.Kind, Index: w.Index, Held: w.Held, Reason: w.Reason,
				ErrorType: w.ErrorType, Detail: w.Detail, Since: w.Since.UTC(),
			})
		}
		return list
	}
}

// index lets the admin listener search as the search command does.
type index struct {
	client  *elasticsearch.Client
	indices *mappings.Indices
	set     *mappings.Set
}

// countBody finds nothing, and how many there are.
const countBody = `{"size": 0, "track_total_hits": true}`

// Documents implements admin.Index.
func (x index) Documents(ctx context.Context, kind report.Kind) (int, error) {
	found, err := mappings.Search(ctx, x.client, []string{x.indices.Alias(kind)}, []byte(countBody))
	return found.Total, err
}

// Search implements admin.Index.
func (x index) Search(ctx context.Context, words string) (admin.Found, error) {
	body, err := x.set.SearchBody(words, mappings.SearchOptions{})
	if err != nil {
		return admin.Found{}, err
	}
	var aliases []string
	for _, kind := range report.Kinds() {
		aliases = append(aliases, x.indices.Alias(kind))
	}
	result, err := mappings.Search(ctx, x.client, aliases, body)
	found := admin.Found{Total: result.Total, More: result.More}
	for _, h := range result.Hits {
		found.Hits = append(found.Hits, admin.Hit{
			Kind: h.Kind, ID: h.ID, Title: h.Title, Code: h.Code, Countries: h.Countries,
			RiskLevel: h.RiskLevel, Excerpts: excerpts(h),
		})
	}
	return found, err
}
