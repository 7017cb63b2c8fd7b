package mappings

import (
	"fmt"
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

	// Inferred is what the file was made from, if the values of records have told it: it then says
	// where each field is that it has, and nothing of the others. Its risk_levels are all values that
	// a level has.
	Inferred *inferredFrom `json:"inferred,omitzero"`

	// Roots are where in a delivery the record may be. Every field is looked for in each
	// root that exists, in order.
	Roots []pattern `json:"roots,omitzero"`

	Fields struct {
		Code        []pattern `json:"code,omitzero"`
		Title       []pattern `json:"title,omitzero"`
		Names       []pattern `json:"names,omitzero"`
		Country     []pattern `json:"country,omitzero"`
		RiskLevel   []pattern `json:"risk_level,omitzero"`
		RiskLabel   []pattern `json:"risk_label,omitzero"`
		Airports    []pattern `json:"airports,omitzero"`
		Location    []pattern `json:"location,omitzero"`
		Summary     []pattern `json:"summary,omitzero"`
		StartsAt    []pattern `json:"starts_at,omitzero"`
		EndsAt      []pattern `json:"ends_at,omitzero"`
		PublishedAt []pattern `json:"published_at,omitzero"`
		UpdatedAt   []pattern `json:"updated_at,omitzero"`
	} `json:"fields,omitzero"`

	// Each finds the places; the other pointers start at a place.
	Places struct {
		Each     []pattern `json:"each,omitzero"`
		Name     []pattern `json:"name,omitzero"`
		Code     []pattern `json:"code,omitzero"`
		Location []pattern `json:"location,omitzero"`
	} `json:"places,omitzero"`

	// Each finds the threats that a record itself names or rates; the other pointers start
	// at what it finds. If an object has no name, its members may be named after threats.
	Threats struct {
		Each  []pattern `json:"each,omitzero"`
		Name  []pattern `json:"name,omitzero"`
		Level []pattern `json:"level,omitzero"`
	} `json:"threats,omitzero"`

	// Rated is where an inferred file has the threats, in place of Threats.
	Rated []ratedColumn `json:"rated,omitzero"`

	// RiskLevels maps labels, in lower case, to levels.
	RiskLevels map[string]int `json:"risk_levels,omitzero"`

	// RiskScale is how the publisher counts levels, if not from 1 to 5.
	RiskScale riskScale `json:"risk_scale,omitzero"`

	// ReadNames, if false, leaves a field empty unless a pattern leads to its value. nil
	// means true.
	ReadNames *bool `json:"read_names,omitzero"`

	// Without are fields that the feed does not have, so that nobody is told that they are missing.
	Without []string `json:"without,omitzero"`

	// NotText are names of members whose strings are never part of `text`.
	NotText []string `json:"not_text,omitzero"`

	tables  [][]step       // where values are looked up; what they have is no text of the record
	told    fieldBits      // fields that are read by patterns alone
	levelOf map[string]int // what the values of risk_level mean, folded; nil unless they were inferred

	levels  map[string]int  // RiskLevels, folded
	notText map[string]bool // folded
	book    *phrasebook     // fields that the words of names may mean; nil if names are not read
}

// inferredFrom says what a mapping was inferred from.
type inferredFrom struct {
	Records int `json:"records"`

	// Names are those of the members of these records, as pointers, and how many of them have each. A
	// record that has few of them is read in another way.
	Names map[string]int `json:"names,omitzero"`
}

// listOf is where a field may be, in the order in which it is looked for.
type listOf struct {
	name string
	from *[]pattern
}

// lists returns where m says that the fields are, in the order of the document.
func (m *kindMapping) lists() []listOf {
	f := &m.Fields
	return []listOf{
		{"code", &f.Code}, {"title", &f.Title}, {"names", &f.Names}, {"country", &f.Country}, {"risk_label", &f.RiskLabel},
		{"risk_level", &f.RiskLevel}, {"airports", &f.Airports}, {"places", &m.Places.Each}, {"location", &f.Location},
		{"summary", &f.Summary}, {"starts_at", &f.StartsAt}, {"ends_at", &f.EndsAt}, {"published_at", &f.PublishedAt},
		{"updated_at", &f.UpdatedAt}, {"threats", &m.Threats.Each},
	}
}

// partOf is where a part of a place or of a threat may be, from each of these.
type partOf struct {
	listOf
	each []pattern
}

