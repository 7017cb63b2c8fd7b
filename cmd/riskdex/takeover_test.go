package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestTakeOverCommand runs two processes with different journals on the same indices. The
// second one says what to do, and takes over on command while the first is busy.
func TestTakeOverCommand(t *testing.T) {
	a := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	a.start()
	a.indicesReady()
	a.fill(20)
	b := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	b.prefix = a.prefix
	b.start()
	for i := range 25 {
		if status := b.send("PUT", fmt.Sprint("/cities/", i), cityBody(i, "of b")); status != 202 {
			t.Fatalf("status %d", status)
		}
	}
	foreign := func(p *process) bool {
		held, _ := p.metrics().Sum("riskdex_held", `reason="another_journal"`)
		return held == float64(len(report.Kinds()))
	}
	eventually(t, "the second one has found whose the indices are", func() bool { return foreign(b) })
	const what = "riskdex rebuild --take-over"
	b.expect(exitNegative, "", words("status"), "This journal does not fill", "--index-prefix", what)
	b.expect(exitFailed, "", words("verify"), what)
	b.expect(exitNegative, "", words("rebuild"), "cities: no rebuild was started", what)
	if page := string(b.administer("/")); !strings.Contains(page, what) {
		t.Error("the page does not say what to do")
	}
	if got := a.indexed(report.Cities); len(got) != 20 {
		t.Errorf("the first process has %d documents, want 20", len(got))
	}

	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		pace := time.NewTicker(5 * time.Millisecond) // more would take the processor from the rest
		defer pace.Stop()
		for i := 0; ; i++ {
			select {
			case <-done:
				ended <- nil
				return
			case <-pace.C:
			}
			if _, err := a.try("PUT", fmt.Sprint("/cities/", 100+i%10), cityBody(100+i%10, "of a")); err != nil {
				ended <- err
				return
			}
		}
	}()
	b.expect(exitDone, "", words("rebuild --take-over --yes"), "25 documents sent", "cities-v2", "advisories-v2", "special-reports-v2")
	close(done)
	require.NoError(t, <-ended)
	if !foreign(a) {
		t.Error("the first process has not noticed the take-over")
	}
	a.expect(exitNegative, "", words("status"), "This journal does not fill")
	b.drained()
	b.expect(exitDone, "", words("verify"), "25 documents in the journal, 25 in the index")
	for id, source := range b.indexed(report.Cities) {
		if !strings.Contains(string(source), "of b") {
			t.Errorf("document %s is %s, want that of b", id, source)
		}
	}
}
