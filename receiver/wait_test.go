package receiver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

func allShown(_ context.Context, _ report.Kind, stamps []report.Stamp) int { return len(stamps) }

// noneShown waits in vain, until ctx ends.
func noneShown(ctx context.Context, _ report.Kind, _ []report.Stamp) int {
	<-ctx.Done()
	return 0
}

func TestPreferredWait(t *testing.T) {
	for _, c := range []struct {
		header []string
		want   time.Duration
	}{
		{nil, 0},
		{[]string{"wait=10"}, 10 * time.Second},
		{[]string{"respond-async, Wait = 10 ; x=y"}, 10 * time.Second},
		{[]string{"return=minimal", `wait="3"`}, 3 * time.Second},
		{[]string{"wait=3, wait=10"}, 3 * time.Second},
		{[]string{"wait=4000000000"}, 0},
		{[]string{"wait=86400"}, longestWait},
		{[]string{"wait=0"}, 0},
		{[]string{"wait"}, 0},
		{[]string{"wait=-1"}, 0},
		{[]string{"wait=1.5"}, 0},
		{[]string{"waiting=5"}, 0},
		{[]string{",;=,"}, 0},
	} {
		if got := preferredWait(http.Header{"Prefer": c.header}); got != c.want {
			t.Errorf("preferredWait(%q) = %v, want %v", c.header, got, c.want)
		}
	}
}

// waiting is a receiver that tests call without a network, so that synctest controls the clock.
type waiting struct {
	t        *testing.T
	receiver *Receiver
	registry *prometheus.Registry
}

func newWaiting(t *testing.T, await Await) *waiting {
	t.Helper()
	w := &waiting{t: t, registry: prometheus.NewRegistry()}
	cfg := DefaultConfig()
	cfg.MaxBody, cfg.BodyMemory, cfg.Await = 4<<20, 16<<20, await
	var err error
	if w.receiver, err = New(cfg, &recorder{}, time.Now, w.registry, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return w
}

// call makes a delivery. It returns the answer, the number of searchable documents in it (-1 if
// it has none), and how long the answer took.
func (w *waiting) call(ctx context.Context, method, path, body, prefer string) (res *http.Response, searchable int, took time.Duration) {
	w.t.Helper()
	began := time.Now()
	rec := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if prefer != "" {
		req.Header.Set("Prefer", prefer)
	}
	w.receiver.ServeHTTP(rec, req)
	answer := struct{ Searchable *int }{}
	if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil {
		w.t.Fatalf("%s %s is answered %d %q: %v", method, path, rec.Code, rec.Body, err)
	}
	searchable = -1
	if answer.Searchable != nil {
		searchable = *answer.Searchable
	}
	return rec.Result(), searchable, time.Since(began)
}

func TestWaitForTheSearch(t *testing.T) {
	one := func(context.Context, report.Kind, []report.Stamp) int { return 1 }
	for _, c := range []struct {
		name               string
		await              Await
		method, path, body string
		prefer             string
		status, searchable int
		applied            string
		took               time.Duration
	}{
		{"shown", allShown, "POST", "/cities", `[{"id":1},{"id":2}]`, "wait=10", 200, 2, "wait=10", 0},
		{"some shown", one, "POST", "/cities", `[{"id":1},{"id":2}]`, "wait=10", 202, 1, "wait=10", 0},
		{"never shown", noneShown, "PUT", "/cities/1", `{"t":1}`, "wait=10", 202, 0, "wait=10", 10 * time.Second},
		{"longest", noneShown, "PUT", "/cities/1", `{"t":1}`, "wait=600", 202, 0, "wait=60", time.Minute},
		{"refused besides", allShown, "POST", "/cities", `[{"id":1},{"t":1}]`, "wait=1", 200, 1, "wait=1", 0},
		{"a delete of nothing", allShown, "DELETE", "/cities/unknown", "", "wait=1", 200, 1, "wait=1", 0},
		{"not preferred", noneShown, "PUT", "/cities/1", `{"t":1}`, "", 202, -1, "", 0},
		{"without a search to ask", nil, "PUT", "/cities/1", `{"t":1}`, "wait=10", 202, -1, "", 0},
		{"refused", noneShown, "POST", "/cities", `{"t":1}`, "wait=10", 422, -1, "", 0},
		{"too many documents", noneShown, "POST", "/cities", "[" + strings.Repeat(`{"id":1},`, mostAwaited) + `{"id":1}]`, "wait=10", 202, -1, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWaiting(t, c.await)
				res, searchable, took := w.call(t.Context(), c.method, c.path, c.body, c.prefer)
				if res.StatusCode != c.status || searchable != c.searchable || res.Header.Get("Preference-Applied") != c.applied || took != c.took {
					t.Errorf("got status %d, searchable %d, %q after %v; want %d, %d, %q after %v",
						res.StatusCode, searchable, res.Header.Get("Preference-Applied"), took, c.status, c.searchable, c.applied, c.took)
				}
			})
		})
	}
}

