package admin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// records is a fake of the journal.
type records func(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error]

func (f records) Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error] {
	return f(ctx, kind)
}

// Stats has the clock of a server that is behind.
func (records) Stats(context.Context) (report.Stats, error) {
	return report.Stats{Now: time.Unix(1e9, 0).UTC()}, nil
}

// serveRecords returns a listener with short timeouts, and its metrics.
func serveRecords(t *testing.T, f records) (*httptest.Server, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	server := httptest.NewUnstartedServer(admin.New(admin.Parts{Records: f, Reads: admin.NewReadMetrics(reg), Log: slog.New(slog.DiscardHandler)}))
	server.Config.WriteTimeout = 50 * time.Millisecond
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.Start()
	t.Cleanup(server.Close)
	return server, reg
}

func recordOf(kind report.Kind, id, body string) report.Record {
	return report.Record{Change: report.Change{Key: report.Key{Kind: kind, ID: report.ID(id)}, Body: []byte(body)}}
}

// each yields records, and then an error unless it is nil.
func each(err error, list ...report.Record) iter.Seq2[report.Record, error] {
	return func(yield func(report.Record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(report.Record{}, err)
		}
	}
}

// TestExportLeavesOutWhatIsLost reads an export that takes longer than the listener's timeout.
func TestExportLeavesOutWhatIsLost(t *testing.T) {
	server, reg := serveRecords(t, func(_ context.Context, kind report.Kind) iter.Seq2[report.Record, error] {
		if kind != report.Cities {
			return each(nil, recordOf(kind, "1", "{}"))
		}
		time.Sleep(100 * time.Millisecond)
		damaged, dropped := recordOf(kind, "a", ""), recordOf(kind, "b", "")
		damaged.Lost, dropped.Lost = report.LostDamaged, report.LostDropped
		return each(nil, damaged, dropped, recordOf(kind, "c", "{\n}"))
	})
	res, err := http.Get(server.URL + "/api/export")
	require.NoError(t, err)
	if date := res.Header.Get("Date"); date != "Sun, 09 Sep 2001 01:46:40 GMT" {
		t.Errorf("by the clock of the journal it is %s", date)
	}
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	want := `{"kind":"advisories","id":"1","record":{}}` + "\n" + `{"kind":"cities","id":"c","record":{ }}` + "\n" + `{"kind":"special-reports","id":"1","record":{}}` + "\n"
	if string(text) != want || res.Trailer.Get("Riskdex-Records") != "3" || res.Trailer.Get("Riskdex-Damaged") != "1" || res.Trailer.Get("Riskdex-Dropped") != "1" {
		t.Errorf("%s with %v", text, res.Trailer)
	}
	res, err = http.Get(server.URL + "/api/export?kind=cities&versions=true")
	require.NoError(t, err)
	text, err = io.ReadAll(res.Body)
	require.NoError(t, err)
	want = `{"kind":"cities","id":"a","version":0,"accepted_at":"0001-01-01T00:00:00Z","lost":"damaged"}` + "\n" +
		`{"kind":"cities","id":"b","version":0,"accepted_at":"0001-01-01T00:00:00Z","lost":"dropped"}` + "\n" +
		`{"kind":"cities","id":"c","version":0,"accepted_at":"0001-01-01T00:00:00Z","record":{ }}` + "\n"
	if string(text) != want || res.Trailer.Get("Riskdex-Records") != "1" || res.Trailer.Get("Riskdex-Damaged") != "1" {
		t.Errorf("with versions: %s with %v", text, res.Trailer)
	}
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	for _, line := range []string{`riskdex_exports_total{result="broken"} 0`, `riskdex_exports_total{result="done"} 2`, `riskdex_exported_records_total{kind="cities"} 2`} {
		if !strings.Contains(rec.Body.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, rec.Body)
		}
	}
}

// TestExportThatFailsIsBrokenOff must not end like one that is whole.
func TestExportThatFailsIsBrokenOff(t *testing.T) {
	failure, list := errors.New("a page is damaged"), []report.Record(nil)
	server, _ := serveRecords(t, func(context.Context, report.Kind) iter.Seq2[report.Record, error] { return each(failure, list...) })
	get := func(query string) (int, string, error) {
		res, err := http.Get(server.URL + "/api/export?" + query)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return res.StatusCode, string(text), err
	}
	if status, text, err := get("kind=cities"); status != 503 || !strings.Contains(text, "a page is damaged") || err != nil {
		t.Errorf("before anything was written: %d %s, %v", status, text, err)
	}
	failure = report.ErrSnapshotTooOld
	if status, text, err := get("kind=cities"); status != 503 || !strings.Contains(text, "riskdex export --journal BACKUP") || err != nil {
		t.Errorf("a snapshot that is too old: %d %s, %v", status, text, err)
	}
	list = []report.Record{recordOf(report.Cities, "1", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)}
	if status, _, err := get("kind=cities"); status != 200 || err == nil {
		t.Errorf("after something was written: %d, %v", status, err)
	}
	for _, query := range []string{"kind=towns", "kind=probe", "kinds=cities"} {
		if status, text, _ := get(query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

// TestOneExportAtATime also ends one whose client has hung up.
func TestOneExportAtATime(t *testing.T) {
	begun := make(chan struct{}, 1)
	server, _ := serveRecords(t, func(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error] {
		return func(yield func(report.Record, error) bool) {
			begun <- struct{}{}
			<-ctx.Done()
			yield(report.Record{}, ctx.Err())
		}
	})
	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/export", bytes.NewReader(nil))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(req)
		ended <- err
	}()
	<-begun
	res, err := http.Get(server.URL + "/api/export")
	require.NoError(t, err)
	res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a second export: %d", res.StatusCode)
	}
	hangUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/export", nil)
		require.NoError(t, err)
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil {
				res.Body.Close()
				cancel() // it was not begun
			}
		}()
		select {
		case <-begun:
			cancel()
			return
		case <-ctx.Done():
		}
	}
}

// TestReading: some records of a kind are read, and one call at a time is answered.
func TestReading(t *testing.T) {
	d := openStatusDesk(t)
	for i := range 3 {
		d.deliver("PUT", fmt.Sprint("/cities/", i), `{"t":1}`)
	}
	var r admin.Reading
	d.call(200, "GET", "/api/reading?kind=cities", "", &r)
	if r.Kind != report.Cities || r.Records != 3 {
		t.Errorf("%+v", r)
	}
	if detail := d.call(400, "GET", "/api/reading", "", nil); !strings.Contains(detail, "which kind") {
		t.Error(detail)
	}
}

// Reading implements admin.Reader.
func (d *statusDesk) Reading(kind report.Kind, records [][]byte) (admin.Reading, error) {
	return admin.Reading{Kind: kind, Records: len(records)}, nil
}
