package main

import (
	"fmt"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
)

// TestHeldIndexIsTold: as long as nothing can be written to an index, the first line of the
// status says why, and what to do.
func TestHeldIndexIsTold(t *testing.T) {
	for name, c := range map[string]struct{ setting, value, reason, detail, remedy string }{
		"the flood stage of Elasticsearch's disk": {
			"index.blocks.read_only_allow_delete", "true",
			"index_blocked", "it is blocked (index_blocked)", "Make room on Elasticsearch's disk",
		},
		"an ingest pipeline that is not there": {
			"index.default_pipeline", `"enrichment"`,
			"pipeline_missing", "an ingest pipeline that does not exist (pipeline_missing): pipeline with id [enrichment]", "Make that pipeline again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
			p.start()
			p.indicesReady()
			settings := "/" + p.prefix + "cities-v1/_settings"
			p.ask("PUT", settings, fmt.Sprintf(`{%q:%s}`, c.setting, c.value), nil)
			p.send("PUT", "/cities/1", `{"title":"Sydney"}`)
			trouble := p.says(admin.TroubleHeld)
			if trouble.Kind != "cities" || !strings.Contains(trouble.Detail, c.detail) || !strings.HasPrefix(trouble.Remedy, c.remedy) {
				t.Errorf("the trouble is %+v, want one about cities with its cause and remedy", trouble)
			}
			p.expect(exitNegative, "", words("status"), c.detail, c.remedy)
			series := fmt.Sprintf(`riskdex_held{index=%q,reason=%q}`, p.prefix+"cities", c.reason)
			if held := p.metrics()[series]; held != 1 {
				t.Errorf("%s is %v", series, held)
			}
			p.ask("PUT", settings, fmt.Sprintf(`{%q:null}`, c.setting), nil)
			eventually(t, "all is well", func() bool { return p.status().Well })
			p.drained()
			if held, ok := p.metrics()[series]; held != 0 || !ok {
				t.Errorf("%s is %v afterwards", series, held)
			}
		})
	}
}
