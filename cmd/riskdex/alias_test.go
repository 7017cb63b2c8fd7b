package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
)

// copyOf clones the index of cities as it is now, under another name.
func (p *process) copyOf(name, aliases string) {
	p.t.Helper()
	index := "/" + p.prefix + "cities-v1"
	p.ask("PUT", index+"/_block/write", "", nil)
	p.ask("PUT", index+"/_clone/"+name+"?wait_for_active_shards=1", `{"settings":{"index.blocks.write":null},"aliases":{`+aliases+`}}`, nil)
	p.ask("PUT", index+"/_settings", `{"index.blocks.write":null}`, nil)
}

// wrongAliases has what somebody may do to the alias of cities: the index that it then leads to,
// if that is another one than riskdex fills, and what the trouble says.
var wrongAliases = map[string]struct {
	index, detail string
	do            func(p *process, alias, other string)
}{
	"a copy beside it, with all aliases": {"cities-restored", "apps find documents of others", func(p *process, alias, other string) {
		p.copyOf(other, fmt.Sprintf(`%q:{},%q:{},%q:{}`, alias, alias+"-filled", alias+"-retired"))
	}},
	"a copy beside it, which has its name with another number": {"cities-v7", "apps find documents of others", func(p *process, alias, other string) {
		p.copyOf(other, fmt.Sprintf(`%q:{},%q:{},%q:{}`, alias, alias+"-filled", alias+"-rebuilding"))
	}},
	"a closed copy beside it": {"cities-closed", "apps find documents of others", func(p *process, alias, other string) {
		p.copyOf(other, fmt.Sprintf(`%q:{}`, alias))
		p.ask("POST", "/"+other+"/_close", "", nil)
	}},
	"a copy as the write index": {"cities-copy", "apps find documents of others", func(p *process, alias, other string) {
		p.copyOf(other, "")
		p.ask("POST", "/_aliases", fmt.Sprintf(`{"actions":[{"add":{"index":%q,"alias":%q,"is_write_index":false}},
			{"add":{"index":%q,"alias":%q,"is_write_index":true}}]}`, p.prefix+"cities-v1", alias, other, alias), nil)
	}},
	"a filter": {"", "apps find only a part", func(p *process, alias, _ string) {
		p.ask("POST", "/_aliases", fmt.Sprintf(`{"actions":[{"add":{"index":%q,"alias":%q,"filter":{"term":{"_id":"1"}}}}]}`, p.prefix+"cities-v1", alias), nil)
	}},
	"a routing": {"", "apps find only a part", func(p *process, alias, _ string) {
		p.ask("POST", "/_aliases", fmt.Sprintf(`{"actions":[{"add":{"index":%q,"alias":%q,"search_routing":"x"}}]}`, p.prefix+"cities-v1", alias), nil)
	}},
	"moved to an index with another mapping": {"places", "apps find documents of others", func(p *process, alias, other string) {
		p.ask("PUT", "/"+other, `{"mappings":{"properties":{"name":{"type":"keyword"}}}}`, nil)
		p.ask("POST", "/_aliases", fmt.Sprintf(`{"actions":[{"remove":{"index":%q,"alias":%q}},{"add":{"index":%q,"alias":%q}}]}`,
			p.prefix+"cities-v1", alias, other, alias), nil)
	}},
	"an index in its place": {"cities", "an index has the name", func(p *process, alias, _ string) {
		p.ask("DELETE", "/"+p.prefix+"cities-v1/_alias/"+alias, "", nil)
		p.ask("PUT", "/"+alias, "", nil)
	}},
}

