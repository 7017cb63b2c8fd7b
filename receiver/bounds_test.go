package receiver

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/receiver/auth"
	"riskdex/receiver/body"
	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// late is a body that does not arrive in time.
type late struct{}

func (late) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }
func (late) Close() error             { return nil }

// boundedSeries makes a receiver give each answer about a limit, and returns its series.
func boundedSeries(t *testing.T) (all []map[string]float64) {
	t.Helper()
	now := time.Now()
	clock := func() time.Time { return now }
	signed := auth.Config{WebhookFiles: secretFile(t, webhookKey)}
	credentials, err := auth.NewCredentials(signed, clock)
	if err != nil {
		t.Fatal(err)
	}
	many := "[" + strings.Repeat("0,", maxRecords) + "0]"
	for _, c := range []struct {
		cfg  Config
		auth auth.Config
		body func() io.Reader
		want int
	}{
		{Config{}, auth.Config{}, func() io.Reader { return late{} }, http.StatusRequestTimeout},
		{Config{}, signed, func() io.Reader { return late{} }, http.StatusRequestTimeout},
		{Config{}, auth.Config{}, func() io.Reader { return strings.NewReader(many) }, http.StatusRequestEntityTooLarge},
		{Config{MaxRate: 1e-9}, auth.Config{}, func() io.Reader { return strings.NewReader("{}") }, http.StatusTooManyRequests},
	} {
		c.cfg.MaxBody = 1 << 20
		d := &endpoint{recorder: new(recorder), t: t, reg: prometheus.NewRegistry()}
		if c.cfg.Authenticator, err = auth.New(c.auth, clock, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		r, err := New(c.cfg, d.recorder, clock, d.reg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("DELETE", "/cities/1", nil)) // within any rate limit
		var statuses []int
		for _, kind := range append(report.Kinds(), "nowhere") {
			for method, path := range map[string]string{"POST": "", "PUT": "/1", "DELETE": "/1", "PATCH": ""} {
				req := httptest.NewRequest(method, "/"+string(kind)+path, c.body())
				credentials.Show(req.Header, "msg_1", nil)
				rec := httptest.NewRecorder()
				r.ServeHTTP(rec, req)
				statuses = append(statuses, rec.Code)
			}
		}
		if !slices.Contains(statuses, c.want) {
			t.Errorf("statuses %v, want %d among them", statuses, c.want)
		}
		all = append(all, d.series())
	}
	return all
}

// holdMemory makes another request take so many bytes of the memory for bodies, until it
// is closed. It does not stall.
func holdMemory(t *testing.T, r *Receiver, bytes int64) *body.Reader {
	t.Helper()
	const small = 16 << 10 // takes none of it
	other := r.budget.NewReader(httptest.NewRecorder(), httptest.NewRequest("PUT", "/cities/1", nil), 1)
	if err := other.Grow(small + bytes); err != nil {
		t.Fatalf("%d bytes of memory: %v", bytes, err)
	}
	other.Skip()
	return other
}

// busySeries makes a receiver whose memory is used up refuse a large delivery of each
// kind, before and after its signature is verified, and returns the series.
func busySeries(t *testing.T) (all []map[string]float64) {
	t.Helper()
	for _, who := range []auth.Config{{}, {WebhookFiles: secretFile(t, webhookKey)}} {
		synctest.Test(t, func(t *testing.T) {
			d := &endpoint{recorder: new(recorder), t: t, reg: prometheus.NewRegistry()}
			cfg := Config{MaxBody: 64 << 10, BodyMemory: 128 << 10}
			var err error
			if cfg.Authenticator, err = auth.New(who, time.Now, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			credentials, err := auth.NewCredentials(who, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			r, err := New(cfg, d.recorder, time.Now, d.reg, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			holdMemory(t, r, 128<<10)
			for _, kind := range report.Kinds() {
				req := httptest.NewRequest("PUT", "/"+string(kind)+"/1", strings.NewReader(strings.Repeat("x", 32<<10)))
				credentials.Show(req.Header, "msg_1", nil)
				rec := httptest.NewRecorder()
				if r.ServeHTTP(rec, req); rec.Code != http.StatusServiceUnavailable {
					t.Errorf("%s is answered %d, want 503", kind, rec.Code)
				}
				if n := d.counted("riskdex_deliveries_not_durable_total", "kind", string(kind), "cause", causeBusy); n != 1 {
					t.Errorf("%s is counted %g times as busy", kind, n)
				}
			}
			all = append(all, d.series())
		})
	}
	return all
}

// TestCountsAreBounded: records of a payload, and members of one object or array, are
// limited, because each takes far more memory than its bytes.
func TestCountsAreBounded(t *testing.T) {
	d := open(t, nil)
	names := make([]string, jsonscan.MaxMembers+1)
	for i := range names {
		names[i] = `"` + string(rune('a'+i%26)) + strings.Repeat("x", i/26%50) + strings.Repeat("y", i/26/50) + `":0`
	}
	for body, want := range map[string]int{
		"[" + strings.Repeat(`{"id":1},`, maxRecords-1) + `{"id":1}]`:          http.StatusAccepted,
		"[" + strings.Repeat(`{"id":1},`, maxRecords) + `{"id":1}]`:            http.StatusRequestEntityTooLarge,
		`{"id":1,"t":[` + strings.Repeat("0,", jsonscan.MaxElements-1) + "0]}": http.StatusAccepted,
		`{"id":1,"t":[` + strings.Repeat("0,", jsonscan.MaxElements) + "0]}":   http.StatusBadRequest,
		`{"id":1,"t":{` + strings.Join(names[1:], ",") + "}}":                  http.StatusAccepted,
		`{"id":1,"t":{` + strings.Join(names, ",") + "}}":                      http.StatusBadRequest,
	} {
		if got := d.send("POST", "/cities", body); got.status != want {
			t.Errorf("%.30s… of %d bytes: %d %s, want %d", body, len(body), got.status, got.Detail, want)
		}
	}
}

// TestWhatIsMadeOfABodyTakesMemory: a delivery of many records waits for memory like a
// large one, and one that needs more than exists is refused.
func TestWhatIsMadeOfABodyTakesMemory(t *testing.T) {
	records := "[" + strings.Repeat(`{"id":1},`, 999) + `{"id":1}]`
	members := `{"id":1`
	for i := range 5000 {
		members += fmt.Sprintf(`,"m%d":0`, i)
	}
	members += "}"
	for what, c := range map[string]struct {
		body string
		size int64 // of the memory
		held int64 // of it, taken by others
		want int
	}{
		"few records":                      {`[{"id":1},{"id":2}]`, 1 << 20, 0, http.StatusAccepted},
		"records":                          {records, 1 << 20, 324 << 10, http.StatusAccepted},
		"records, and others have it":      {records, 1 << 20, 724 << 10, http.StatusServiceUnavailable},
		"more records than there is for":   {records, 256 << 10, 0, http.StatusRequestEntityTooLarge},
		"members":                          {members, 1 << 20, 224 << 10, http.StatusAccepted},
		"members, and others have it":      {members, 1 << 20, 724 << 10, http.StatusServiceUnavailable},
		"members, elsewhere":               {`{"id":1,"t":[` + strings.Repeat("0,", 50_000) + `0]}`, 32 << 20, 0, http.StatusAccepted},
		"elements, of which none is taken": {"[" + strings.Repeat("0,", 90_000) + "0]", 32 << 20, 0, http.StatusUnprocessableEntity},
	} {
		synctest.Test(t, func(t *testing.T) {
			rec := &recorder{}
			r, err := New(Config{MaxBody: 128 << 10, BodyMemory: c.size}, rec, time.Now, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			r.maxBody, r.budget = 1<<20, body.NewBudget(c.size, 0) // so that nothing is reserved for the oldest
			oldest, other := holdMemory(t, r, 1), holdMemory(t, r, c.held)
			w := httptest.NewRecorder()
			r.ServeHTTP(w, httptest.NewRequest("POST", "/cities", strings.NewReader(c.body)))
			if w.Code != c.want || (w.Code == http.StatusServiceUnavailable) != (len(rec.deliveries) == 0) {
				t.Errorf("%s: %d %s, %d handed on", what, w.Code, w.Body, len(rec.deliveries))
			}
			oldest.Close()
			other.Close()
			holdMemory(t, r, c.size).Close() // all of it is free afterwards
		})
	}
}

// TestBusyIsNoRefusal: the sender is to retry, and nothing of the delivery is kept.
func TestBusyIsNoRefusal(t *testing.T) {
	d := open(t, nil)
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{MaxBody: 64 << 10, BodyMemory: 128 << 10}
		reg := prometheus.NewRegistry()
		r, err := New(cfg, d.recorder, time.Now, reg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		other := holdMemory(t, r, 128<<10)
		send := func(body io.Reader) *httptest.ResponseRecorder {
			rec := httptest.NewRecorder()
			r.ServeHTTP(rec, httptest.NewRequest("PUT", "/cities/1", body))
			return rec
		}
		large := `{"t":"` + strings.Repeat("x", 32<<10) + `"}`
		got := send(strings.NewReader(large))
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || got.Header().Get("Connection") != "close" || len(d.deliveries) != 0 {
			t.Errorf("answered %d with Retry-After %v, and %d refusals are kept; want 503 and none", got.Code, got.Header(), len(d.deliveries))
		}
		if got := send(strings.NewReader(`{"t":1}`)); got.Code != http.StatusAccepted {
			t.Errorf("a small delivery is answered %d, want 202", got.Code)
		}
		other.Close()
		if got := send(strings.NewReader(large)); got.Code != http.StatusAccepted {
			t.Errorf("the retry is answered %d, want 202", got.Code)
		}
		holdMemory(t, r, cfg.BodyMemory).Close() // all of it is free again
	})
}
