package indices

import (
	"context"
	"fmt"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/elastic"
)

// Place returns where the indices are: the id that Elasticsearch has given to the cluster to which a
// new connection leads, and the prefix. It is empty if the cluster does not tell its id.
func (x *Indices) Place(ctx context.Context) (string, error) {
	body, err := x.Client.Anew().Ask(ctx, esapi.ClusterStateRequest{Metric: []string{"version"}, FilterPath: []string{"cluster_uuid", "error"}}, elastic.Identified)
	if isRefused(err) { // the privilege monitor is missing
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("asking for the id of the cluster: %w", err)
	}
	var answer struct {
		UUID string `json:"cluster_uuid"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fmt.Errorf("asking for the id of the cluster: reading the answer: %w", err)
	}
	if answer.UUID == "_na_" { // it has not formed yet
		return "", nil
	}
	return answer.UUID + "/" + x.Prefix, nil
}
