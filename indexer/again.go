package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/report"
)

// confirm looks once more at documents that were sent again and refused. Where
// the index has that very version, it is not the document that is refused but its
// new form, made for a mapping that this index does not have: it is no dead
// letter, apps see it.
func (x *Indexer) confirm(ctx context.Context, kind report.Kind, batch []prepared, judgements []*judgement) {
	var ids []string
	for i, j := range judgements {
		if j != nil && j.verdict == dead && batch[i].change.Again {
			ids = append(ids, string(batch[i].change.ID))
		}
	}
	if len(ids) == 0 {
		return
	}
	has, err := x.versions(ctx, x.indices.Alias(kind), ids)
	for i, j := range judgements {
		c := batch[i].change
		switch {
		case j == nil || j.verdict != dead || !c.Again:
		case err != nil:
			*j = judgeError(err)
		case has[c.ID] >= c.Version:
			*j = judgement{verdict: superseded, answer: j.answer}
		}
	}
}

// versions returns the versions that an index has of those of ids that it has.
func (x *Indexer) versions(ctx context.Context, index string, ids []string) (map[report.ID]report.Version, error) {
	body, err := json.Marshal(map[string][]string{"ids": ids})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	res, err := esapi.MgetRequest{
		Index: index, Body: bytes.NewReader(body), Source: []string{"false"},
	}.Do(ctx, x.client)
	if err != nil {
		return nil, fmt.Errorf("look up versions in %s: %w", index, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes(len(ids))))
	if err != nil {
		return nil, fmt.Errorf("look up versions in %s: %w", index, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("look up versions in %s: status %d", index, res.StatusCode)
	}
	var answer struct {
		Docs []struct {
			ID      report.ID       `json:"_id"`
			Version report.Version  `json:"_version"`
			Found   bool            `json:"found"`
			Error   json.RawMessage `json:"error"`
		} `json:"docs"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("look up versions in %s: %w", index, err)
	}
	has := map[report.ID]report.Version{}
	for _, d := range answer.Docs {
		if d.Error != nil {
			return nil, fmt.Errorf("look up versions in %s: %.300s", index, d.Error)
		}
		if d.Found {
			has[d.ID] = d.Version
		}
	}
	return has, nil
}
