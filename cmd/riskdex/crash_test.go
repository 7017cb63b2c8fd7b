package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/internal/elastic"
	"riskdex/internal/elastic/elastictest"
)

// TestKillLosesNothingAcknowledged kills riskdex again and again while it is
// under load.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	l := startLoad(p, 8)
	for range 15 {
		// Wait for some work rather than for some time, and a random bit more.
		goal := l.acknowledged.Load() + 50 + rand.Int64N(400)
		eventually(t, "deliveries are acknowledged", func() bool { return l.acknowledged.Load() >= goal })
		p.kill()
		p.start()
	}
	l.stop()
	l.check(p)
	t.Logf("%d deliveries acknowledged over 15 kills", l.acknowledged.Load())
}

// outage is how long Elasticsearch is away in TestElasticsearchAway.
const outage = time.Minute

// TestElasticsearchAway stops Elasticsearch for a minute under load.
func TestElasticsearchAway(t *testing.T) {
	home := elastictest.Home(t)
	server := elastictest.Start(t, elastic.Options{Home: home})
	p := newProcess(t, server.URL())
	p.start()
	l := startLoad(p, 4)
	eventually(t, "deliveries are acknowledged", func() bool { return l.acknowledged.Load() > 500 })

	must(t, server.Stop())
	before := l.acknowledged.Load()
	eventually(t, "Elasticsearch is shown as away", func() bool { return p.metrics()["riskdex_elasticsearch_up"] == 0 })
	eventually(t, "a minute of lag, and deliveries accepted all the same", func() bool {
		return p.metrics()[`riskdex_lag_seconds{kind="cities"}`] >= outage.Seconds() && l.acknowledged.Load() > before+1000
	})
	res, err := http.Get("http://" + p.admin + "/readyz")
	must(t, err)
	defer res.Body.Close()
	var ready struct {
		Ready           bool
		ElasticsearchUp bool `json:"elasticsearch_up"`
	}
	must(t, json.NewDecoder(res.Body).Decode(&ready))
	if !ready.Ready || ready.ElasticsearchUp {
		t.Errorf("while Elasticsearch is away: %+v", ready)
	}
	p.conserved()

	elastictest.Start(t, elastic.Options{Home: home, Port: server.Port()})
	l.stop()
	l.check(p)
	t.Logf("%d deliveries acknowledged, %d before the outage", l.acknowledged.Load(), before)
}

func TestStopsOnSIGTERM(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	if status := p.send("PUT", "/cities/1", `{"title":"x"}`); status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	started := time.Now()
	if status := p.terminate(); status != exitDone {
		t.Errorf("exit status %d", status)
	}
	if took := time.Since(started); took > stopDeliveries+stopAdmin+15*time.Second {
		t.Errorf("stopping took %v", took)
	}
	p.start()
	p.drained()
}

func TestOneJournalOneProcess(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	var said bytes.Buffer
	status := run(t.Context(), []string{
		"serve", "--journal", p.journal, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
	}, streams{&said, &said})
	if status != exitFailed || !strings.Contains(said.String(), p.journal) {
		t.Errorf("a second riskdex on the same journal: exit status %d, %s", status, said.String())
	}
}