func (m *kindMapping) parts() []partOf {
	p, t := &m.Places, &m.Threats
	return []partOf{
		{listOf{"places.name", &p.Name}, p.Each}, {listOf{"places.code", &p.Code}, p.Each}, {listOf{"places.location", &p.Location}, p.Each},
		{listOf{"threats.name", &t.Name}, t.Each}, {listOf{"threats.level", &t.Level}, t.Each},
	}
}

// differsFrom returns the fields about which m says something else than other.
func (m *kindMapping) differsFrom(other *kindMapping) (fields fieldBits) {
	note := func(f fieldID, a, b any) {
		one, err := json.Marshal(a, json.Deterministic(true))
		two, err2 := json.Marshal(b, json.Deterministic(true))
		if err != nil || err2 != nil || string(one) != string(two) {
			fields.add(f)
		}
	}
	theirs := other.lists()
	for i, l := range m.lists() {
		note(fieldNamed(l.name), l.from, theirs[i].from)
	}
	note(riskLevelField, m.RiskLevels, other.RiskLevels)
	note(riskLevelField, m.RiskScale, other.RiskScale)
	note(placesField, m.Places, other.Places)
	note(threatsField, m.Threats, other.Threats)
	note(threatsField, m.Rated, other.Rated)
	return fields
}

// drop has m say nothing of fields.
func (m *kindMapping) drop(fields fieldBits) {
	for _, l := range m.lists() {
		if fields.has(fieldNamed(l.name)) {
			*l.from = nil
		}
	}
	if fields.has(threatsField) {
		m.Rated = nil
	}
}

// over returns what m says, and what base says of the rest, and of the fields in keep.
func (m *kindMapping) over(base *kindMapping, keep fieldBits) *kindMapping {
	all := *base
	all.Inferred = m.Inferred
	if m.Without != nil {
		all.Without = m.Without
	}
	to := all.lists()
	for i, l := range m.lists() {
		f := fieldNamed(l.name)
		if *l.from == nil || keep.has(f) {
			continue
		}
		all.told.add(f)
		*to[i].from = *l.from
		switch f {
		case riskLevelField:
			all.levelOf = m.RiskLevels
		case placesField:
			all.Places = m.Places
		}
	}
	if m.Rated != nil && !keep.has(threatsField) {
		all.told.add(threatsField)
		all.Rated = m.Rated
	}
	all.tables = m.tableSteps()
	return &all
}

// tableSteps returns where the tables are in which patterns look values up.
func (m *kindMapping) tableSteps() (tables [][]step) {
	var seen []string
	note := func(p *pattern) {
		if p == nil {
			return
		}
		for token := range p.text.Tokens() {
			if strings.HasPrefix(token, "{/") && !slices.Contains(seen, token) {
				seen = append(seen, token)
			}
		}
		for _, s := range p.steps {
			if s.table != nil && len(tables) < len(seen) {
				tables = append(tables, s.table)
			}
		}
	}
	for _, l := range m.lists() {
		for i := range *l.from {
			note(&(*l.from)[i])
		}
	}
	for i := range m.Rated {
		note(&m.Rated[i].At)
		note(m.Rated[i].Each)
		note(m.Rated[i].Level)
	}
	return tables
}

func parseKind(data []byte) (*kindMapping, error) {
	m := new(kindMapping)
	if err := decodeStrict(data, m); err != nil {
		return nil, err
	}
	var wrong Mistakes
	if len(m.Roots) == 0 && m.Inferred == nil {
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
	m.checkWithout(data, &wrong)
	m.checkSplit(data, &wrong)
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

// checkSplit adds the patterns that would split values of which a field takes one.
func (m *kindMapping) checkSplit(data []byte, wrong *Mistakes) {
	check := func(l listOf, at jsontext.Pointer) {
		for i, p := range *l.from {
			if p.split != "" {
				wrong.add(data, jsontext.Pointer(fmt.Sprintf("%s/%d", at, i)), `"split" is for names, country and airports; %s takes a value as it is`, l.name)
			}
		}
	}
	for _, l := range m.lists() {
		switch l.name {
		case "names", "country", "airports":
		case "places", "threats":
			check(l, jsontext.Pointer("/"+l.name+"/each"))
		default:
			check(l, jsontext.Pointer("/fields/"+l.name))
		}
	}
	for _, p := range m.parts() {
		check(p.listOf, jsontext.Pointer("/"+strings.ReplaceAll(p.name, ".", "/")))
	}
}
