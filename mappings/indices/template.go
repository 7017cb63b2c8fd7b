package indices

import (
	"bytes"
	"context"
	"fmt"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/elastic"
	"riskdex/report"
)

// ensureTemplate writes the template of a kind, once per process.
func (x *Indices) ensureTemplate(ctx context.Context, kind report.Kind) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current[kind] {
		return nil
	}
	if err := x.putTemplate(ctx, kind); err != nil {
		return err
	}
	if x.current == nil {
		x.current = make(map[report.Kind]bool)
	}
	x.current[kind] = true
	return nil
}

// putTemplate writes the template of a kind. It covers the indices and the name of the
// alias: while there is no alias, a write to that name would otherwise create an index with
// guessed fields.
func (x *Indices) putTemplate(ctx context.Context, kind report.Kind) error {
	content, err := x.body(kind)
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
	_, err = x.Client.Ask(ctx, esapi.IndicesPutIndexTemplateRequest{Name: name, Body: bytes.NewReader(body)}, elastic.Acknowledged)
	if err != nil {
		return fmt.Errorf("writing the index template %s: %w", name, err)
	}
	return nil
}
