package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/report"
)

// findTimeout bounds one search for the probe.
const findTimeout = 10 * time.Second

// ClockBound is how far the clock by which deliveries are accepted may differ from that of
// Elasticsearch.
const ClockBound = time.Minute

// Clock is how those clocks differ.
type Clock int32

// The values of a Clock are those of its metric.
const (
	ClockBehind Clock = -1 // by more than ClockBound
	ClockAgrees Clock = 0
	ClockAhead  Clock = 1 // by more than ClockBound
)

// foundProbe is the probe as a search finds it.
type foundProbe struct {
	version report.Version // 0 if it finds none
	clock   Clock          // if it was accepted when the search was told that it was
}

// findBody searches for the probe by its id, which works with any mapping. Unlike a request for
// the document itself, a search sees only what the last refresh made visible, and causes no
// refresh. Elasticsearch compares the time at which the probe was accepted, age ago, with its own.
func findBody(age time.Duration) string {
	bound := int(ClockBound.Seconds())
	return fmt.Sprintf(`{"query":{"bool":{"filter":{"ids":{"values":[%q]}},"should":[`+
		`{"range":{"received_at":{"gt":"now+%ds","_name":"ahead"}}},{"range":{"received_at":{"lt":"now-%ds","_name":"behind"}}}]}},`+
		`"size":1,"version":true,"_source":false,"track_total_hits":true}`, probeID, bound, bound+1+int(age.Seconds()))
}

// find searches for the probe, which was accepted age ago.
func (p *Prober) find(ctx context.Context, age time.Duration) (found foundProbe, err error) {
	if p.ownedByOther() {
		return found, fmt.Errorf("search %s: %w", p.alias, report.ErrAnotherJournal)
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	cached := false
	text, err := p.client.Ask(ctx, esapi.SearchRequest{
		Index: []string{p.alias}, Body: strings.NewReader(findBody(age)), RequestCache: &cached,
		FilterPath: []string{"timed_out", "_shards", "hits.total", "hits.hits._id", "hits.hits._version", "hits.hits.matched_queries", "error"},
	}, elastic.Searched)
	if err != nil {
		return found, fmt.Errorf("search %s: %w", p.alias, err)
	}
	var answer struct {
		Hits struct {
			Hits []struct {
				ID      report.ID      `json:"_id"`
				Version report.Version `json:"_version"`
				Matched []string       `json:"matched_queries"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return found, fmt.Errorf("search %s: read the answer: %w", p.alias, err)
	}
	for _, hit := range answer.Hits.Hits {
		if hit.ID != probeID {
			continue
		}
		found.version = hit.Version
		switch {
		case slices.Contains(hit.Matched, "ahead"):
			found.clock = ClockAhead
		case slices.Contains(hit.Matched, "behind"):
			found.clock = ClockBehind
		}
	}
	return found, nil
}
