package mappings

import (
	"context"
	"fmt"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/report"
)

// MappingChanged reports whether the index that the alias of a kind writes to was
// made from other mapping files than the Set's, so that a rebuild would change it.
// It is false when there is no such index.
func (x *Indices) MappingChanged(ctx context.Context, kind report.Kind) (bool, error) {
	s, err := x.state(ctx, kind)
	if err != nil || s.written() == "" {
		return false, err
	}
	hash, err := x.hashOf(ctx, s.written())
	if isType(err, "index_not_found_exception") {
		return false, nil // it went away just now
	}
	return hash != x.Set.hashes[kind], err
}

// hashOf returns the hash that an index is marked with, or nothing where riskdex
// has not made it.
func (x *Indices) hashOf(ctx context.Context, index string) (string, error) {
	body, err := perform(ctx, x.Client, esapi.IndicesGetMappingRequest{Index: []string{index}})
	if err != nil {
		return "", fmt.Errorf("reading the mapping of %s: %w", index, err)
	}
	var indices map[string]struct {
		Mappings struct {
			Meta meta `json:"_meta"`
		} `json:"mappings"`
	}
	if err := json.Unmarshal(body, &indices); err != nil {
		return "", fmt.Errorf("reading the mapping of %s: %w", index, err)
	}
	return indices[index].Mappings.Meta.Riskdex.Hash, nil
}
