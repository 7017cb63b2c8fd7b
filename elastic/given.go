package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/report"
)

// given is a document with the version that riskdex wrote into it.
type given struct {
	ID      report.ID      `json:"_id"`
	Version report.Version `json:"_version"`
	Source  struct {
		Version report.Version `json:"version"`
		Source  struct {
			Given []report.Carried `json:"given"`
		} `json:"source"`
	} `json:"_source"`
	Sort []report.Version `json:"sort"` // what the version in the document is, of a document found in its order
}

// stamp reports whether riskdex gave a document its version: it is in the document as well. What
// somebody else has written has another one there, or none.
func (g given) stamp(kind report.Kind) (s report.Stamp, is bool) {
	return report.Stamp{Key: report.Key{Kind: kind, ID: g.ID}, Version: g.Version}, g.Version > 0 && (g.Version == g.Source.Version || len(g.Sort) > 0 && g.Version == g.Sort[0])
}

// GivenOf returns the versions of those documents of an index that riskdex gave their version.
func (c *Client) GivenOf(ctx context.Context, kind report.Kind, index string, ids []report.ID) ([]report.Stamp, error) {
	query, err := json.Marshal(map[string][]report.ID{"ids": ids})
	if err != nil {
		return nil, err
	}
	request := esapi.MgetRequest{Index: index, Body: bytes.NewReader(query), Source: []string{"version"}}
	answer, err := c.Ask(ctx, request, func(answer []byte) error {
		_, err := readDocuments(answer, ids)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read which versions the index %s has: %w", index, err)
	}
	var body struct {
		Docs []given `json:"docs"`
	}
	if err := json.Unmarshal(answer, &body); err != nil {
		return nil, fmt.Errorf("read which versions the index %s has: %w", index, err)
	}
	return stampsOf(kind, body.Docs), nil
}

// NewestGiven returns the highest versions in an index that riskdex gave a document, up to limit,
// and what the probe carries.
func (c *Client) NewestGiven(ctx context.Context, kind report.Kind, index string, limit int) ([]report.Stamp, error) {
	source := "false" // reading it for each document is what could be expensive
	if kind == report.Probe {
		source = "true"
	}
	partial := false
	answer, err := c.Ask(ctx, esapi.SearchRequest{
		Index: []string{index}, AllowPartialSearchResults: &partial,
		Body: strings.NewReader(fmt.Sprintf(`{"size":%d,"version":true,"_source":%s,"track_total_hits":false,
			"sort":[{"version":{"order":"desc","unmapped_type":"long","missing":"_last"}}]}`, limit, source)),
	}, Searched)
	if err != nil {
		return nil, fmt.Errorf("find the newest versions in the index %s: %w", index, err)
	}
	var body struct {
		Hits struct {
			Hits []given `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(answer, &body); err != nil {
		return nil, fmt.Errorf("find the newest versions in the index %s: read the answer: %w", index, err)
	}
	return stampsOf(kind, body.Hits.Hits), nil
}

func stampsOf(kind report.Kind, list []given) (stamps []report.Stamp) {
	for _, g := range list {
		if kind == report.Probe {
			for _, c := range g.Source.Source.Given {
				stamps = append(stamps, report.Stamp{Key: report.Key{Kind: c.Kind, ID: c.ID}, Version: c.Version})
			}
		} else if s, is := g.stamp(kind); is {
			stamps = append(stamps, s)
		}
	}
	return stamps
}
