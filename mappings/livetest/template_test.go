package livetest

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/logtest"
	"riskdex/report"
)

// TestTemplatesOfOthersDoNotApply: an index of riskdex is what riskdex asked for, whatever templates
// match its name.
func TestTemplatesOfOthersDoNotApply(t *testing.T) {
	const spoils = `{"settings": {"index.default_pipeline": "nowhere", "index.refresh_interval": "-1"},
		"mappings": {"_routing": {"required": true}, "_source": {"enabled": false}}, "aliases": {"PREFIXall": {}}}`
	for name, templates := range map[string][]string{
		"limits fields":        {`{"index_patterns": ["PREFIX*"], "priority": 1000, "template": {"settings": {"index.mapping.total_fields.limit": 50}}}`},
		"settings and aliases": {`{"index_patterns": ["PREFIXcities*"], "priority": 501, "template": ` + spoils + `}`},
		"the same priority":    {`{"index_patterns": ["PREFIX*"], "priority": 500, "template": ` + spoils + `}`},
		"data streams":         {`{"index_patterns": ["PREFIX*"], "priority": 9000000000000000000, "data_stream": {}}`},
		"several": {
			`{"index_patterns": ["PREFIXother", "PREFIXcities-v1"], "priority": 7000, "template": ` + spoils + `}`,
			`{"index_patterns": ["PREFIXcities"], "priority": 2000, "template": ` + spoils + `}`,
			`{"index_patterns": ["PREFIX*"], "template": ` + spoils + `}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log logtest.Buffer
			x := plainIndices(t, elastictest.Prefix(t))
			x.Log = slog.New(slog.NewTextHandler(&log, nil))
			for i, text := range templates {
				must(t, x.Client, esapi.IndicesPutIndexTemplateRequest{
					Name: x.Prefix + "other" + string(rune('a'+i)), Body: strings.NewReader(strings.ReplaceAll(text, "PREFIX", x.Prefix)),
				})
			}
			index, err := x.Ensure(t.Context(), report.Cities, nothing)
			if err != nil {
				t.Fatal(err)
			}
			var made map[string]struct {
				Aliases  map[string]any
				Settings map[string]any
				Mappings map[string]any
			}
			if err := json.Unmarshal(must(t, x.Client, esapi.IndicesGetRequest{Index: []string{index}, FlatSettings: new(true)}), &made); err != nil {
				t.Fatal(err)
			}
			got := made[index]
			if aliases := slices.Sorted(maps.Keys(got.Aliases)); !slices.Equal(aliases, []string{x.Prefix + "cities", x.Prefix + "cities-filled"}) {
				t.Errorf("the index has the aliases %v", aliases)
			}
			for _, setting := range []string{"index.mapping.total_fields.limit", "index.default_pipeline", "index.refresh_interval"} {
				if value, ok := got.Settings[setting]; ok {
					t.Errorf("the index has %s: %v", setting, value)
				}
			}
			if got.Mappings["_routing"] != nil || got.Mappings["_source"] != nil {
				t.Errorf("the mapping has %v, %v", got.Mappings["_routing"], got.Mappings["_source"])
			}
			if said := log.String(); !strings.Contains(said, x.Prefix+"othera") {
				t.Errorf("the log does not name the template: %s", said)
			}
		})
	}
}
