package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/disktest"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestFullDiskIsTold: another file fills the journal's disk. Until there is space again,
// status says so, and so does the log, in few lines.
func TestFullDiskIsTold(t *testing.T) {
	dir := disktest.Tmpfs(t, 64)
	p := newProcess(t, elastictest.URL(t), "--journal-min-free", "16MiB")
	p.journal = filepath.Join(dir, "riskdex.db")
	t.Cleanup(p.kill) // before the disk goes
	p.start()
	p.indicesReady()
	p.send("PUT", "/cities/before", `{"title":"x"}`)
	p.drained()
	other := filepath.Join(dir, "other")
	disktest.Fill(t, other, 8<<20)
	trouble := p.says(admin.TroubleNotAccepting)
	if trouble.Severity != admin.Critical || !strings.Contains(trouble.Detail, "--journal-min-free keeps 16 MiB of it") {
		t.Errorf("the trouble is %+v, want a critical one that names --journal-min-free", trouble)
	}
	if accepting := p.metrics()["riskdex_accepting"]; accepting != 0 {
		t.Errorf("riskdex_accepting is %v", accepting)
	}
	for i := range 50 {
		if status := p.send("PUT", fmt.Sprint("/cities/", i), `{"title":"x"}`); status != 503 {
			t.Fatalf("status %d", status)
		}
	}
	log := p.log.String()
	if told, each := strings.Count(log, "the journal accepts no deliveries"), strings.Count(log, "delivery not accepted"); told != 1 || each < 1 || each > 5 {
		t.Errorf("%d log lines say that the disk is full, and %d that the 50 deliveries were refused", told, each)
	}
	require.NoError(t, os.Remove(other))
	eventually(t, "deliveries are accepted", func() bool { return p.status().Accepting })
	if trouble := p.says(admin.TroubleTurnedAway); trouble.Severity != admin.Warning { // only the publisher has them
		t.Errorf("the trouble is %+v, want a warning", trouble)
	}
	if status := p.send("PUT", "/cities/after", `{"title":"x"}`); status != 202 {
		t.Errorf("status %d", status)
	}
	p.drained()
	if n := len(p.indexed(report.Cities)); n != 2 {
		t.Errorf("the index has %d documents", n)
	}
}
