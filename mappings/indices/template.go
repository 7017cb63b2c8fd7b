package indices

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path"
	"slices"

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
// guessed fields. It gives an index nothing, because [Indices.create] asks for all that an index
// has, and Elasticsearch writes every template anew whenever an index is deleted.
func (x *Indices) putTemplate(ctx context.Context, kind report.Kind) error {
	priority, err := x.templatePriority(ctx, kind)
	if err != nil {
		return err
	}
	body, err := json.Marshal(templateBody{
		IndexPatterns: []string{x.Alias(kind) + "-v*", x.Alias(kind)},
		Priority:      priority,
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

// usualPriority is above what Elasticsearch and most tools give their own templates.
const usualPriority = 500

// templatePriority returns a priority above that of every other template that matches an index of a
// kind, or the alias. Of several templates Elasticsearch applies only that with the highest priority,
// also to an index that is created with its own settings and mapping: one of somebody else could limit
// its fields, change its documents on their way, hide it behind a data stream, or delete it in time.
func (x *Indices) templatePriority(ctx context.Context, kind report.Kind) (int64, error) {
	answer, err := x.Client.Ask(ctx, esapi.IndicesGetIndexTemplateRequest{FilterPath: []string{
		"index_templates.name", "index_templates.index_template.index_patterns", "index_templates.index_template.priority", "error",
	}}, elastic.Readable)
	if err != nil {
		return 0, fmt.Errorf("looking for index templates of others: %w", err)
	}
	var all struct {
		Templates []struct {
			Name     string       `json:"name"`
			Template templateBody `json:"index_template"`
		} `json:"index_templates"`
	}
	if err := json.Unmarshal(answer, &all); err != nil {
		return 0, fmt.Errorf("looking for index templates of others: reading the answer: %w", err)
	}
	priority, was, others := int64(usualPriority), int64(usualPriority), []string(nil)
	for _, t := range all.Templates {
		matches := func(pattern string) bool {
			index, _ := path.Match(pattern, x.Index(kind, 1))
			alias, _ := path.Match(pattern, x.Alias(kind))
			return index || alias
		}
		switch of := t.Template; {
		case t.Name == x.Template(kind):
			was = of.Priority
		case of.Priority >= usualPriority && slices.ContainsFunc(of.IndexPatterns, matches):
			priority = max(priority, min(of.Priority, math.MaxInt64-1)+1) // Elasticsearch refuses an equal one, and names the other
			others = append(others, t.Name)
		}
	}
	if priority > usualPriority && priority != was {
		x.Log.InfoContext(ctx, "index templates of others match too: that of riskdex gets a higher priority, so that they do not apply",
			"template", x.Template(kind), "priority", priority, "others", others)
	}
	return priority, nil
}
