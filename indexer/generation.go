package indexer

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
)

// generation is a hash of Elasticsearch's nodes and their start times. It changes when a node
// dies or restarts, which distinguishes that from an answer lost on the way. It is 0 if
// unknown.
type generation uint64

// generation asks Elasticsearch for its present generation.
func (x *Indexer) generation(ctx context.Context) (generation, error) {
	text, err := x.client.Ask(ctx, esapi.NodesInfoRequest{
		Metric: []string{"jvm"}, FilterPath: []string{"_nodes", "nodes.*.jvm.start_time_in_millis", "error"},
	}, elastic.Nodes)
	if err != nil {
		return 0, err
	}
	return generationOf(text)
}

func generationOf(text []byte) (generation, error) {
	var body struct {
		Nodes map[string]struct {
			JVM struct {
				Started int64 `json:"start_time_in_millis"`
			} `json:"jvm"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return 0, err
	}
	sum := fnv.New64a()
	for _, id := range slices.Sorted(maps.Keys(body.Nodes)) {
		fmt.Fprintln(sum, id, body.Nodes[id].JVM.Started)
	}
	return generation(max(1, sum.Sum64())), nil
}
