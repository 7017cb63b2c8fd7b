package indices

import (
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// indexBody is what an index is created with.
type indexBody struct {
	Settings jsontext.Value            `json:"settings"`
	Mappings map[string]jsontext.Value `json:"mappings"`
	Aliases  map[string]aliasBody      `json:"aliases,omitzero"`
}

type aliasBody struct {
	IsWriteIndex *bool `json:"is_write_index,omitzero"`
	IsHidden     *bool `json:"is_hidden,omitzero"`

	// riskdex sets none of these.
	Filter        jsontext.Value `json:"filter,omitzero"`
	Routing       string         `json:"index_routing,omitzero"`
	SearchRouting string         `json:"search_routing,omitzero"`
}

type templateBody struct {
	IndexPatterns   []string `json:"index_patterns"`
	Priority        int64    `json:"priority"`
	AllowAutoCreate bool     `json:"allow_auto_create"`
}

// body returns the settings and the mapping of a new index of a kind. The mapping is marked
// with the hash.
func (x *Indices) body(kind report.Kind) (indexBody, error) {
	noted, err := meta{}.with(notes{Hash: x.Set.Hash(kind)})
	if err != nil {
		return indexBody{}, err
	}
	text, err := json.Marshal(noted)
	if err != nil {
		return indexBody{}, err
	}
	settings, mapping := x.Set.Index()
	body := indexBody{Settings: settings, Mappings: map[string]jsontext.Value{"_meta": text}}
	maps.Copy(body.Mappings, mapping)
	if hidden(kind) != nil {
		body.Settings, err = hideIndex(settings)
	}
	return body, err
}
