package indices

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// The index of the probe is made from index.json like the others, so that what it measures,
// such as the time until a refresh, is what apps see. But it is hidden, and so is every
// alias of it: a visible alias would bring a hidden index back into searches of `*`.

// hidden returns is_hidden for every alias of a kind: nil if apps may see it.
func hidden(kind report.Kind) *bool {
	if kind == report.Probe {
		return yes()
	}
	return nil
}

// hideIndex returns the settings with index.hidden set. It removes the other spellings of
// that setting: Elasticsearch accepts each of them, but refuses settings that have it
// twice.
func hideIndex(settings jsontext.Value) (jsontext.Value, error) {
	var all map[string]jsontext.Value
	if err := json.Unmarshal(settings, &all); err != nil {
		return nil, fmt.Errorf("reading the settings of index.json: %w", err)
	}
	delete(all, "hidden")
	if inner := all["index"]; inner.Kind() == '{' {
		var of map[string]jsontext.Value
		if err := json.Unmarshal(inner, &of); err != nil {
			return nil, fmt.Errorf("reading the settings of index.json: %w", err)
		}
		delete(of, "hidden")
		var err error
		if all["index"], err = json.Marshal(of, json.Deterministic(true)); err != nil {
			return nil, err
		}
	}
	all["index.hidden"] = jsontext.Value("true")
	return json.Marshal(all, json.Deterministic(true))
}
