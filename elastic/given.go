package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/report"
)

// given is a document with what riskdex wrote into it.
type given struct {
	ID      report.ID       `json:"_id"`
	Version report.Version  `json:"_version"`
	Source  json.RawMessage `json:"_source"`
	Sort    []int64         `json:"sort"` // of a document found by givenSort
}

// givenSort finds the newest versions first. It has the values of a document that stamp needs, which
// are then not read from its source: that could be expensive.
const givenSort = `[{"version":{"order":"desc","unmapped_type":"long","missing":"_last"}},{"received_at":{"order":"desc","unmapped_type":"date","missing":0}}]`

// stamp reports whether riskdex gave a document its version: that is in the document as well, and is
// none from before its delivery was received, as versions come from the clock. What somebody else has
// written says something else of these, or nothing.
func (g given) stamp(kind report.Kind) (s report.Stamp, is bool) {
	var says struct {
		Version  report.Version `json:"version"`
		Received time.Time      `json:"received_at"`
	}
	if len(g.Sort) == 2 {
		says.Version, says.Received = report.Version(g.Sort[0]), time.UnixMilli(g.Sort[1])
	} else if json.Unmarshal(g.Source, &says) != nil {
		return s, false
	}
	since := says.Received.UnixMicro()
	return report.Stamp{Key: report.Key{Kind: kind, ID: g.ID}, Version: g.Version}, since > 0 && g.Version == says.Version && int64(g.Version) >= since
}

// GivenOf returns the versions of those documents of an index that riskdex gave their version.
func (c *Client) GivenOf(ctx context.Context, kind report.Kind, index string, ids []report.ID) ([]report.Stamp, error) {
	query, err := json.Marshal(map[string][]report.ID{"ids": ids})
	if err != nil {
		return nil, err
	}
	request := esapi.MgetRequest{Index: index, Body: bytes.NewReader(query), Source: []string{"version", "received_at"}}
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
	partial := false
	answer, err := c.Ask(ctx, esapi.SearchRequest{
		Index: []string{index}, AllowPartialSearchResults: &partial,
		Body: strings.NewReader(fmt.Sprintf(`{"size":%d,"version":true,"_source":%t,"track_total_hits":false,"sort":%s}`, limit, kind == report.Probe, givenSort)),
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
			var probe struct {
				Source struct {
					Given []report.Carried `json:"given"`
				} `json:"source"`
			}
			if json.Unmarshal(g.Source, &probe) != nil {
				continue
			}
			for _, c := range probe.Source.Given {
				stamps = append(stamps, report.Stamp{Key: report.Key{Kind: c.Kind, ID: c.ID}, Version: c.Version})
			}
		} else if s, is := g.stamp(kind); is {
			stamps = append(stamps, s)
		}
	}
	return stamps
}
