package mappings

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
)

// kindMapping is one mapping file: where the fields of a kind come from. Each
// field has pointers, tried in order.
type kindMapping struct {
	About string `json:"about"`

	// Roots are where in a delivery the record may be. Every field is looked for in each
	// root that exists, in order.
	Roots []pattern `json:"roots"`

	Fields struct {
		Code        []pattern `json:"code"`
		Title       []pattern `json:"title"`
		Names       []source  `json:"names"`
		Country     []source  `json:"country"`
		RiskLevel   []pattern `json:"risk_level"`
		RiskLabel   []pattern `json:"risk_label"`
		Airports    []source  `json:"airports"`
		Location    []pattern `json:"location"`
		Summary     []pattern `json:"summary"`
		StartsAt    []pattern `json:"starts_at"`
		EndsAt      []pattern `json:"ends_at"`
		PublishedAt []pattern `json:"published_at"`
		UpdatedAt   []pattern `json:"updated_at"`
	} `json:"fields"`

	// Each finds the places; the other pointers start at a place.
	Places struct {
		Each     []pattern `json:"each"`
		Name     []pattern `json:"name"`
		Code     []pattern `json:"code"`
		Location []pattern `json:"location"`
	} `json:"places"`

	// Each finds the threats that a record itself names or rates; the other pointers start
	// at what it finds. If an object has no name, its members may be named after threats.
	Threats struct {
		Each  []pattern `json:"each"`
		Name  []pattern `json:"name"`
		Level []pattern `json:"level"`
	} `json:"threats"`

	// RiskLevels maps labels, in lower case, to levels.
	RiskLevels map[string]int `json:"risk_levels"`

	// RiskScale is how the publisher counts levels, if not from 1 to 5.
	RiskScale riskScale `json:"risk_scale,omitzero"`

	// ReadNames, if false, leaves a field empty unless a pattern leads to its value. nil
	// means true.
	ReadNames *bool `json:"read_names,omitzero"`

	// NotText are names of members whose strings are never part of `text`.
	NotText []string `json:"not_text"`

	levels  map[string]int  // RiskLevels, folded
	notText map[string]bool // folded
	book    *phrasebook     // fields that the words of names may mean; nil if names are not read
}

// source is where the values of a list are: a pattern, and the characters that separate
// several values in one string, if there can be several.
type source struct {
	at    pattern
	split string
}

type splitSource struct {
	At    pattern `json:"at"`
	Split string  `json:"split"`
}

// UnmarshalJSONFrom reads "/airports" or {"at": "/airports", "split": ","}.
func (s *source) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return s.at.UnmarshalJSONFrom(d)
	}
	var both splitSource
	if err := json.UnmarshalDecode(d, &both); err != nil {
		return err
	}
	s.at, s.split = both.At, both.Split
	return nil
}

// MarshalJSONTo writes what UnmarshalJSONFrom reads.
func (s source) MarshalJSONTo(e *jsontext.Encoder) error {
	if s.split == "" {
		return s.at.MarshalJSONTo(e)
	}
	return json.MarshalEncode(e, splitSource{s.at, s.split})
}

func parseKind(data []byte) (*kindMapping, error) {
	m := new(kindMapping)
	if err := decodeStrict(data, m); err != nil {
		return nil, err
	}
	var wrong Mistakes
	if len(m.Roots) == 0 {
		wrong.add(data, "/roots", `"roots" is empty: "" is the record itself`)
	}
	for _, label := range slices.Sorted(maps.Keys(m.RiskLevels)) {
		at := jsontext.Pointer("/risk_levels").AppendToken(label)
		if level := m.RiskLevels[label]; level < 1 || level > 5 {
			wrong.add(data, at, "risk_levels: %q is level %d; levels are 1 to 5", label, level)
		}
		if strings.ToLower(label) != label {
			wrong.add(data, at, "risk_levels: write %q in lower case; labels are compared without regard to case", label)
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	m.levels = make(map[string]int, len(m.RiskLevels))
	for label, level := range m.RiskLevels {
		m.levels[vocabulary.Fold(label)] = level
	}
	m.notText = make(map[string]bool, len(m.NotText))
	for _, name := range m.NotText {
		m.notText[string(appendFolded(nil, []byte(name)))] = true
	}
	return m, nil
}
