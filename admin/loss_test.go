package admin_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// TestStatusTellsOfALoss: the status, the page and the metric show a loss until it is
// acknowledged.
func TestStatusTellsOfALoss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "riskdex.db")
	deliver := func() time.Time {
		j, err := sqlite.Open(t.Context(), path, journal.Options{})
		require.NoError(t, err)
		stamps, err := j.Append(t.Context(), report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Cities, ID: "1"}, Op: report.Index, Body: []byte("{}")}}})
		require.NoError(t, err)
		require.NoError(t, j.Close())
		return time.UnixMicro(int64(stamps[0].Version)).UTC()
	}
	since := deliver()
	older, err := os.ReadFile(path)
	require.NoError(t, err)
	until := deliver()
	require.NoError(t, os.WriteFile(path, older, 0o600))
	d := openStatusDeskOn(t, openDeskOn(t, path))
	d.index()
	lost := func() float64 {
		reg := prometheus.NewRegistry()
		reg.MustRegister(admin.NewJournalCollector(d.journal, nil, time.Now, nil))
		families, err := reg.Gather()
		require.NoError(t, err)
		for _, f := range families {
			if f.GetName() == "riskdex_journal_lost_seconds" {
				return f.GetMetric()[0].GetGauge().GetValue()
			}
		}
		t.Fatal("the metric of the loss is missing")
		return 0
	}

	st := d.status()
	if len(st.Troubles) != 1 || st.Troubles[0].What != admin.TroubleLost || !strings.Contains(st.Troubles[0].Detail, "between "+since.Format(time.RFC3339)+" and ") {
		t.Errorf("the troubles are %+v, want only the loss, with its times", st.Troubles)
	}
	if l := st.Journal.Loss; l == nil || !l.Since.Equal(since) || !l.Until.Equal(until) || l.Noticed.IsZero() {
		t.Errorf("the loss is %+v", l)
	}
	if body, _ := d.read(http.StatusOK, "/"); !strings.Contains(body, "riskdex journal acknowledge-loss") {
		t.Error("the page does not say what to do")
	}
	if got := lost(); got != until.Sub(since).Seconds() {
		t.Errorf("the metric of the loss is %v", got)
	}

	var ended report.Loss
	d.call(http.StatusOK, "POST", "/api/journal/acknowledge-loss", "", &ended)
	if !ended.Since.Equal(since) || !ended.Until.Equal(until) {
		t.Errorf("acknowledged is %+v", ended)
	}
	if st := d.status(); !st.Well || st.Journal.Loss != nil || lost() != 0 {
		t.Errorf("after the acknowledgement the status has %+v, and the metric is %v", st.Troubles, lost())
	}
	d.call(http.StatusNotFound, "POST", "/api/journal/acknowledge-loss", "", nil)
}
