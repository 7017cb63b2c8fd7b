package main

import (
	"testing"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestElasticsearchIsUpgradedInPlace stops Elasticsearch 8 and starts 9 with its data, while
// riskdex goes on accepting.
func TestElasticsearchIsUpgradedInPlace(t *testing.T) {
	t.Parallel()
	home := elastictest.Home(t)
	server := elastictest.Start(t, elasticserver.Options{Home: home, Version: elasticserver.EarlierVersion})
	p := newSearched(t, server.URL())
	p.start()
	p.expect(exitDone, "", []string{"push", "--to", "http://" + p.deliveries})
	p.drained()
	before := len(p.indexed(report.Cities))

	require.NoError(t, server.Stop())
	p.send("PUT", "/cities/4711", cityBody(4711, "while it is away"))
	p.send("DELETE", "/cities/LON", "")
	elastictest.Start(t, elasticserver.Options{Home: home, Port: server.Port(), Version: elasticserver.NextVersion})
	p.drained()
	p.send("PUT", "/cities/4712", cityBody(4712, "after the upgrade"))
	p.drained()
	eventually(t, "the city that came after the upgrade is found first", func() bool {
		hits := p.search("after the upgrade")
		return len(hits) > 0 && hits[0] == "cities/4712"
	})
	if after := len(p.indexed(report.Cities)); after != before+1 {
		t.Errorf("%d cities, want the %d from before, without one, and two more", after, before)
	}
	p.expect(exitDone, "", []string{"verify"}, "cities")
	eventually(t, "all is well", func() bool { return p.command("", "status").status == exitDone })
}