// wrongAlias returns a riskdex whose alias of cities somebody has changed, before a correction, a
// delete and a new document came.
func wrongAlias(t *testing.T, do func(p *process, alias, other string), index string) *process {
	t.Helper()
	p := newProcess(t, elastictest.URL(t), "--probe-every", "100ms")
	p.start()
	for id := range 3 {
		p.send("PUT", fmt.Sprint("/cities/", id), cityBody(id, "old"))
	}
	p.indicesReady()
	p.drained()
	eventually(t, "all is well", func() bool { return p.status().Well })
	do(p, p.prefix+"cities", p.prefix+index)
	p.send("PUT", "/cities/0", cityBody(0, "corrected"))
	p.send("DELETE", "/cities/1", "")
	p.send("PUT", "/cities/9", cityBody(9, "new"))
	p.says("alias_wrong")
	p.drained()
	return p
}

// isRight waits until all is well, and checks what apps find.
func (p *process) isRight() {
	p.t.Helper()
	eventually(p.t, "all is well", func() bool { return p.status().Well })
	got := p.indexed(report.Cities)
	if ids := slices.Sorted(maps.Keys(got)); !slices.Equal(ids, []string{"0", "2", "9"}) || !strings.Contains(string(got["0"]), "corrected") {
		p.t.Errorf("apps find %s", got)
	}
	p.expect(exitDone, "", words("verify"), "3 documents and 1 deleted in the journal, 3 in the index", "nothing differs")
}

// TestWrongAliasIsTold: the alias that apps search is exactly the index that riskdex fills. Anything
// else is told at once, also after a restart; riskdex goes on filling its index; and the remedy
// that it names puts the alias right.
func TestWrongAliasIsTold(t *testing.T) {
	for name, c := range wrongAliases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := wrongAlias(t, c.do, c.index)
			p.terminate()
			p.start()
			trouble := p.says("alias_wrong")
			if trouble.Kind != report.Cities || trouble.Severity != "critical" || !strings.Contains(trouble.Detail, c.detail) || !strings.Contains(trouble.Detail, p.prefix+c.index) {
				t.Errorf("the trouble is %+v", trouble)
			}
			request := strings.TrimSuffix(strings.TrimPrefix(trouble.Remedy, "Put it right in Elasticsearch: "), ".")
			var there struct {
				Source struct{ Source json.RawMessage } `json:"_source"`
			}
			p.ask("GET", "/"+p.prefix+"cities-v1/_doc/0", "", &there)
			if !strings.Contains(string(there.Source.Source), "corrected") {
				t.Errorf("the index of riskdex has %s", there.Source.Source)
			}
			if n, _ := p.metrics().Sum("riskdex_alias_wrong", `kind="cities"`); n != 1 {
				t.Errorf("the metric is %v", n)
			}
			p.expect(exitFailed, "", words("verify cities"), request)
			p.expect(exitNegative, "", words("check --elasticsearch-url "+p.elasticsearch+" --index-prefix "+p.prefix+" --journal "+p.journal), request)
			p.remedy(request)
			p.isRight()
			if n, _ := p.metrics().Sum("riskdex_alias_wrong"); n != 0 {
				t.Errorf("the metric is %v", n)
			}
		})
	}
}

// remedy pastes the request of a remedy into a shell.
func (p *process) remedy(text string) {
	p.t.Helper()
	_, request, ok := strings.Cut(text, "curl ")
	if !ok {
		p.t.Fatalf("the remedy %q has no request", text)
	}
	if end := strings.LastIndexByte(request, '\''); end >= 0 { // of the body
		request = request[:end+1]
	}
	request = strings.Replace(strings.TrimRight(request, ".;"), "ELASTICSEARCH", p.elasticsearch, 1)
	if said, err := exec.CommandContext(p.t.Context(), "sh", "-c", "curl -fsS "+request).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v: %s", request, err, said)
	}
}

// TestRebuildPutsAWrongAliasRight, too, and removes nothing that somebody else has put there.
func TestRebuildPutsAWrongAliasRight(t *testing.T) {
	for name, c := range wrongAliases {
		if c.index == "cities" {
			continue // no alias can have the name of an index
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := wrongAlias(t, c.do, c.index)
			p.expect(exitDone, "", words("rebuild cities"), "cities-v")
			p.isRight()
			if c.index != "" {
				p.ask("GET", "/"+p.prefix+c.index, "", nil)
			}
		})
	}
}
