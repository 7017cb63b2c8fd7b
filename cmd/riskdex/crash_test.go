package main

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/torture"
)

// TestKillLosesNothingAcknowledged kills riskdex repeatedly under load.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	l := startLoad(p, 8)
	kills := torture.Extent(15, 200)
	for range kills {
		// Wait for some work rather than for some time, and a random bit more.
		l.more(t, 50+rand.Int64N(400))
		p.kill()
		p.start()
	}
	l.stop()
	l.check(p)
	t.Logf("%d deliveries acknowledged over %d kills", l.Acknowledged(), kills)
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
