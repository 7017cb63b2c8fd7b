package main

import (
	"os"
	"path/filepath"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// TestLossStaysUntilAcknowledged replaces the journal by an older copy, as somebody might
// do at night, and starts riskdex repeatedly.
func TestLossStaysUntilAcknowledged(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.indicesReady()
	p.fill(5)
	copied := filepath.Join(t.TempDir(), "copy.db")
	p.expect(exitDone, "", []string{"backup", copied, "--journal", p.journal})
	if status := p.send("PUT", "/cities/new", `{"title":"later"}`); status != 202 {
		t.Fatalf("status %d", status)
	}
	p.drained()
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	require.NoError(t, os.Rename(copied, p.journal))

	lost := func() float64 { n, _ := p.metrics().Sum("riskdex_journal_lost_seconds"); return n }
	for range 3 {
		p.start()
		p.drained()
		p.expect(exitNegative, "", words("status"), "acknowledged between", "may be missing", "riskdex journal acknowledge-loss")
		if lost() <= 0 {
			t.Error("the metric shows no loss")
		}
		p.fill(5) // later deliveries do not end it
		if status := p.terminate(); status != exitDone {
			t.Fatalf("exit status %d", status)
		}
	}
	p.start()
	p.send("PUT", "/cities/new", `{"title":"later"}`)
	p.drained()
	p.expect(exitFailed, "", words("journal acknowledge-loss"), "--yes")
	p.expect(exitDone, "", words("journal acknowledge-loss --yes"), "acknowledged: changes of the time between")
	p.expect(exitNegative, "", words("journal acknowledge-loss --yes"), "knows of no loss")
	for range 2 {
		p.drained()
		p.expect(exitDone, "", words("status"), "all is well", "riskdex never made one")
		if lost() != 0 {
			t.Error("the metric still shows a loss")
		}
		if status := p.terminate(); status != exitDone {
			t.Fatalf("exit status %d", status)
		}
		p.start()
	}
}
