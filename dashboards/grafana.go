package dashboards

// The parts of Grafana's dashboard model that are used, with its own names.

type dashboard struct {
	UID           string      `json:"uid"`
	Title         string      `json:"title"`
	Description   string      `json:"description"`
	Tags          []string    `json:"tags"`
	Timezone      string      `json:"timezone"`
	Editable      bool        `json:"editable"`
	GraphTooltip  int         `json:"graphTooltip"` // 1: one cursor in all panels
	Time          timeRange   `json:"time"`
	Refresh       string      `json:"refresh"`
	SchemaVersion int         `json:"schemaVersion"`
	Links         []link      `json:"links"`
	Templating    templating  `json:"templating"`
	Annotations   annotations `json:"annotations"`
	Panels        []any       `json:"panels"` // gridRow and gridPanel; a collapsed row has its panels in itself
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type templating struct {
	List []choice `json:"list"`
}

type choice struct {
	Type        string    `json:"type"`
	Name        string    `json:"name"`
	Label       string    `json:"label"`
	Description string    `json:"description"`
	Hide        int       `json:"hide"` // 2: hidden
	Query       any       `json:"query"`
	Datasource  *source   `json:"datasource,omitempty"`
	Current     *current  `json:"current,omitempty"`
	Refresh     int       `json:"refresh,omitempty"` // 2: when the time range changes
	Sort        int       `json:"sort,omitempty"`    // 1: by name
	Multi       bool      `json:"multi,omitempty"`
	IncludeAll  bool      `json:"includeAll,omitempty"`
	AllValue    string    `json:"allValue,omitempty"`
	Regex       string    `json:"regex,omitempty"`
	Options     []current `json:"options,omitempty"`
}

type current struct {
	Selected bool `json:"selected"`
	Text     any  `json:"text"`
	Value    any  `json:"value"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type annotations struct {
	List []annotation `json:"list"`
}

type annotation struct {
	Name        string `json:"name"`
	Datasource  source `json:"datasource"`
	Enable      bool   `json:"enable"`
	Hide        bool   `json:"hide"`
	IconColor   string `json:"iconColor"`
	Expr        string `json:"expr"`
	Step        string `json:"step"`
	TitleFormat string `json:"titleFormat"`
}

type link struct {
	Title       string   `json:"title"`
	Type        string   `json:"type"`
	Icon        string   `json:"icon"`
	Tooltip     string   `json:"tooltip"`
	URL         string   `json:"url"`
	Tags        []string `json:"tags"`
	AsDropdown  bool     `json:"asDropdown"`
	TargetBlank bool     `json:"targetBlank"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
}

type place struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type gridRow struct {
	Type      string `json:"type"`
	ID        int    `json:"id"`
	Title     string `json:"title"`
	Collapsed bool   `json:"collapsed"`
	GridPos   place  `json:"gridPos"`
	Panels    []any  `json:"panels"`
}

type gridPanel struct {
	Type            string           `json:"type"`
	ID              int              `json:"id"`
	Title           string           `json:"title"`
	Description     string           `json:"description"`
	Datasource      source           `json:"datasource"`
	GridPos         place            `json:"gridPos"`
	Links           []link           `json:"links"`
	Targets         []target         `json:"targets"`
	FieldConfig     fieldConfig      `json:"fieldConfig"`
	Options         map[string]any   `json:"options"`
	Transformations []transformation `json:"transformations,omitempty"`
}

type target struct {
	RefID        string `json:"refId"`
	Datasource   source `json:"datasource"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
	Instant      bool   `json:"instant"`
	Range        bool   `json:"range"`
	Format       string `json:"format"`
	EditorMode   string `json:"editorMode"`
}

type transformation struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

type fieldConfig struct {
	Defaults  defaults `json:"defaults"`
	Overrides []any    `json:"overrides"`
}

type defaults struct {
	Unit       string         `json:"unit"`
	Min        *float64       `json:"min,omitempty"`
	NoValue    string         `json:"noValue,omitempty"`
	Color      map[string]any `json:"color"`
	Thresholds thresholds     `json:"thresholds"`
	Mappings   []mapping      `json:"mappings,omitempty"`
	Custom     map[string]any `json:"custom,omitempty"`
}

type thresholds struct {
	Mode  string `json:"mode"`
	Steps []step `json:"steps"`
}

type step struct {
	Value *float64 `json:"value"` // null for the first step, which has no lower bound
	Color string   `json:"color"`
}

type mapping struct {
	Type    string                   `json:"type"`
	Options map[string]mappingResult `json:"options"`
}

type mappingResult struct {
	Text  string `json:"text"`
	Color string `json:"color"`
	Index int    `json:"index"`
}
