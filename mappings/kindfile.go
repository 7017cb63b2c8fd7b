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
		Names       []source  `json:"names,omitzero"`
		Country     []source  `json:"country,omitzero"`
		RiskLevel   []pattern `json:"risk_level,omitzero"`
		RiskLabel   []pattern `json:"risk_label,omitzero"`
		Airports    []source  `json:"airports,omitzero"`
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

// lists returns where m says that the fields are which can be in one of several places.
func (m *kindMapping) lists() []listOf {
	return []listOf{
		{codeField, &m.Fields.Code, nil}, {titleField, &m.Fields.Title, nil}, {riskLevelField, &m.Fields.RiskLevel, nil},
		{riskLabelField, &m.Fields.RiskLabel, nil}, {locationField, &m.Fields.Location, nil}, {summaryField, &m.Fields.Summary, nil},
		{startsField, &m.Fields.StartsAt, nil}, {endsField, &m.Fields.EndsAt, nil}, {publishedField, &m.Fields.PublishedAt, nil},
		{updatedField, &m.Fields.UpdatedAt, nil}, {namesField, nil, &m.Fields.Names}, {countryField, nil, &m.Fields.Country},
		{airportsField, nil, &m.Fields.Airports},
	}
}

// listOf is where a field may be, in one of two forms.
type listOf struct {
	field   fieldID
	plain   *[]pattern
	several *[]source
}

// differsFrom returns the fields about which m says something else than other.
func (m *kindMapping) differsFrom(other *kindMapping) (fields fieldBits) {
	differ := func(a, b any) bool {
		one, err := json.Marshal(a, json.Deterministic(true))
		two, err2 := json.Marshal(b, json.Deterministic(true))
		return err != nil || err2 != nil || string(one) != string(two)
	}
	theirs := other.lists()
	for i, l := range m.lists() {
		if differ(l.plain, theirs[i].plain) || differ(l.several, theirs[i].several) {
			fields.add(l.field)
		}
	}
	if differ(m.RiskLevels, other.RiskLevels) || differ(m.RiskScale, other.RiskScale) {
		fields.add(riskLevelField)
	}
	if differ(m.Places, other.Places) {
		fields.add(placesField)
	}
	if differ(m.Threats, other.Threats) || differ(m.Rated, other.Rated) {
		fields.add(threatsField)
	}
	return fields
}

// drop has m say nothing of fields.
func (m *kindMapping) drop(fields fieldBits) {
	for _, l := range m.lists() {
		switch {
		case !fields.has(l.field):
		case l.plain != nil:
			*l.plain = nil
		default:
			*l.several = nil
		}
	}
	if fields.has(placesField) {
		m.Places.Each = nil
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
	tell := func(f fieldID) bool {
		if keep.has(f) {
			return false
		}
		all.told.add(f)
		return true
	}
	to := all.lists()
	for i, l := range m.lists() {
		switch {
		case l.plain != nil && *l.plain != nil && tell(l.field):
			*to[i].plain = *l.plain
		case l.several != nil && *l.several != nil && tell(l.field):
			*to[i].several = *l.several
		}
	}
	if m.Fields.RiskLevel != nil && tell(riskLevelField) {
		all.levelOf = m.RiskLevels
	}
	if m.Places.Each != nil && tell(placesField) {
		all.Places = m.Places
	}
	if m.Rated != nil && tell(threatsField) {
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
		if l.plain != nil {
			for i := range *l.plain {
				note(&(*l.plain)[i])
			}
			continue
		}
		for i := range *l.several {
			note(&(*l.several)[i].at)
		}
	}
	for i := range m.Rated {
		note(&m.Rated[i].At)
		note(m.Rated[i].Each)
		note(m.Rated[i].Level)
	}
	return tables
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
