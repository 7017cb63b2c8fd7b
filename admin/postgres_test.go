package admin_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/receiver"
	"riskdex/report"
)

// TestReadsWhileTheServerIsAway: what cannot be read now gets 503, after which clients try again,
// where a connection to PostgreSQL ends, and where nobody answers.
func TestReadsWhileTheServerIsAway(t *testing.T) {
	server := postgrestest.Start(t)
	log, reg := slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	j, err := postgres.Open(t.Context(), server.URL(), journal.Options{Log: log, History: 24 * time.Hour})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	rcv, err := receiver.New(receiver.DefaultConfig(), j, time.Now, reg, log)
	require.NoError(t, err)
	compared := make(chan struct{})
	close(compared)
	listener := httptest.NewServer(admin.New(admin.Parts{
		Changes: j, Compared: compared, Records: j, DeadLetters: j, Refusals: j, Receiver: rcv, Reads: admin.NewReadMetrics(reg), Log: log,
	}))
	t.Cleanup(listener.Close)
	stamps, err := j.Append(t.Context(), report.Delivery{Changes: []report.Change{
		{Key: report.Key{Kind: report.Cities, ID: "1"}, Op: report.Index, Body: []byte(`{"id":1}`)},
	}})
	require.NoError(t, err)
	if len(stamps) != 1 {
		t.Fatalf("stamped %+v", stamps)
	}
	get := func(path string) int {
		res, err := http.Get(listener.URL + path)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		if res.StatusCode != http.StatusOK && (res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "") {
			t.Errorf("%s is answered %d %s, Retry-After %q", path, res.StatusCode, text, res.Header.Get("Retry-After"))
		}
		return res.StatusCode
	}
	conn, err := pgx.Connect(t.Context(), strings.Split(server.URL(), "?")[0])
	require.NoError(t, err)
	failed := 0
	for range 20 {
		var n int
		require.NoError(t, conn.QueryRow(t.Context(),
			"SELECT count(*), count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE application_name LIKE 'riskdex%'").Scan(&n, nil))
		if get("/api/changes") != http.StatusOK {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no call met an ended connection, so this tests nothing")
	}
	require.NoError(t, conn.Close(t.Context()))
	require.NoError(t, server.Stop())
	for _, path := range []string{"/api/changes", "/api/export", "/api/dead?kind=cities", "/api/refused"} {
		if get(path) == http.StatusOK {
			t.Errorf("%s is answered 200 without a server", path)
		}
	}
}
