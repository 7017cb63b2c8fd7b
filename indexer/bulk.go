package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// shardTimeout is how long Elasticsearch itself waits for a shard before it
// answers 503 for an item, and requestTimeout how long riskdex waits for any
// answer. Both end a turn, never a change.
const (
	shardTimeout   = 20 * time.Second
	requestTimeout = 60 * time.Second
)

// destination is where a bulk goes.
type destination struct {
	name  string
	alias bool // it must be an alias: never make an index of that name
}

// bulk sends the documents of changes, which are all of one kind, in one
// request and returns an answer for each, in order, and the index that they went
// to. A failure of the whole is one answer of the level request or transport for
// all.
func (x *Indexer) bulk(ctx context.Context, to destination, batch []prepared) (items []answer, index string, failure answer, ok bool) {
	size := 0
	for _, p := range batch {
		size += len(p.lines)
	}
	body := make([]byte, 0, size)
	for _, p := range batch {
		body = append(body, p.lines...)
	}
	failure, ok = question{
		request: func() esapi.Request {
			return esapi.BulkRequest{
				Index: to.name, Body: bytes.NewReader(body), RequireAlias: &to.alias, Timeout: shardTimeout,
				FilterPath: []string{"items.*._index", "items.*._id", "items.*.status", "items.*.error.type", "items.*.error.reason", "error.type", "error.reason", "status"},
			}
		},
		read: func(text []byte) (answer, bool) {
			var err error
			if items, index, err = itemAnswers(text, batch); err != nil {
				return unreadable("%v", err)
			}
			return answer{}, true
		},
	}.attempt(ctx, x.client)
	return items, index, failure, ok
}

// esError is Elasticsearch's description of what went wrong.
type esError struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// itemAnswers reads the answer to every item by position. An answer that does
// not fit the request, one item to one change, says nothing for sure about any
// of them. It also returns the index that they were written to.
func itemAnswers(text []byte, batch []prepared) (answers []answer, index string, err error) {
	var body struct {
		Items []map[string]struct {
			Index  string   `json:"_index"`
			ID     string   `json:"_id"`
			Status int      `json:"status"`
			Error  *esError `json:"error"`
		} `json:"items"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, "", fmt.Errorf("the answer to a bulk of %d cannot be read: %w", len(batch), err)
	}
	if len(body.Items) != len(batch) {
		return nil, "", fmt.Errorf("the answer to a bulk of %d has %d items", len(batch), len(body.Items))
	}
	answers = make([]answer, len(batch))
	for i, actions := range body.Items {
		got, ok := actions[string(batch[i].change.Op)]
		if !ok || got.ID != string(batch[i].change.ID) {
			return nil, "", fmt.Errorf("item %d of the answer to a bulk is not for the change that was sent there", i)
		}
		answers[i] = answer{level: item, status: got.Status, op: batch[i].change.Op}
		if got.Error == nil {
			index = got.Index // of a write that was refused it may be the alias
		} else {
			answers[i].errorType, answers[i].detail = got.Error.Type, got.Error.Reason
		}
	}
	return answers, index, nil
}
