package push

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// receiver is a server that records what reaches it and answers according to a script.
type receiver struct {
	*httptest.Server
	script func(n int, w http.ResponseWriter, r *http.Request) // n counts requests from 0

	mu   sync.Mutex
	seen []string // guarded by mu: method, path as it came, body
}

func newReceiver(t *testing.T, script func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	rec := &receiver{script: script}
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		rec.mu.Lock()
		n := len(rec.seen)
		rec.seen = append(rec.seen, r.Method+" "+r.URL.EscapedPath()+" "+string(body))
		rec.mu.Unlock()
		rec.script(n, w, r)
	}))
	t.Cleanup(rec.Close)
	return rec
}

func (r *receiver) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.seen...)
}

func accept(w http.ResponseWriter) {
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, `{"accepted": 1, "refused": []}`)
}

func problem(w http.ResponseWriter, status int, title, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	io.WriteString(w, `{"title": "`+title+`", "detail": "`+detail+`", "status": 0}`)
}

// instantTimer fires at once and records how long it was asked to wait, which its clock then has.
type instantTimer struct {
	now   time.Time
	waits []time.Duration
	fired chan time.Time
}

func newInstantTimer() *instantTimer {
	return &instantTimer{now: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), fired: make(chan time.Time, 1)}
}

func (t *instantTimer) Start(d time.Duration) {
	if len(t.waits) == 50 {
		panic("it tries again forever")
	}
	t.waits = append(t.waits, d)
	t.now = t.now.Add(d)
	t.fired <- time.Time{}
}
func (t *instantTimer) Stop()               {}
func (t *instantTimer) C() <-chan time.Time { return t.fired }

// pusher returns a Pusher that is to wait a second between attempts, and whose timer does
// not wait.
func pusher(url string) (*Pusher, *instantTimer) {
	timer := newInstantTimer()
	return &Pusher{
		URL:     url,
		timer:   timer,
		backOff: func() backoff.BackOff { return backoff.NewConstantBackOff(time.Second) },
		now:     func() time.Time { return timer.now },
	}, timer
}

func someRequests() []Request {
	return []Request{
		{Method: "POST", Path: "/cities", Body: []byte(`{"cities":[]}`), What: "all"},
		{Method: "PUT", Path: "/cities/LON", Body: []byte(`{"id":130}`), What: "one"},
		{Method: "PUT", Path: "/advisories/a%2Fb%20c", Body: []byte(`{}`), What: "odd"},
		{Method: "DELETE", Path: "/cities/LON", What: "end"},
	}
}
