package main

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/networktest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// TestTwoClustersByTurnsAreTold: an address begins to lead to two clusters by turns, and then to the
// second alone. Status says so, and does not advise to repair what only seems to be missing. Ten
// minutes after, the one that stays gets everything.
func TestTwoClustersByTurnsAreTold(t *testing.T) {
	first, second := elastictest.URL(t), elastictest.Start(t, elasticserver.Options{}).URL()
	balancer, through := networktest.New(t, first)
	p := newProcess(t, through, "--probe-every", "1s")
	p.start()
	p.indicesReady()
	want := map[string]string{}
	for id := range 60 {
		p.send("PUT", fmt.Sprint("/cities/", id), cityBody(id, "old"))
		want[fmt.Sprint(id)] = "old"
	}
	p.drained()
	eventually(t, "all is well", func() bool { return p.status().Well })

	began := time.Now()
	balancer.LeadTo(second, first)
	trouble := p.says(admin.TroubleClusters)
	t.Logf("told after %v", time.Since(began)) // 15 s are promised, on a machine that has time
	if places := strings.Split(trouble.Detail, "/"+p.prefix); trouble.Severity != admin.Critical || len(places) != 3 {
		t.Errorf("the trouble is %+v, want a critical one with both clusters", trouble)
	}
	for id := range 60 {
		switch id % 3 {
		case 0:
			p.send("PUT", fmt.Sprint("/cities/", id), cityBody(id, "new"))
			want[fmt.Sprint(id)] = "new"
		case 1:
			p.send("DELETE", fmt.Sprint("/cities/", id), "")
			delete(want, fmt.Sprint(id))
		}
	}
	for _, other := range p.status().Troubles {
		switch other.What {
		case admin.TroubleMissing, admin.TroubleIncomplete, admin.TroubleLacking, admin.TroubleNotSearchable:
			t.Errorf("status says %+v", other)
		case admin.TroubleHeld, admin.TroubleAlias, admin.TroubleAnotherJournal:
			if !strings.HasPrefix(other.Remedy, "First what several_clusters says") {
				t.Errorf("status advises %+v", other)
			}
		}
	}
	if p.metrics()["riskdex_several_clusters"] != 1 {
		t.Error("the metric does not say so")
	}

	balancer.LeadTo(second) // connections to the first stay open
	p.drained()
	p.terminate()
	p.start()
	if again := p.says(admin.TroubleClusters); !strings.Contains(again.Detail, "by turns") {
		t.Errorf("after a restart: %+v", again)
	}
	p.terminate()
	// What the one that stays lacks, nobody knows: here, what only the first had taken.
	elastictest.Ask(t, "DELETE", second+"/"+p.prefix+"cities/_doc/0?refresh=true", "")
	p.passTurns()
	p.start()
	eventually(t, "all is well", func() bool { return p.status().Well })
	p.drained()
	if p.metrics()["riskdex_several_clusters"] != 0 {
		t.Error("the metric does not say that it is over")
	}
	got := p.indexed(report.Cities)
	if ids, all := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(ids, all) {
		t.Errorf("the second cluster has the cities %v, want %v", ids, all)
	}
	for id, text := range want {
		if !strings.Contains(string(got[id]), text) {
			t.Errorf("the second cluster has %s of %s, want the %s one", got[id], id, text)
		}
	}
}

// passTurns lets ten minutes pass since several clusters answered last.
func (p *process) passTurns() {
	p.t.Helper()
	j, err := sqlite.Open(p.t.Context(), p.journal, journal.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(p.t, err)
	stats, err := j.Stats(p.t.Context())
	require.NoError(p.t, err)
	turns := report.TurnsIn(stats.Notes)
	turns.At = turns.At.Add(-report.TurnsLast)
	require.NoError(p.t, j.Note(p.t.Context(), report.TurnsNote, turns.Note()))
	require.NoError(p.t, j.Close())
}
