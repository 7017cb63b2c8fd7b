package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/report"
)

// findTimeout bounds one search for the probe.
const findTimeout = 10 * time.Second

// findBody searches for the probe by its id, which works with any mapping. Unlike a request for
// the document itself, a search sees only what the last refresh made visible, and causes no
// refresh.
const findBody = `{"query":{"ids":{"values":["` + string(probeID) + `"]}},"size":1,"version":true,"_source":false,"track_total_hits":false}`

// find returns the version of the probe that a search finds, or 0.
func (p *Prober) find(ctx context.Context) (report.Version, error) {
	if p.foreign() {
		return 0, fmt.Errorf("search %s: %w", p.alias, report.ErrAnotherJournal)
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	cached := false
	text, err := p.client.Ask(ctx, esapi.SearchRequest{
		Index: []string{p.alias}, Body: strings.NewReader(findBody), RequestCache: &cached,
		FilterPath: []string{"hits.hits._id", "hits.hits._version", "error.type", "error.reason"},
	})
	if err != nil {
		return 0, fmt.Errorf("search %s: %w", p.alias, err)
	}
	var answer struct {
		Hits struct {
			Hits []struct {
				ID      report.ID      `json:"_id"`
				Version report.Version `json:"_version"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, fmt.Errorf("search %s: read the answer: %w", p.alias, err)
	}
	for _, hit := range answer.Hits.Hits {
		if hit.ID == probeID {
			return hit.Version, nil
		}
	}
	return 0, nil
}
