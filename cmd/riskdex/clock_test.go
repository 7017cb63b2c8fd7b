package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// TestMetricsTellTheTime: every scrape has the current time, for Prometheus to compare with
// its own.
func TestMetricsTellTheTime(t *testing.T) {
	p := newProcess(t, "http://127.0.0.1:1", "--probe-every", "0")
	p.start()
	for range 2 {
		before := time.Now()
		told := time.UnixMicro(int64(p.metrics()["riskdex_clock_timestamp_seconds"] * 1e6))
		if after := time.Now(); told.Before(before.Add(-time.Millisecond)) || told.After(after.Add(time.Millisecond)) {
			t.Errorf("between %v and %v the metrics had the time %v", before, after, told)
		}
	}
}

// TestClockThatWasAheadIsTold uses a journal that was written with a clock an hour ahead.
// The lag of the changes that still wait is 0, which would look as if all was well.
func TestClockThatWasAheadIsTold(t *testing.T) {
	p := newProcess(t, "http://127.0.0.1:1", "--probe-every", "0")
	j, err := sqlite.Open(t.Context(), p.journal, journal.Options{
		Now: func() time.Time { return time.Now().Add(time.Hour) }, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	_, err = j.Append(t.Context(), report.Delivery{Changes: []report.Change{
		{Key: report.Key{Kind: report.Cities, ID: "1"}, Op: report.Index, Body: []byte(`{"id":"1","title":"older"}`)},
	}})
	require.NoError(t, err)
	require.NoError(t, j.Close())

	p.start()
	trouble := p.says(admin.TroubleClock)
	if trouble.Kind != report.Cities || trouble.Severity != admin.Warning || trouble.Alert != "RiskdexClockOff" || !strings.Contains(trouble.Detail, "in the future, by the clock of this machine") {
		t.Errorf("the trouble is %+v, want a warning about cities from the future", trouble)
	}
	p.expect(exitNegative, "", words("status"), "Waiting changes of cities were accepted ")
	const behind = "riskdex_clock_behind_seconds"
	if got := p.metrics()[behind]; got < 60 || got > 3600 {
		t.Errorf("%s is %v", behind, got)
	}

	// It is sent nevertheless, and changes that come now are newer.
	p.terminate()
	p.elasticsearch = elastictest.URL(t)
	p.start()
	p.indicesReady()
	eventually(t, "status is well", func() bool { return p.status().Well })
	if got := p.metrics()[behind]; got != 0 {
		t.Errorf("nothing is pending, but %s is %v", behind, got)
	}
	p.send("PUT", "/cities/1", `{"title":"newer"}`)
	eventually(t, "search shows the newer one", func() bool { return len(p.search("newer")) == 1 })
}

// TestReconcileWhereTheClockWasBehind: what came after the list stays, though it was accepted
// earlier by a clock that was an hour behind. Versions tell the order, and times do not.
func TestReconcileWhereTheClockWasBehind(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.deliverCities(40)
	before := p.now()
	list := writeList(t, numbers(1, 39))
	p.terminate()
	j, err := sqlite.Open(t.Context(), p.journal, journal.Options{
		Now: func() time.Time { return time.Now().Add(-time.Hour) }, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	_, err = j.Append(t.Context(), report.Delivery{Changes: []report.Change{
		{Key: report.Key{Kind: report.Cities, ID: "after"}, Op: report.Index, Body: []byte(`{"title":"came after the list"}`)},
	}})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	p.start()
	p.expect(exitDone, "", []string{"reconcile", "cities", list, "--delete", "--expect", "39", before, "--to", "http://" + p.deliveries},
		"newer     cities after: delivered ", "1 of 1 removed")
	p.has(report.Cities, append(words(numbers(1, 39)), "after")...)
}
