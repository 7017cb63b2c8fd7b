package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/report"
)

// TestElasticsearchDies kills Elasticsearch under load and starts it again, several times.
// Then it is down for long, while far more is delivered than riskdex may keep in memory.
func TestElasticsearchDies(t *testing.T) {
	t.Parallel()
	home := elastictest.Home(t)
	server := elastictest.Start(t, elasticserver.Options{Home: home})
	p := newProcess(t, server.URL())
	p.start()
	back := func() {
		server = elastictest.Start(t, elasticserver.Options{Home: home, Port: server.Port()})
	}
	away := func() {
		t.Helper()
		eventually(t, "Elasticsearch is shown as away", func() bool { return p.metrics()["riskdex_elasticsearch_up"] == 0 })
	}

	l := startLoad(p, 4)
	kills := torture.Extent(1, 5)
	for range kills {
		l.more(t, 500)
		server.Kill()
		away()
		l.more(t, 500)
		back()
		eventually(t, "Elasticsearch is shown as up", func() bool { return p.metrics()["riskdex_elasticsearch_up"] == 1 })
	}
	l.more(t, 500)

	require.NoError(t, server.Stop())
	away()
	outage := time.Duration(torture.Extent(10, 120)) * time.Second
	eventually(t, "the lag grows", func() bool { return p.metrics()[`riskdex_lag_seconds{kind="cities"}`] >= outage.Seconds() })
	l.stop()
	p.ready(false)
	p.conserved()
	backlog, size := torture.Extent(1_000, 100_000), torture.Extent(64<<10, 4<<10)
	deliverMany(p, 0, backlog/4, size, l) // fills caches and the like
	before := p.metrics()["process_resident_memory_bytes"]
	deliverMany(p, backlog/4, backlog, size, l)
	grown := p.metrics()["process_resident_memory_bytes"] - before
	if pending := sum(p.metrics(), "riskdex_changes_pending"); pending < float64(backlog) {
		t.Errorf("%v pending, want at least %d", pending, backlog)
	}
	// If the backlog was in memory, it would take more than that in any run. A process with
	// the race detector may take 50 MB for its work alone.
	if limit := max(float64(backlog*size/2), 50e6); grown > limit {
		t.Errorf("memory grew from %.0f MB by %.0f MB for a backlog of %d MB: want far less", before/1e6, grown/1e6, backlog*size/4*3/1e6)
	}
	p.ready(false)
	p.conserved()

	back()
	l.check(p)
	t.Logf("%d deliveries acknowledged; %d kills of Elasticsearch; %d deliveries, %d MB, while it was away: memory was %.0f MB after a quarter of them and grew by %.1f MB",
		l.Acknowledged(), kills, backlog, backlog*size/1e6, before/1e6, grown/1e6)
}

// ready checks that deliveries are accepted, and that /readyz shows Elasticsearch as up or
// not.
func (p *process) ready(elasticsearchUp bool) {
	p.t.Helper()
	res, err := http.Get("http://" + p.admin + "/readyz")
	require.NoError(p.t, err)
	defer res.Body.Close()
	var ready struct {
		Ready           bool
		ElasticsearchUp bool `json:"elasticsearch_up"`
	}
	require.NoError(p.t, json.NewDecoder(res.Body).Decode(&ready))
	if !ready.Ready || ready.ElasticsearchUp != elasticsearchUp {
		p.t.Errorf("ready is %v, Elasticsearch up is %v; want true and %v", ready.Ready, ready.ElasticsearchUp, elasticsearchUp)
	}
}

// deliverMany delivers the documents after number after, up to number to, with bodies of
// about size bytes.
func deliverMany(p *process, after, to, size int, l *load) {
	const senders = 16
	var running sync.WaitGroup
	for sender := range senders {
		running.Go(func() {
			for i := after + sender + 1; i <= to; i += senders {
				id := fmt.Sprintf("backlog-%d", i)
				body := fmt.Sprintf(`{"n":%d,"filling":[%s0]}`, i, strings.Repeat("0,", size/2))
				status, err := p.try(http.MethodPut, "/advisories/"+id, body)
				if err != nil || status != http.StatusAccepted {
					p.t.Errorf("delivery %d: status %d, %v", i, status, err)
					return
				}
				l.Note(report.Key{Kind: report.Advisories, ID: report.ID(id)}, i)
			}
		})
	}
	running.Wait()
}
