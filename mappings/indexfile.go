package mappings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
	"riskdex/report"
)

// indexFile is index.json: what Elasticsearch is to know of every index.
type indexFile struct {
	About    string                    `json:"about"`
	Settings jsontext.Value            `json:"settings"`
	Mappings map[string]jsontext.Value `json:"mappings"`
}

func parseIndex(data []byte) (indexFile, error) {
	var f indexFile
	if err := decodeStrict(data, &f); err != nil {
		return f, err
	}
	switch {
	case f.Settings.Kind() != '{':
		return f, errors.New(`"settings" is missing or no object`)
	case len(f.Mappings) == 0:
		return f, errors.New(`"mappings" is missing`)
	case f.Mappings["_meta"] != nil:
		return f, errors.New(`"mappings" has "_meta", which riskdex writes itself; remove it`)
	}
	return f, nil
}

// hash identifies what an index and its documents are made from. Comments and
// white space do not count.
func hash(index indexFile, kind *kindMapping, countries countriesFile, threats *threatsFile, gazetteer string) (string, error) {
	index.About, countries.About = "", ""
	withoutAbout := *kind
	withoutAbout.About = ""
	data, err := json.Marshal([]any{index, withoutAbout, countries, threats.Threats, vocabulary.Source(), boxesFile, gazetteer}, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// indexBody is what an index and a template have in common.
type indexBody struct {
	Settings jsontext.Value            `json:"settings"`
	Mappings map[string]jsontext.Value `json:"mappings"`
	Aliases  map[string]aliasBody      `json:"aliases,omitzero"`
}

type aliasBody struct {
	IsWriteIndex *bool `json:"is_write_index,omitzero"`
	IsHidden     *bool `json:"is_hidden,omitzero"`
}

type templateBody struct {
	IndexPatterns   []string  `json:"index_patterns"`
	Priority        int       `json:"priority"`
	AllowAutoCreate bool      `json:"allow_auto_create"`
	Template        indexBody `json:"template"`
}

// body returns what an index of a kind is made from.
func (s *Set) body(kind report.Kind) (indexBody, error) {
	body, err := s.index.body(s.hashes[kind])
	if err != nil || hidden(kind) == nil {
		return body, err
	}
	body.Settings, err = hideIndex(body.Settings)
	return body, err
}

// body returns the settings and mapping of an index, marked with the hash.
func (f indexFile) body(hash string) (indexBody, error) {
	noted, err := meta{}.with(notes{Hash: hash})
	if err != nil {
		return indexBody{}, err
	}
	text, err := json.Marshal(noted)
	if err != nil {
		return indexBody{}, err
	}
	mappings := map[string]jsontext.Value{"_meta": text}
	for name, value := range f.Mappings {
		mappings[name] = value
	}
	return indexBody{Settings: f.Settings, Mappings: mappings}, nil
}
