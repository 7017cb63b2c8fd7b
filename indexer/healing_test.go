package indexer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// testSecurityHeals: an index is held while riskdex may not write to it, and continues by
// itself when it may. The credentials are in the address.
func testSecurityHeals(t *testing.T, s *ownServer) {
	const password = "the right one"
	for name, c := range map[string]struct {
		atFirst bool // whether it may write at first
		trouble [2]string
	}{
		"wrong password at the start": {false, [2]string{"another one", mayWrite}},
		"password changed on the way": {true, [2]string{"another one", mayWrite}},
		"no privilege at the start":   {false, [2]string{password, mayRead}},
		"privilege lost on the way":   {true, [2]string{password, mayRead}},
	} {
		t.Run(name, func(t *testing.T) {
			user := strings.ReplaceAll(name, " ", "-")
			r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Elasticsearch: s.as(admin, adminPassword), Client: s.as(user, password)})
			if c.atFirst {
				s.introduce(t, user, password, mayWrite)
				r.Run()
				r.Append(indexertest.Many(report.Cities, 10, "before")...)
				r.Drained()
				s.let(t, user, c.trouble[0], c.trouble[1])
				for s.mayWrite(t, user, password) {
					time.Sleep(20 * time.Millisecond) // until the server has noticed
				}
			} else {
				s.introduce(t, user, c.trouble[0], c.trouble[1])
				r.Run()
			}
			r.Append(indexertest.Many(report.Cities, 20, "after")...)
			r.Append(indexertest.Delete(report.Cities, "7"))
			r.Eventually("the index is held", func() bool {
				return r.Metric("riskdex_held", "index", r.Indices.Alias(report.Cities), "reason", "unauthorized") == 1
			})
			if k := r.Stats().Kinds[report.Cities]; k.Pending != 20 || k.DeadLetters != 0 {
				t.Errorf("while held: %d pending, %d dead letters", k.Pending, k.DeadLetters)
			}
			s.let(t, user, password, mayWrite)
			r.Drained()
			if n := r.Count(report.Cities); n != 19 {
				t.Errorf("%d documents of 19", n)
			}
			r.Eventually("it is no longer shown as held", func() bool { return r.Metric("riskdex_held") == 0 })
		})
	}
}

// mayWrite reports whether a user may create an index.
func (s *ownServer) mayWrite(t *testing.T, user, password string) bool {
	t.Helper()
	req, err := http.NewRequest("PUT", s.URL()+"/_index_template/try-"+user, strings.NewReader(`{"index_patterns":["try-`+user+`"]}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth(user, password)
	status, _ := roundTrip(t, req)
	return status == http.StatusOK
}

// testFieldLimitHeals: an index that has reached its limit of fields is for the operator
// to fix; no document is to blame.
func testFieldLimitHeals(t *testing.T, s *ownServer) {
	set := indexertest.SetWith(t, `{"settings":{"index":{"number_of_replicas":0,"mapping.total_fields.limit":10}},"mappings":{"dynamic":true}}`)
	r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Elasticsearch: s.as(admin, adminPassword), Set: set, Documents: indexertest.AsDelivered{Set: set}})
	r.Run()
	for i := range 30 {
		r.Append(indexertest.Index(report.Cities, fmt.Sprint(i), fmt.Sprintf(`{"field %d":%d}`, i, i)))
	}
	alias := r.Indices.Alias(report.Cities)
	r.Eventually("the index is held", func() bool { return r.Metric("riskdex_held", "index", alias, "reason", "field_limit") == 1 })
	if k := r.Stats().Kinds[report.Cities]; k.Pending == 0 || k.DeadLetters != 0 {
		t.Errorf("while held: %d pending, %d dead letters", k.Pending, k.DeadLetters)
	}
	s.administer(t, "PUT /"+alias+`/_settings {"index.mapping.total_fields.limit":1000}`)
	r.Drained()
	if n := r.Count(report.Cities); n != 30 {
		t.Errorf("%d documents of 30", n)
	}
}
