package mappings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/letters"
	"riskdex/internal/vocabulary"
	"riskdex/mappings/language"
)

// indexFile is index.json: the settings and the mapping of every index.
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
		return f, errors.New(`"settings" is missing or not an object`)
	case len(f.Mappings) == 0:
		return f, errors.New(`"mappings" is missing`)
	case f.Mappings["_meta"] != nil:
		return f, errors.New(`"mappings" has "_meta", which riskdex writes itself; remove it`)
	}
	return f, nil
}

// filled returns f with its placeholders replaced by the rules of threats.json and of letters. Those of
// letters are one string, since a list of thousands makes the creation of an index take a second.
func (f indexFile) filled(t *threatsFile) (indexFile, error) {
	rules, err := json.Marshal(t.rules())
	if err != nil {
		return f, err
	}
	names, err := json.Marshal(t.names())
	if err != nil {
		return f, err
	}
	f.Settings = jsontext.Value(strings.NewReplacer(
		`"{{threats}}"`, string(rules), `"{{threat_names}}"`, string(names), "{{letters}}", letters.Rules(),
	).Replace(string(f.Settings)))
	return f, nil
}

// hash identifies what an index and its documents are made from. In the JSON files, `about`, `without`
// and white space do not count. Everything in both words.txt and in boxes.tsv does, comments too.
func (s *Set) hashOf(kind *kindMapping, told string) (string, error) {
	index, countries := s.index, s.countries
	index.About, countries.About = "", ""
	withoutAbout := *kind
	withoutAbout.About, withoutAbout.Without = "", nil // documents are the same
	data, err := json.Marshal([]any{index, withoutAbout, told, countries, s.threats.Threats, vocabulary.Source(), language.Source(), boxesFile, s.gazetteer}, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// Index returns the settings of every index, as JSON, and the members of its mapping. The
// caller must not change them.
func (s *Set) Index() (settings jsontext.Value, mapping map[string]jsontext.Value) {
	return s.index.Settings, s.index.Mappings
}
