package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
)

// shardTimeout is how long Elasticsearch waits for a shard before it answers 503 for an item.
const shardTimeout = 20 * time.Second

// bulk sends the documents of changes of one kind to an index, in one request. It returns the
// answer to each, in order. An error is about the bulk as a whole.
func (x *Indexer) bulk(ctx context.Context, to string, batch []prepared) (items []elastic.Answer, err error) {
	size := 0
	for _, p := range batch {
		size += len(p.lines)
	}
	body := make([]byte, 0, size)
	for _, p := range batch {
		body = append(body, p.lines...)
	}
	text, err := x.client.Ask(ctx, esapi.BulkRequest{
		Index: to, Body: bytes.NewReader(body), Timeout: shardTimeout,
		FilterPath: []string{"items.*._id", "items.*.status", "items.*.error.type", "items.*.error.reason", "error.type", "error.reason", "status"},
	})
	if err != nil {
		return nil, err
	}
	return itemAnswers(text, batch)
}

// itemAnswers parses the answer to every item by position. If the items do not match the changes one to one, it returns an error, since nothing is
// certain about any of them then.
func itemAnswers(text []byte, batch []prepared) (answers []elastic.Answer, err error) {
	var body struct {
		Items []map[string]struct {
			ID     string              `json:"_id"`
			Status int                 `json:"status"`
			Error  *elastic.ErrorCause `json:"error"`
		} `json:"items"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, fmt.Errorf("the answer to a bulk of %d cannot be read: %w", len(batch), err)
	}
	if len(body.Items) != len(batch) {
		return nil, fmt.Errorf("the answer to a bulk of %d has %d items", len(batch), len(body.Items))
	}
	answers = make([]elastic.Answer, len(batch))
	for i, actions := range body.Items {
		got, ok := actions[string(batch[i].change.Op)]
		if !ok || got.ID != string(batch[i].change.ID) {
			return nil, fmt.Errorf("item %d of the answer to a bulk is not for the change that was sent there", i)
		}
		answers[i] = elastic.Answer{Level: elastic.LevelItem, Status: got.Status, Op: batch[i].change.Op}
		if got.Error != nil {
			answers[i].ErrorType, answers[i].Detail = got.Error.Type, got.Error.Reason
		}
	}
	return answers, nil
}
