package verify

import (
	"encoding/json"
	"errors"
	"fmt"

	"riskdex/report"
)

// snapshot is an index at one moment, read page by page.
type snapshot struct {
	id    string
	after json.RawMessage // where the last page ended; nil before the first
	total int             // documents in it, known with the first page
	done  int             // documents read
}

// read parses a page. It returns an error if the page may lack documents.
func (s *snapshot) read(text []byte, page int) ([]report.ID, error) {
	var body struct {
		ID   string `json:"pit_id"`
		Hits struct {
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
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, fmt.Errorf("a page of the snapshot cannot be read: %w", err)
	}
	total := s.total
	if s.after == nil {
		if body.Hits.Total == nil || body.Hits.Total.Relation != "eq" {
			return nil, errors.New("the snapshot does not say how many documents it has")
		}
		total = body.Hits.Total.Value
	}
	if want := min(page, total-s.done); len(body.Hits.Hits) != want {
		return nil, fmt.Errorf("a page of the snapshot has %d documents instead of %d", len(body.Hits.Hits), want)
	}
	ids := make([]report.ID, 0, len(body.Hits.Hits))
	for _, h := range body.Hits.Hits {
		if h.ID == "" || len(h.Sort) == 0 {
			return nil, errors.New("a page of the snapshot has documents without a name or a place")
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
	return ids, nil
}
