package indexer

import (
	"bytes"
	"context"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
)

// shardTimeout is how long Elasticsearch waits for a shard before it answers 503 for an item.
const shardTimeout = 20 * time.Second

// bulk sends the documents of changes of one kind to an index, in one request. It returns the
// answer to each, in order. An error is about the bulk as a whole.
func (x *Indexer) bulk(ctx context.Context, to string, batch []prepared) (items []elastic.Answer, err error) {
	var body []byte
	if len(batch) == 1 { // it may be large
		body = batch[0].lines
	} else {
		body = make([]byte, 0, lines(batch))
		for _, p := range batch {
			body = append(body, p.lines...)
		}
	}
	_, err = x.client.Ask(ctx, esapi.BulkRequest{
		Index: to, Body: bytes.NewReader(body), Timeout: shardTimeout, FilterPath: elastic.BulkFilter,
	}, func(answer []byte) (err error) {
		items, err = elastic.ReadBulk(answer, to, sent(batch))
		return err
	})
	return items, err
}

func lines(batch []prepared) (size int) {
	for _, p := range batch {
		size += len(p.lines)
	}
	return size
}

func sent(batch []prepared) []elastic.Sent {
	all := make([]elastic.Sent, len(batch))
	for i, p := range batch {
		all[i] = elastic.Sent{Op: p.change.Op, ID: p.change.ID, Version: p.change.Version}
	}
	return all
}
