package indexer

import (
	"encoding/json"

	"riskdex/report"
)

// snapshot is an index as it was at one moment, read page by page.
type snapshot struct {
	id    string
	after json.RawMessage // where the last page ended; nil at first
	total int             // documents in it, known with the first page
	done  int             // documents read
}

type shards struct {
	Total, Successful, Failed int
}

// whole tells that every shard has answered.
func (s *shards) whole() bool {
	return s != nil && s.Total > 0 && s.Failed == 0 && s.Successful == s.Total
}

// read takes in a page. One that may lack documents is none: neither one with
// shards that failed or were given up in time, nor one that ends too early.
func (s *snapshot) read(text []byte, page int) ([]report.ID, answer, bool) {
	var body struct {
		ID       string  `json:"pit_id"`
		TimedOut *bool   `json:"timed_out"`
		Shards   *shards `json:"_shards"`
		Hits     struct {
			Total *struct {
				Value    int    `json:"value"`
				Relation string `json:"relation"`
			} `json:"total"`
			Hits []struct {
				ID   report.ID       `json:"_id"`
				Sort json.RawMessage `json:"sort"`
			} `json:"hits"`
		} `json:"hits"`
	}
	fail := func(a answer, _ bool) ([]report.ID, answer, bool) { return nil, a, false }
	if err := json.Unmarshal(text, &body); err != nil {
		return fail(unreadable("a page of the snapshot cannot be read: %v", err))
	}
	if body.TimedOut == nil || *body.TimedOut || !body.Shards.whole() {
		return fail(unreadable("a page of the snapshot lacks shards"))
	}
	total := s.total
	if s.after == nil {
		if body.Hits.Total == nil || body.Hits.Total.Relation != "eq" {
			return fail(unreadable("the snapshot does not say how many documents it has"))
		}
		total = body.Hits.Total.Value
	}
	if want := min(page, total-s.done); len(body.Hits.Hits) != want {
		return fail(unreadable("a page of the snapshot has %d documents instead of %d", len(body.Hits.Hits), want))
	}
	ids := make([]report.ID, 0, len(body.Hits.Hits))
	for _, h := range body.Hits.Hits {
		if h.ID == "" || len(h.Sort) == 0 {
			return fail(unreadable("a page of the snapshot has documents without a name or a place"))
		}
		ids = append(ids, h.ID)
	}
	if len(ids) > 0 {
		s.after = body.Hits.Hits[len(ids)-1].Sort
	}
	s.total, s.done = total, s.done+len(ids)
	if body.ID != "" {
		s.id = body.ID
	}
	return ids, answer{}, true
}