// TestWaitsHoldNoMemory starts as many waits of large deliveries as are allowed. Together their
// bodies exceed the body memory, so each must free its own before it waits.
func TestWaitsHoldNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t, noneShown)
		body := `{"t":"` + strings.Repeat("x", 3<<20) + `"}`
		var answered atomic.Int32
		for i := range mostWaits {
			go func() {
				if res, _, took := w.call(t.Context(), "PUT", fmt.Sprintf("/cities/%d", i), body, "wait=10"); res.StatusCode != http.StatusAccepted || took != 10*time.Second {
					t.Errorf("delivery %d got status %d after %v, want 202 after 10s", i, res.StatusCode, took)
				}
				answered.Add(1)
			}()
			synctest.Wait()
		}
		if answered.Load() != 0 {
			t.Fatalf("%d deliveries were answered without a wait, want 0", answered.Load())
		}
		// One more does not wait: it is answered at once, like a delivery without the preference.
		if res, searchable, took := w.call(t.Context(), "PUT", "/cities/x", body, "wait=10"); res.StatusCode != http.StatusAccepted || searchable != -1 || took != 0 {
			t.Errorf("a delivery beyond the limit got status %d, searchable %d after %v; want 202, -1 at once", res.StatusCode, searchable, took)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if _, searchable, _ := w.call(t.Context(), "PUT", "/cities/x", body, "wait=1"); searchable != 0 {
			t.Errorf("a delivery after the waits ended got searchable %d, want 0: it did not wait", searchable)
		}
	})
}

// TestWaitEndsWithSenderOrServer: a sender that hangs up and EndWaits both end a wait early.
func TestWaitEndsWithSenderOrServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t, noneShown)
		ctx, hangUp := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, hangUp)
		if _, _, took := w.call(ctx, "PUT", "/cities/1", `{"t":1}`, "wait=10"); took != time.Second {
			t.Errorf("the wait ended %v after the delivery, want 1s, when the sender hung up", took)
		}
		time.AfterFunc(2*time.Second, w.receiver.EndWaits)
		if res, _, took := w.call(t.Context(), "PUT", "/cities/1", `{"t":1}`, "wait=10"); res.StatusCode != http.StatusAccepted || took != 2*time.Second {
			t.Errorf("got status %d after %v, want 202 after 2s, at EndWaits", res.StatusCode, took)
		}
	})
}

// waitsFor returns the metrics of a receiver after waits that ended in several ways.
func waitsFor(t *testing.T) map[string]float64 {
	t.Helper()
	d := &endpoint{t: t}
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t, noneShown)
		d.reg = w.registry
		w.call(t.Context(), "PUT", "/cities/1", `{"t":1}`, "wait=1")
		w.call(t.Context(), "POST", "/cities", "["+strings.Repeat(`{"id":1},`, mostAwaited)+`{"id":1}]`, "wait=1")
		w.receiver.EndWaits()
		w.call(t.Context(), "PUT", "/cities/1", `{"t":1}`, "wait=1")
	})
	return d.series()
}
