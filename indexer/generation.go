package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// generation is a hash of Elasticsearch's nodes and their start times. It changes when a node
// dies or restarts, which distinguishes that from an answer lost on the way. It is 0 if
// unknown.
type generation uint64

// generation asks Elasticsearch for its present generation.
func (x *Indexer) generation(ctx context.Context) (generation, error) {
	text, err := x.client.Ask(ctx, esapi.NodesInfoRequest{
		Metric: []string{"jvm"}, FilterPath: []string{"_nodes.failed", "nodes.*.jvm.start_time_in_millis"},
	})
	if err != nil {
		return 0, err
	}
	now, ok := generationOf(text)
	if !ok {
		return 0, errors.New("the answer does not say which nodes there are")
	}
	return now, nil
}

func generationOf(text []byte) (generation, bool) {
	var body struct {
		Of struct {
			Failed int `json:"failed"`
		} `json:"_nodes"`
		Nodes map[string]struct {
			JVM struct {
				Started int64 `json:"start_time_in_millis"`
			} `json:"jvm"`
		} `json:"nodes"`
	}
	if json.Unmarshal(text, &body) != nil || body.Of.Failed > 0 || len(body.Nodes) == 0 {
		return 0, false
	}
	sum := fnv.New64a()
	for _, id := range slices.Sorted(maps.Keys(body.Nodes)) {
		fmt.Fprintln(sum, id, body.Nodes[id].JVM.Started)
	}
	return generation(max(1, sum.Sum64())), true
}
