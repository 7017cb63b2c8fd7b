package indexer_test

import (
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// mayKeep has the privileges that docs/reference.md says riskdex needs.
const mayKeep = `{"cluster":["monitor","manage_index_templates"],"indices":[{"names":["*"],"privileges":["read","write","manage"]}]}`

// TestRestoredFromASnapshot restores real snapshots. riskdex has only the privileges that
// it needs.
func TestRestoredFromASnapshot(t *testing.T) {
	t.Parallel()
	home := elastictest.Home(t)
	folder := filepath.Join(home, "snapshots")
	s := elastictest.Start(t, elasticserver.Options{
		Home:     home,
		Settings: map[string]string{"path.repo": folder},
		Security: &elasticserver.Security{
			Users: map[string]elasticserver.User{admin: {Password: adminPassword, Role: elasticserver.Superuser}, "riskdex": {Password: "keeps in step", Role: "keeping"}},
			Roles: map[string]string{"keeping": mayKeep},
		},
	})
	server := &ownServer{Server: s}
	for name, c := range map[string]struct {
		before   string // changes the index before it is restored
		settings string // of the restore
		running  bool   // riskdex is not stopped
	}{
		"the index was lost":         {before: "DELETE /%s"},
		"over the closed index":      {before: "POST /%s/_close"},
		"over it while riskdex runs": {before: "POST /%s/_close", running: true},
		"under another name":         {before: "DELETE /%s", settings: `,"rename_pattern":"-v1$","rename_replacement":"-v7"`},
		"under a name of somebody's": {before: "DELETE /%s", settings: `,"rename_pattern":"-v1$","rename_replacement":"-restored"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Elasticsearch: server.as(admin, adminPassword), Client: server.as("riskdex", "keeps in step")})
			r.Run()
			v1 := r.Indices.Index(report.Cities, 1)
			server.administer(t, `PUT /_snapshot/past {"type":"fs","settings":{"location":"`+folder+`"}}`)
			snapshot := "/_snapshot/past/" + strings.TrimLeft(r.Indices.Prefix, "-_")
			r.fromThePast(func() {
				server.administer(t, "PUT "+snapshot+`?wait_for_completion=true {"indices":"`+v1+`","include_global_state":false}`)
			})
			if !c.running {
				r.Stop()
			}
			server.administer(t, strings.ReplaceAll(c.before, "%s", v1))
			server.administer(t, "POST "+snapshot+`/_restore?wait_for_completion=true {"indices":"`+v1+`"`+c.settings+`}`)
			if !c.running {
				r.restart(indexertest.Quick(), nil, nil)
			}
			r.isCurrent()
		})
	}
}
