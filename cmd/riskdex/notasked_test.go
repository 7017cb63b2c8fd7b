package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/require"
)

// TestNotAskedYetIsNotAway: neither at the start nor after kill -9 does anything say that
// Elasticsearch is or was away, unless it is true.
func TestNotAskedYetIsNotAway(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	// watched starts riskdex, and checks the status from its first answer until it contains
	// ready.
	watched := func(ready string) {
		t.Helper()
		p.log = new(logtest.Buffer)
		p.launch()
		looks := 0
		eventually(t, "it is ready", func() bool {
			res, err := http.Get("http://" + p.admin + "/api/status")
			if err != nil {
				return false
			}
			defer res.Body.Close()
			var st admin.Status
			require.NoError(t, json.NewDecoder(res.Body).Decode(&st))
			looks++
			for _, trouble := range st.Troubles {
				if trouble.What == admin.TroubleElasticsearch {
					t.Fatalf("status %d: %s", looks, trouble.Detail)
				}
			}
			if up := p.metrics()["riskdex_elasticsearch_up"]; up != 1 {
				t.Fatalf("status %d: riskdex_elasticsearch_up is %v", looks, up)
			}
			return strings.Contains(p.log.String(), ready)
		})
		p.atStart = p.metrics()
	}
	watched(`msg="index ready" index=` + p.prefix + "special-reports")
	p.send("PUT", "/cities/1", `{"title":"goes"}`)
	p.send("DELETE", "/cities/1", "")
	p.drained()
	p.conserved()
	p.kill()

	again := "recent deletes are sent again, in case Elasticsearch was restarted while riskdex did not run"
	watched(again)
	if log := p.log.String(); strings.Contains(log, "Elasticsearch was away") {
		t.Errorf("the log says that Elasticsearch was away: %s", log)
	}
	p.drained()
	p.conserved()
	p.kill()

	target, err := url.Parse(p.elasticsearch)
	require.NoError(t, err)
	way := freeAddress(t)
	p.elasticsearch, p.log = "http://"+way, new(logtest.Buffer)
	p.start()
	p.says(admin.TroubleElasticsearch)
	listener, err := net.Listen("tcp", way)
	require.NoError(t, err)
	proxy := &http.Server{Handler: httputil.NewSingleHostReverseProxy(target)}
	defer proxy.Close()
	go func() { _ = proxy.Serve(listener) }()
	eventually(t, "the log says that Elasticsearch was away, which is true", func() bool {
		return strings.Contains(p.log.String(), "Elasticsearch was away: recent deletes are sent again")
	})
	if strings.Contains(p.log.String(), again) {
		t.Error("the log gives two reasons for sending recent deletes again")
	}
	p.drained()
	p.elasticsearch = target.String()
}
