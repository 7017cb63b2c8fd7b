package main

import (
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
)

// TestKilledBeforeTheFirstDelivery: if nothing was acknowledged yet, no loss is reported.
func TestKilledBeforeTheFirstDelivery(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.indicesReady()
	p.kill()
	p.start()
	p.expect(exitDone, "", words("status"), "all is well")
}
