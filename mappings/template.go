package mappings

import (
	"bytes"
	"context"
	"fmt"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/report"
)

// ensureTemplate writes the template of a kind, once in a process. It also
// warns, once, of an index that was made from another mapping.
func (x *Indices) ensureTemplate(ctx context.Context, kind report.Kind) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current[kind] {
		return nil
	}
	if err := x.putTemplate(ctx, kind); err != nil {
		return err
	}
	changed, err := x.MappingChanged(ctx, kind)
	if err != nil {
		return err
	}
	if changed {
		x.Log.WarnContext(ctx, "the index was made from another mapping, and its documents keep their fields; "+
			"to bring it up to date, delete it at a quiet time: it is made again and filled from the journal",
			"alias", x.Alias(kind))
	}
	if x.current == nil {
		x.current = make(map[report.Kind]bool)
	}
	x.current[kind] = true
	return nil
}

// putTemplate covers the indices of a kind, and the name of its alias: without
// an alias, a write to that name would create an index with guessed fields.
func (x *Indices) putTemplate(ctx context.Context, kind report.Kind) error {
	content, err := x.Set.index.body(x.Set.hashes[kind])
	if err != nil {
		return err
	}
	body, err := json.Marshal(templateBody{
		IndexPatterns: []string{x.Alias(kind) + "-v*", x.Alias(kind)},
		Priority:      templatePriority,
		Template:      content,
	})
	if err != nil {
		return err
	}
	name := x.Template(kind)
	_, err = perform(ctx, x.Client, esapi.IndicesPutIndexTemplateRequest{Name: name, Body: bytes.NewReader(body)})
	if err != nil {
		return fmt.Errorf("writing the index template %s: %w", name, err)
	}
	return nil
}

// MappingChanged reports whether the index behind the alias of a kind was made
// from other mapping files than the Set's, so that a rebuild would change it.
// It is false when there is no alias.
func (x *Indices) MappingChanged(ctx context.Context, kind report.Kind) (bool, error) {
	alias := x.Alias(kind)
	exists, err := x.aliasExists(ctx, kind)
	if err != nil || !exists {
		return false, err
	}
	body, err := perform(ctx, x.Client, esapi.IndicesGetMappingRequest{Index: []string{alias}})
	if isType(err, "index_not_found_exception") {
		return false, nil // it went away just now
	}
	if err != nil {
		return false, fmt.Errorf("reading the mapping of %s: %w", alias, err)
	}
	var indices map[string]struct {
		Mappings struct {
			Meta meta `json:"_meta"`
		} `json:"mappings"`
	}
	if err := json.Unmarshal(body, &indices); err != nil {
		return false, fmt.Errorf("reading the mapping of %s: %w", alias, err)
	}
	for _, index := range indices {
		if index.Mappings.Meta.Riskdex.Hash != x.Set.hashes[kind] {
			return true, nil
		}
	}
	return false, nil
}
