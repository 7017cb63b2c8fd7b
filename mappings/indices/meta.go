package indices

import (
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// meta is the `_meta` of an index's mapping. Others may have members in it.
type meta map[string]jsontext.Value

// notes is riskdex's own member of `_meta`.
type notes struct {
	Hash string `json:"hash,omitzero"` // of what riskdex made the index from
	Line string `json:"line,omitzero"` // of the journals that fill the index
	identity

	Others map[string]jsontext.Value `json:",embed"` // members that a newer riskdex has written
}

const ours = "riskdex"

// notes returns what riskdex has recorded, or nothing if that cannot be read.
func (m meta) notes() notes {
	var n notes
	if json.Unmarshal(m[ours], &n) != nil {
		return notes{}
	}
	return n
}

// with returns m with other notes.
func (m meta) with(n notes) (meta, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	noted := meta{}
	maps.Copy(noted, m)
	noted[ours] = text
	return noted, nil
}
