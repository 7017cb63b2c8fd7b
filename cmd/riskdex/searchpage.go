package main

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"riskdex/admin"
	"riskdex/mappings"
	"riskdex/report"
)

// Threats implements admin.Index.
func (x index) Threats() []string { return x.set.Threats() }

// Search implements admin.Index.
func (x index) Search(ctx context.Context, s admin.Search) (admin.Found, error) {
	body, err := x.body(s)
	if err != nil {
		return admin.Found{}, err
	}
	result, err := x.indices.Search(ctx, body)
	found := admin.Found{
		Total: result.Total, More: result.More, DidYouMean: result.DidYouMean,
		Request: admin.Request{Path: x.indices.SearchPath(), Body: body},
	}
	for _, h := range result.Hits {
		found.Hits = append(found.Hits, admin.Hit{
			Kind: h.Kind, ID: h.ID, Score: h.Score, Title: h.Title, Code: h.Code, Countries: h.Countries,
			RiskLevel: h.RiskLevel, Threats: h.Threats, Excerpts: excerpts(h),
		})
	}
	for _, field := range slices.Sorted(maps.Keys(result.Facets)) {
		facet := admin.Facet{Field: field}
		for _, count := range result.Facets[field] {
			facet.Values = append(facet.Values, admin.FacetValue(count))
		}
		found.Facets = append(found.Facets, facet)
	}
	return found, err
}

// Score implements admin.Index.
func (x index) Score(ctx context.Context, s admin.Search, key report.Key) (admin.Score, error) {
	body, err := x.body(s)
	if err != nil {
		return admin.Score{}, err
	}
	score, found, err := x.indices.Score(ctx, body, key)
	explained := admin.Score{Found: found, Total: score.Total, Raw: score.Raw}
	for _, r := range score.Reasons {
		reason := admin.Reason{Says: r.Clause, Score: r.Score}
		for _, t := range r.Terms {
			if t.Score < tooLittle && len(reason.Terms) > 0 {
				continue
			}
			reason.Terms = append(reason.Terms, admin.Term{Field: fieldsInWords(t.Fields), Words: wordsInWords(t.Words), Score: t.Score})
		}
		explained.Reasons = append(explained.Reasons, reason)
	}
	return explained, err
}

// tooLittle is a score that is not worth a person's time.
const tooLittle = 0.05

// wordsInWords returns words of the index as people write them.
func wordsInWords(words []string) string {
	return strings.ReplaceAll(strings.Join(words, ", or "), "_", " ")
}

// body returns the request of a search. The error is an *admin.Problem.
func (x index) body(s admin.Search) ([]byte, error) {
	body, err := x.set.SearchBody(s.Words, mappings.SearchOptions{Kinds: s.Kinds, Countries: s.Countries, Threats: s.Threats, RiskLevel: s.RiskLevel, From: s.From})
	if err != nil {
		return nil, &admin.Problem{Status: http.StatusBadRequest, Detail: err.Error()}
	}
	return body, nil
}

// fieldsInWords says where something was found.
func fieldsInWords(fields []string) string {
	var all []string
	for _, field := range fields {
		if words := mappings.FieldInWords(field); !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	return strings.Join(all, ", or ")
}
