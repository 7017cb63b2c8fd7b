package main

import (
	"context"

	"riskdex/report"
	"riskdex/search"
)

// Threats implements admin.Index.
func (x index) Threats() []string { return x.set.Threats() }

// Search implements admin.Index.
func (x index) Search(ctx context.Context, q search.Query) (search.Result, error) {
	return x.indices.Ask(ctx, q)
}

// Score implements admin.Index.
func (x index) Score(ctx context.Context, q search.Query, key report.Key) (search.Score, error) {
	return x.indices.Score(ctx, q, key)
}
