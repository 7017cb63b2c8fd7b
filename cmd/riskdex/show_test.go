package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
)

// TestShowCommand takes a document through its states, with each journal engine.
func TestShowCommand(t *testing.T) {
	for name, journal := range map[string]func(*process){
		"sqlite":   func(*process) {},
		"postgres": func(p *process) { p.journal = postgrestest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, elastictest.URL(t), "--probe-every", "0", "--mappings", narrowMappings(t))
			journal(p)
			p.start()
			deliver := func(method, path, body string, status int) {
				t.Helper()
				if got := p.send(method, path, body); got != status {
					t.Fatalf("%s %s got status %d, want %d", method, path, got, status)
				}
			}
			p.expect(exitFailed, "", words("show cities LON"), "The journal has nothing of cities LON")
			deliver("PUT", "/cities/LON", `{"id":"130","code":"LON","title":"London","risk":{"level":2}}`, 202)
			p.drained()
			shown := func(text string) {
				t.Helper()
				eventually(t, "a search shows what was delivered", func() bool {
					got := p.command("", words("show cities LON")...)
					return got.status == exitDone && strings.Contains(got.out, "\n"+text+": ")
				})
			}
			shown("searchable")
			p.expect(exitDone, "", words("show cities lon --fields"), "cities 130\n", "searchable: A search finds the newest record, which came at ",
				"the code LON, which it alone has", "has this version", "/title", `"London"`)
			if got := p.expect(exitDone, "", words("show cities 130 --body")); got.out != `{"id":"130","code":"LON","title":"London","risk":{"level":2}}` {
				t.Errorf("--body printed %q, want the record as it was delivered", got.out)
			}
			var d admin.Document
			require.NoError(t, json.Unmarshal([]byte(p.expect(exitDone, "", words("show cities 130 --json")).out), &d))
			if !d.Searchable || d.Index == nil || d.Index.Version != d.Version || d.Index.Searchable != d.Version || len(d.Index.Fields) < 3 {
				t.Errorf("--json printed %+v, want the newest version searchable, with its fields", d)
			}

			alias := "/" + p.prefix + "cities"
			p.ask(http.MethodPost, alias+"/_update/130?refresh=true", `{"doc":{"title":"somebody's"}}`, nil)
			got := p.expect(exitNegative, "", words("show cities LON"), "differs: ")
			if strings.Contains(got.out, "finds the newest record") {
				t.Errorf("after a change of the index by somebody else, show printed\n%s", got.out)
			}
			p.ask(http.MethodDelete, alias+"/_doc/130?refresh=true", "", nil)
			p.expect(exitNegative, "", words("show cities LON"), "the index has lost it", "riskdex verify --repair cities")
			p.expect(exitDone, "", words("verify --repair cities"), "1")
			p.drained()
			shown("searchable")

			deliver("PUT", "/cities/130", `{"title":"London","risk_label":"no number"}`, 202)
			eventually(t, "it is a dead letter", func() bool { return sum(p.metrics(), "riskdex_dead_letters") == 1 })
			p.expect(exitNegative, "", words("show cities LON"), "dead: Elasticsearch refuses the newest change", "A search finds version", "riskdex dead show", "; these fields differ: ")
			deliver("PUT", "/cities/130", `[]`, 422)
			p.expect(exitNegative, "", words("show cities 130"), "refused ", "no_record")
			deliver("DELETE", "/cities/LON", "", 202)
			p.drained()
			shown("deleted")
			p.expect(exitDone, "", words("show cities LON"), "deleted: ", "which it had until it was deleted", "has nothing of it")
			p.expect(exitFailed, "", words("show towns 1"), "must be one of")
		})
	}
}
