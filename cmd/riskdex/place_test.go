package main

import (
	"maps"
	"slices"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
)

// TestBackToAnIndexThatWasLeft: riskdex keeps other indices for a while and then those from
// before, where it has marked every document as settled. What came in between gets there, too.
func TestBackToAnIndexThatWasLeft(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	first, second := p.prefix, elastictest.Prefix(t)
	p.start()
	for id, text := range []string{"stays", "changes", "goes"} {
		p.send("PUT", "/cities/"+string(rune('1'+id)), cityBody(id+1, text))
	}
	p.drained()
	p.terminate()

	p.prefix = second
	p.start()
	p.send("PUT", "/cities/2", cityBody(2, "changed"))
	p.send("DELETE", "/cities/3", "")
	p.send("PUT", "/cities/4", cityBody(4, "new"))
	p.drained()
	there := p.indexed(report.Cities)
	p.terminate()

	p.prefix = first
	p.start()
	eventually(t, "the first index has what the second has", func() bool {
		return maps.EqualFunc(p.indexed(report.Cities), there, slices.Equal)
	})
	p.drained()
}
