package elastic_test

import (
	"testing"

	"riskdex/elastic"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestShownSourceIsAsItWasWritten: numbers keep the form that they came in.
func TestShownSourceIsAsItWasWritten(t *testing.T) {
	server, index := elastictest.URL(t), elastictest.Prefix(t)+"shown"
	const source = `{"source":{"lat":51.50,"long":1234567890.12345678901234,"large":1e400,"id":12345678901234567890,"level":3.0,"e":1E2}}`
	if status, answer := elastictest.Ask(t, "PUT", server+"/"+index, `{"mappings":{"properties":{"source":{"type":"object","enabled":false}}}}`); status != 200 {
		t.Fatalf("%s", answer)
	}
	if status, answer := elastictest.Ask(t, "PUT", server+"/"+index+"/_doc/1?refresh=true&version=7&version_type=external", source); status != 201 {
		t.Fatalf("%s", answer)
	}
	c, err := elastic.NewClient(elastic.Connection{URL: server})
	require.NoError(t, err)
	have, got, err := c.Shown(t.Context(), index, report.ID("1"))
	if err != nil || have != (elastic.Indexed{Found: true, Version: 7}) || string(got) != source {
		t.Errorf("%+v, %v: %s", have, err, got)
	}
	if have, got, err := c.Shown(t.Context(), index, report.ID("2")); err != nil || have.Found || got != nil {
		t.Errorf("of what is not there: %+v, %v: %s", have, err, got)
	}
}
