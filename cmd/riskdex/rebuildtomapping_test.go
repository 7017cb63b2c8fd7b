package main

import (
	"encoding/json"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestRebuildToRebuildsForAnotherMapping: the other cluster gets new indices for a new mapping,
// while it is searched, and says that it is ready only then; also if the command is killed
// meanwhile.
func TestRebuildToRebuildsForAnotherMapping(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.expect(exitDone, "", []string{"push", "--to", "http://" + p.deliveries})
	other := p.beside(p.elasticsearch, elastictest.Prefix(t))
	if got := p.rebuildTo(other, "--once").wait(); got.status != exitDone {
		t.Fatalf("exit status %d; output %q %q", got.status, got.out, got.errs)
	}
	cities := len(other.whole(report.Cities))
	changed := []string{"--to-mappings", mappingsWithLabel(t, `{"type": "keyword", "ignore_above": 200}`)}

	// However often it is killed, searches find what they found before.
	l := startLoad(p, 2)
	for range 3 {
		filling := p.rebuildTo(other, changed...)
		l.more(t, 100)
		require.NoError(t, filling.cmd.Process.Kill())
		filling.wait()
		if n := len(other.whole(report.Cities)); n < cities {
			t.Errorf("searches find %d cities, and found %d before", n, cities)
		}
	}
	filling := p.rebuildTo(other, changed...)
	eventually(t, "the command says that everything is there", func() bool { return strings.Contains(filling.out.String(), "apps can be pointed at it") })
	for _, kind := range report.Kinds() {
		var fields map[string]json.RawMessage
		other.ask("GET", "/"+other.prefix+string(kind)+"/_mapping/field/risk_label", "", &fields)
		for index, field := range fields {
			if !strings.Contains(string(field), `"ignore_above":200`) {
				t.Errorf("%s has %s", index, field)
			}
		}
	}
	l.more(t, 50)
	l.stop()
	p.drained()
	for _, kind := range report.Kinds() {
		p.same(other, kind)
	}
	filling.interrupted(t)
}

// TestRebuildToKeepsTheIndexThatFits: a mapping that refuses what the index has is told, and
// changes nothing for searches.
func TestRebuildToKeepsTheIndexThatFits(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.send("PUT", "/cities/1", `{"id":1,"title":"A","risk_label":"7"}`)
	p.send("PUT", "/cities/2", `{"id":2,"title":"B","risk_label":"high"}`)
	p.drained()
	other := p.beside(p.elasticsearch, elastictest.Prefix(t))
	if got := p.rebuildTo(other, "--once").wait(); got.status != exitDone {
		t.Fatalf("exit status %d; output %q %q", got.status, got.out, got.errs)
	}
	narrow := narrowMappings(t)
	got := p.rebuildTo(other, "--to-mappings", narrow, "--once").wait()
	if got.status != exitNegative || !strings.Contains(got.errs, `cities: the index for the new mapping is not in place: the new index`) || strings.Contains(got.out, "apps can be") {
		t.Errorf("exit status %d; output %q %q", got.status, got.out, got.errs)
	}
	if n := len(other.whole(report.Cities)); n != 2 {
		t.Errorf("searches find %d cities, want 2", n)
	}

	other.admin = freeAddress(t)
	kept := p.rebuildTo(other, "--to-mappings", narrow, "--to-admin-listen", other.admin)
	eventually(t, "its status says so", func() bool { return strings.Contains(other.command("", "status").out, "The rebuild of cities failed") })
	p.send("PUT", "/cities/2", `{"id":2,"title":"B","risk_label":"3"}`)
	p.same(other, report.Cities)
	other.expect(exitDone, "", []string{"rebuild", "cities"}, "apps search "+other.prefix+"cities-v")
	eventually(t, "the command says that everything is there", func() bool { return strings.Contains(kept.out.String(), "apps can be pointed at it") })
	other.expect(exitDone, "", []string{"status"})
	p.same(other, report.Cities)
	kept.interrupted(t)
}
