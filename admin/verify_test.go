package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// verifier is a fake. The real one is tested with a real server elsewhere.
type verifier func(ctx context.Context, kind report.Kind, opt admin.VerifyOptions, tell func(admin.VerifyEvent)) (report.VerifyReport, error)

func (v verifier) Verify(ctx context.Context, kind report.Kind, opt admin.VerifyOptions, tell func(admin.VerifyEvent)) (report.VerifyReport, error) {
	return v(ctx, kind, opt, tell)
}

func serveVerifier(t *testing.T, v verifier) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(admin.New(admin.Parts{Verifier: v, Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(server.Close)
	return server
}

func TestVerifyTellsWhatItFinds(t *testing.T) {
	server := serveVerifier(t, func(_ context.Context, kind report.Kind, opt admin.VerifyOptions, tell func(admin.VerifyEvent)) (report.VerifyReport, error) {
		if !opt.Repair || opt.RemoveForeign {
			t.Errorf("the options are %+v, want a repair that keeps foreign documents", opt)
		}
		if kind == report.Advisories {
			return report.VerifyReport{Missing: 1}, errors.New("the index is closed")
		}
		for range 1000 {
			tell(admin.VerifyEvent{Progress: &report.VerifyProgress{Kind: kind, Done: 1}})
		}
		tell(admin.VerifyEvent{Finding: &report.VerifyFinding{Kind: kind, ID: "<1>", Problem: "missing"}})
		return report.VerifyReport{Documents: 7}, nil
	})
	url := server.URL + "/api/verify"
	res, err := http.Post(url+"?repair=true", "", nil)
	require.NoError(t, err)
	defer res.Body.Close()
	var progress, findings int
	reports := map[report.Kind]report.VerifyReport{}
	for lines := json.NewDecoder(res.Body); ; {
		var e admin.VerifyEvent
		if err := lines.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Progress != nil:
			progress++
		case e.Finding != nil && e.Finding.ID == "<1>":
			findings++
		case e.Report != nil:
			reports[e.Report.Kind] = *e.Report
		}
	}
	if findings != 2 || progress == 0 || progress > 100 || len(reports) != 3 {
		t.Errorf("%d findings, %d lines of progress, %d reports", findings, progress, len(reports))
	}
	if r := reports[report.Advisories]; r.Error != "the index is closed" || r.Missing != 1 {
		t.Errorf("the report of the kind that could not be compared is %+v", r)
	}
	if r := reports[report.SpecialReports]; r.Error != "" || r.Documents != 7 {
		t.Errorf("the report of the next kind is %+v", r)
	}
	for _, query := range []string{"?kind=countries", "?remove_foreign=true"} {
		res, err := http.Post(url+query, "", nil)
		require.NoError(t, err)
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("the query %q is answered %d, want 400", query, res.StatusCode)
		}
	}
}

// TestVerifyEndsWhenTheClientLeaves waits for the end of a verification that would never
// end by itself. It is bounded by the time limit of go test.
func TestVerifyEndsWhenTheClientLeaves(t *testing.T) {
	kinds := make(chan report.Kind, 3)
	server := serveVerifier(t, func(ctx context.Context, kind report.Kind, _ admin.VerifyOptions, tell func(admin.VerifyEvent)) (report.VerifyReport, error) {
		kinds <- kind
		<-ctx.Done()
		return report.VerifyReport{}, ctx.Err()
	})
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/api/verify", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	<-kinds
	leave()
	server.Close() // waits for the call to end
	if len(kinds) > 0 {
		t.Error("another kind was begun although the client had left")
	}
}

// TestVerifyMayTakeLongerThanOtherRequests runs for longer than the listener's timeouts.
func TestVerifyMayTakeLongerThanOtherRequests(t *testing.T) {
	const bound = 50 * time.Millisecond
	v := verifier(func(ctx context.Context, kind report.Kind, _ admin.VerifyOptions, tell func(admin.VerifyEvent)) (report.VerifyReport, error) {
		select {
		case <-ctx.Done():
		case <-time.After(3 * bound):
		}
		return report.VerifyReport{}, ctx.Err()
	})
	server := httptest.NewUnstartedServer(admin.New(admin.Parts{Verifier: v, Log: slog.New(slog.DiscardHandler)}))
	server.Config.ReadTimeout, server.Config.WriteTimeout = bound, bound
	server.Start()
	t.Cleanup(server.Close)
	res, err := http.Post(server.URL+"/api/verify?kind=cities", "", nil)
	require.NoError(t, err)
	defer res.Body.Close()
	var e admin.VerifyEvent
	require.NoError(t, json.NewDecoder(res.Body).Decode(&e))
	if e.Report == nil || e.Report.Error != "" {
		t.Errorf("the report is %+v, want one without an error", e.Report)
	}
}
