package receiver

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
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
	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// late is a body that does not come in time.
type late struct{}

func (late) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }
func (late) Close() error             { return nil }

// boundedSeries has a receiver give each answer that is about bounds, and returns
// its series.
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
		door auth.Config
		body func() io.Reader
		want int
	}{
		{Config{}, auth.Config{}, func() io.Reader { return late{} }, http.StatusRequestTimeout},
		{Config{}, signed, func() io.Reader { return late{} }, http.StatusRequestTimeout},
		{Config{}, auth.Config{}, func() io.Reader { return strings.NewReader(many) }, http.StatusRequestEntityTooLarge},
		{Config{MaxRate: 1e-9}, auth.Config{}, func() io.Reader { return strings.NewReader("{}") }, http.StatusTooManyRequests},
	} {
		c.cfg.MaxBody = 1 << 20
		d := &door{recorder: new(recorder), t: t, reg: prometheus.NewRegistry()}
		if c.cfg.Door, err = auth.New(c.door, clock, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		r, err := New(c.cfg, d.recorder, clock, d.reg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("DELETE", "/cities/1", nil)) // within any rate
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

// busySeries has a receiver whose memory others have answer a large delivery of each
// kind, before and after its signature would be known, and returns the series.
func busySeries(t *testing.T) (all []map[string]float64) {
	t.Helper()
	for _, who := range []auth.Config{{}, {WebhookFiles: secretFile(t, webhookKey)}} {
		synctest.Test(t, func(t *testing.T) {
			d := &door{recorder: new(recorder), t: t, reg: prometheus.NewRegistry()}
			cfg := Config{MaxBody: 64 << 10, BodyMemory: 128 << 10}
			var err error
			if cfg.Door, err = auth.New(who, time.Now, slog.New(slog.DiscardHandler)); err != nil {
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
			other := largeShare(r.memory, nobody)
			if err := other.grow(128 << 10); err != nil {
				t.Fatal(err)
			}
			other.done()
			for _, kind := range report.Kinds() {
				req := httptest.NewRequest("PUT", "/"+string(kind)+"/1", strings.NewReader(strings.Repeat("x", 32<<10)))
				credentials.Show(req.Header, "msg_1", nil)
				rec := httptest.NewRecorder()
				if r.ServeHTTP(rec, req); rec.Code != http.StatusServiceUnavailable {
					t.Errorf("%s: %d", kind, rec.Code)
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

// TestCountsAreBounded, of records in a payload and of what stands in one object
// or array: each takes far more memory than its bytes.
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
// large one, and one that needs more than there is, is told so.
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
		free int64 // of it
		want int
	}{
		"few records":                      {`[{"id":1},{"id":2}]`, 1 << 20, 0, http.StatusAccepted},
		"records":                          {records, 1 << 20, 700 << 10, http.StatusAccepted},
		"records, and others have it":      {records, 1 << 20, 300 << 10, http.StatusServiceUnavailable},
		"more records than there is for":   {records, 256 << 10, 256 << 10, http.StatusRequestEntityTooLarge},
		"members":                          {members, 1 << 20, 800 << 10, http.StatusAccepted},
		"members, and others have it":      {members, 1 << 20, 300 << 10, http.StatusServiceUnavailable},
		"members, elsewhere":               {`{"id":1,"t":[` + strings.Repeat("0,", 50_000) + `0]}`, 32 << 20, 32 << 20, http.StatusAccepted},
		"elements, of which none is taken": {"[" + strings.Repeat("0,", 90_000) + "0]", 32 << 20, 32 << 20, http.StatusUnprocessableEntity},
	} {
		synctest.Test(t, func(t *testing.T) {
			rec := &recorder{}
			r, err := New(Config{MaxBody: 128 << 10, BodyMemory: c.size}, rec, time.Now, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			r.maxBody = 1 << 20
			oldest, other := largeShare(r.memory, nobody), largeShare(r.memory, nobody)
			r.memory.kept = 0
			if err := errors.Join(oldest.grow(1), other.grow(c.size-c.free)); c.free > 0 && c.free < c.size && err != nil {
				t.Fatal(err)
			}
			other.done()
			w := httptest.NewRecorder()
			r.ServeHTTP(w, httptest.NewRequest("POST", "/cities", strings.NewReader(c.body)))
			if w.Code != c.want || (w.Code == http.StatusServiceUnavailable) != (len(rec.deliveries) == 0) {
				t.Errorf("%s: %d %s, %d handed on", what, w.Code, w.Body, len(rec.deliveries))
			}
			oldest.leave()
			other.leave()
			if r.memory.free != c.size {
				t.Errorf("%s: %d of %d bytes are free afterwards", what, r.memory.free, c.size)
			}
		})
	}
}

// TestBusyIsNoRefusal: the delivery is to come again, and nothing of it is kept.
func TestBusyIsNoRefusal(t *testing.T) {
	d := open(t, nil)
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{MaxBody: 64 << 10, BodyMemory: 128 << 10}
		reg := prometheus.NewRegistry()
		r, err := New(cfg, d.recorder, time.Now, reg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		other := largeShare(r.memory, nobody)
		if err := other.grow(128 << 10); err != nil {
			t.Fatal(err)
		}
		other.done()
		send := func(body io.Reader) *httptest.ResponseRecorder {
			rec := httptest.NewRecorder()
			r.ServeHTTP(rec, httptest.NewRequest("PUT", "/cities/1", body))
			return rec
		}
		large := `{"t":"` + strings.Repeat("x", 32<<10) + `"}`
		got := send(strings.NewReader(large))
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || got.Header().Get("Connection") != "close" || len(d.deliveries) != 0 {
			t.Errorf("%d %v, %d kept", got.Code, got.Header(), len(d.deliveries))
		}
		if got := send(strings.NewReader(`{"t":1}`)); got.Code != http.StatusAccepted {
			t.Errorf("a small one: %d", got.Code)
		}
		other.leave()
		if got := send(strings.NewReader(large)); got.Code != http.StatusAccepted {
			t.Errorf("later: %d", got.Code)
		}
		if r.memory.free != cfg.BodyMemory || len(r.memory.shares) != 0 {
			t.Errorf("%d bytes are free, %d shares are left", r.memory.free, len(r.memory.shares))
		}
	})
}

// TestPace: a body may come as slowly as it likes for a while, and then must keep
// up.
func TestPace(t *testing.T) {
	now := time.Unix(0, 0)
	var until time.Time
	p := &pace{
		ReadCloser: io.NopCloser(bytes.NewReader(make([]byte, 200<<20))), share: newMemory(1, 1).share(nobody),
		now: func() time.Time { return now }, until: func(at time.Time) error { until = at; return nil },
	}
	chunk := make([]byte, paceStep)
	for i, want := range []time.Duration{14 * time.Second, 18 * time.Second, 22 * time.Second} {
		if _, err := io.ReadFull(p, chunk); err != nil {
			t.Fatal(err)
		}
		if got := until.Sub(time.Unix(0, 0)); got != want {
			t.Errorf("step %d: until %v, want %v", i, got, want)
		}
	}
	if _, err := p.Read(chunk[:1]); err != nil {
		t.Fatal(err)
	}
	p.share.waited = time.Minute
	if _, err := p.Read(chunk[:1]); err != nil || until.Sub(time.Unix(0, 0)) < time.Minute {
		t.Errorf("until %v, %v, though it had to wait for memory", until, err)
	}
	p.share.waited = 0
	if _, err := io.CopyN(io.Discard, p, 100<<20); err != nil || until.Sub(time.Unix(0, 0)) != longest {
		t.Errorf("until %v, %v", until, err)
	}
	if p.done(); until.IsZero() {
		t.Error("there is no deadline any more, and the body goes on")
	}
	if _, err := io.Copy(io.Discard, p); err != nil {
		t.Fatal(err)
	}
	if p.done(); !until.IsZero() {
		t.Errorf("until %v, though the body has ended", until)
	}
	p.stop()
	if !until.Equal(now) {
		t.Errorf("stopped at %v", until)
	}
	p.share.told, p.due = true, 0
	if _, err := p.Read(chunk); !errors.Is(err, errNoMemory) {
		t.Errorf("read after a stop: %v", err)
	}
}

// TestReadAll in all the ways that a body can come.
func TestReadAll(t *testing.T) {
	const limit = 3 << 20
	content := make([]byte, limit+1)
	for i := range content {
		content[i] = byte(i * 7)
	}
	for _, size := range []int{0, 1, 4 << 10, smallBody - 1, smallBody, smallBody + 1, 100_000, 1 << 20, limit, limit + 1} {
		for _, length := range []int64{int64(size), -1} {
			m := newMemory(2*limit, 2*limit)
			h := m.share(nobody)
			got, err := h.readAll(bytes.NewReader(content[:size]), limit, length)
			if size > limit {
				if !errors.Is(err, errTooLarge) || len(got) != limit {
					t.Errorf("%d bytes: %d, %v", size, len(got), err)
				}
			} else if err != nil || !bytes.Equal(got, content[:size]) {
				t.Errorf("%d bytes, stated as %d: %d, %v", size, length, len(got), err)
			}
			if held := 2*limit - m.free; size < smallBody && held != 0 || held > int64(2*size+smallBody) {
				t.Errorf("%d bytes, stated as %d, hold %d", size, length, held)
			}
			h.leave()
			if m.free != 2*limit {
				t.Errorf("%d bytes: %d are not given back", size, 2*limit-m.free)
			}
		}
	}
}

// TestMemoryIsForWhatHasCome: a length that is only stated gets none.
func TestMemoryIsForWhatHasCome(t *testing.T) {
	const limit = 3 << 20
	for _, length := range []int64{64 << 10, 1 << 20, limit, -1} {
		m := newMemory(2*limit, 2*limit)
		h := m.share(nobody)
		came := 0
		body := readerFunc(func(b []byte) (int, error) {
			if held := 2*limit - m.free; held > 2*int64(came) {
				t.Errorf("of %d bytes, %d have come, and %d are held", length, came, held)
			}
			n := min(len(b), 10_000, 64<<10-came)
			if came += n; n == 0 {
				return 0, io.ErrUnexpectedEOF
			}
			return n, nil
		})
		if _, err := h.readAll(body, limit, length); !errors.Is(err, io.ErrUnexpectedEOF) || came != 64<<10 {
			t.Errorf("%d bytes, %v", came, err)
		}
		h.leave()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestSignedAndZipped is read twice, as it was sent and decompressed.
func TestSignedAndZipped(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	content := make([]byte, 100_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content) // hardly smaller when it is compressed
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest("PUT", "/cities/1", bytes.NewReader(b.Bytes()))
	req.Header.Set("Content-Encoding", "gzip")
	r := &Receiver{maxBody: 200_000, memory: newMemory(400_000, 400_000)}
	d := r.newDelivery(call{}, httptest.NewRecorder(), req)
	raw, p := d.intake.readRaw()
	if p != nil || !bytes.Equal(raw, b.Bytes()) {
		t.Fatalf("%d bytes, %+v", len(raw), p)
	}
	if all, p := d.intake.read(); p != nil || !bytes.Equal(all, content) {
		t.Errorf("%d bytes, %+v", len(all), p)
	}
	if held := r.memory.size - r.memory.free; held > 131072 {
		t.Errorf("%d bytes are held, though what was sent is not needed any more", held)
	}
}
