package mappings

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// Result is what a search found.
type Result struct {
	Total int   // documents that match
	More  bool  // Total is a lower bound
	Hits  []Hit // best first, unless the search asked for the nearest first

	// DidYouMean is the search with likelier words in place of those that no report has. It
	// is empty if there is nothing to correct.
	DidYouMean string

	// Facets count the matching documents by the values of a field: kind, country,
	// risk_level, threats. The most frequent values come first.
	Facets map[string][]Count
}

// Count is a value of a field and how many documents have it.
type Count struct {
	Value     string
	Documents int
}

// Hit is one document that was found.
type Hit struct {
	Kind      report.Kind
	ID        report.ID
	Score     float64
	Code      string
	Title     string
	Countries []string // ISO 3166 alpha-2
	RiskLevel int      // 1 to 5; 0 if the report states none
	RiskLabel string
	Threats   []string // of threats.json

	clauses []string // the clauses of search.json that found it, by name

	// Highlights are excerpts around what matches, by field, as HTML: what matches is
	// within <em>, everything else is escaped.
	Highlights map[string][]string
}

// SearchPath returns the path and the query of a search in aliases. docs/search.md tells apps to
// use the same, so riskdex sees what they see. A missing alias, a closed index or a shard
// that cannot answer fails the whole search: otherwise a report could be left out silently,
// and nobody would be told of the danger.
func SearchPath(aliases ...string) string {
	return "/" + strings.Join(aliases, ",") + "/_search?allow_partial_search_results=false"
}

// ReadResult reads the answer to a search whose body was made by SearchBody or CompleteBody.
func ReadResult(answer []byte) (Result, error) {
	var found searchAnswer
	if err := json.Unmarshal(answer, &found); err != nil {
		return Result{}, fmt.Errorf("reading the answer: %w", err)
	}
	result := Result{Total: found.Hits.Total.Value, More: found.Hits.Total.Relation != "eq"}
	for _, hit := range found.Hits.Hits {
		result.Hits = append(result.Hits, Hit{
			Kind:       hit.Source.Kind,
			ID:         report.ID(hit.ID),
			Score:      hit.Score,
			Code:       hit.Source.Code,
			Title:      hit.Source.Title,
			Countries:  hit.Source.Country,
			RiskLevel:  hit.Source.RiskLevel,
			RiskLabel:  hit.Source.RiskLabel,
			Threats:    hit.Source.Threats,
			clauses:    hit.Clauses,
			Highlights: hit.Highlight,
		})
	}
	result.DidYouMean = didYouMean(found.Suggest.DidYouMean, result.Hits)
	for field, facet := range found.Facets {
		if result.Facets == nil {
			result.Facets = make(map[string][]Count)
		}
		for _, bucket := range facet.Buckets {
			value := strings.Trim(string(bucket.Key), `"`)
			if field == "country" { // the index compares countries without regard to case
				value = strings.ToUpper(value)
			}
			result.Facets[field] = append(result.Facets[field], Count{value, bucket.Documents})
		}
	}
	return result, nil
}

type searchAnswer struct {
	Hits struct {
		Total struct {
			Value    int    `json:"value"`
			Relation string `json:"relation"`
		} `json:"total"`
		Hits []struct {
			ID     string  `json:"_id"`
			Score  float64 `json:"_score"`
			Source struct {
				Kind      report.Kind `json:"kind"`
				Code      string      `json:"code"`
				Title     string      `json:"title"`
				Country   oneOrMore   `json:"country"`
				RiskLevel int         `json:"risk_level"`
				RiskLabel string      `json:"risk_label"`
				Threats   oneOrMore   `json:"threats"`
			} `json:"_source"`
			Clauses   []string            `json:"matched_queries"`
			Highlight map[string][]string `json:"highlight"`
		} `json:"hits"`
	} `json:"hits"`
	Suggest struct {
		DidYouMean []suggestion `json:"did_you_mean"`
	} `json:"suggest"`
	Facets map[string]struct {
		Buckets []struct {
			Key       jsontext.Value `json:"key"` // a string or a number
			Documents int            `json:"doc_count"`
		} `json:"buckets"`
	} `json:"aggregations"`
}

// oneOrMore is a field that is a string or an array of strings.
type oneOrMore []string

// UnmarshalJSONFrom reads either form.
func (o *oneOrMore) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		return json.UnmarshalDecode(d, (*[]string)(o))
	}
	var one string
	if err := json.UnmarshalDecode(d, &one); err != nil {
		return err
	}
	*o = oneOrMore{one}
	return nil
}
