package push

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
)

func TestOrderPathsAndBodies(t *testing.T) {
	rec := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer x" {
			t.Errorf("Authorization is %q", got)
		}
		if got, want := r.Header.Get("Content-Type") == "application/json", r.Method != http.MethodDelete; got != want {
			t.Errorf("%s has Content-Type %q", r.Method, r.Header.Get("Content-Type"))
		}
		accept(w)
	})
	p, _ := pusher(rec.URL + "/api/v1/")
	p.Header = http.Header{"Authorization": {"Bearer x"}}
	var progress [][3]int64
	p.Progress = func(done, total int, bytes int64) {
		progress = append(progress, [3]int64{int64(done), int64(total), bytes})
	}
	sum, err := p.Run(t.Context(), someRequests())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`POST /api/v1/cities {"cities":[]}`, `PUT /api/v1/cities/LON {"id":130}`,
		`PUT /api/v1/advisories/a%2Fb%20c {}`, `DELETE /api/v1/cities/LON `,
	}
	if got := rec.requests(); !reflect.DeepEqual(got, want) {
		t.Errorf("the receiver saw %q", got)
	}
	if sum.Sent != 4 || sum.Accepted != 4 || sum.Bytes != 25 || sum.Failed != nil || sum.Refused != nil {
		t.Errorf("the summary is %+v", sum)
	}
	if want := [][3]int64{{1, 4, 13}, {2, 4, 23}, {3, 4, 25}, {4, 4, 25}}; !reflect.DeepEqual(progress, want) {
		t.Errorf("progress was %v", progress)
	}
}

// TestWaitsThatTheReceiverDeclines tells documents that no search showed in time from those for
// which the receiver did not wait.
func TestWaitsThatTheReceiverDeclines(t *testing.T) {
	rec := newReceiver(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Prefer"); got != "wait=10" {
			t.Errorf("Prefer is %q", got)
		}
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, []string{`{"accepted": 3, "searchable": 2}`, `{"accepted": 1}`, `{"accepted": 1, "searchable": 0}`, `{"accepted": 1, "searchable": 1}`}[n])
	})
	p, _ := pusher(rec.URL)
	p.Wait = 10 * time.Second
	sum, err := p.Run(t.Context(), someRequests())
	if err != nil || sum.Accepted != 6 || sum.Searchable != 3 || sum.NotWaited != 1 {
		t.Errorf("%+v, %v; want 3 of 6 searchable, and 1 not waited for", sum, err)
	}
}

func TestRetriesWaitAsLongAsTheReceiverAsks(t *testing.T) {
	rec := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 0:
			w.Header().Set("Retry-After", "7")
			problem(w, http.StatusServiceUnavailable, "not durable", "the disk is full")
		case 1:
			w.Header().Set("Retry-After", "Mon, 05 Jan 2026 12:00:30 GMT")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.WriteHeader(http.StatusGatewayTimeout) // of a load balancer that waited no longer
		default:
			accept(w)
		}
	})
	p, timer := pusher(rec.URL)
	var told []string
	p.Waiting = func(r Request, err error, _ time.Duration) { told = append(told, r.What+": "+err.Error()) }
	sum, err := p.Run(t.Context(), someRequests())
	if err != nil || sum.Sent != 4 || len(sum.Failed) != 0 {
		t.Fatalf("the summary is %+v, %v; want 4 sent", sum, err)
	}
	if want := []time.Duration{7 * time.Second, 23 * time.Second, time.Second}; !reflect.DeepEqual(timer.waits, want) {
		t.Errorf("it waited %v, want %v", timer.waits, want)
	}
	seen := rec.requests()
	for _, s := range seen[:4] {
		if s != seen[0] {
			t.Errorf("an attempt was %q, the first %q", s, seen[0])
		}
	}
	if len(seen) != 7 {
		t.Errorf("the receiver saw %d requests", len(seen))
	}
	if len(told) != 3 || !strings.Contains(told[0], "all: ") || !strings.Contains(told[0], "the disk is full") {
		t.Errorf("told of waiting: %q", told)
	}
}

// A connection that breaks before or within the answer says nothing about the delivery, so
// it is sent again.
func TestRetriesBrokenConnections(t *testing.T) {
	rec := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 0:
			panic(http.ErrAbortHandler)
		case 1:
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, `{"acc`)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		default:
			accept(w)
		}
	})
	p, timer := pusher(rec.URL)
	sum, err := p.Run(t.Context(), someRequests()[:1])
	if err != nil || sum.Accepted != 1 || len(timer.waits) != 2 {
		t.Errorf("%+v, %v, waits %v", sum, err, timer.waits)
	}
}

func TestFailuresAreCollected(t *testing.T) {
	rec := newReceiver(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 0:
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, `{"accepted": 2, "refused": [{"position": 1, "id": 130, "reason": "duplicate_key"}, {"position": 3, "id": null, "reason": "no_id"}]}`)
		case 1:
			problem(w, http.StatusBadRequest, "not JSON", "an unexpected comma at byte 7")
		case 2:
			http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
		default:
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, "<html>no upstream</html>")
		}
	})
	p, timer := pusher(rec.URL)
	requests := someRequests()
	sum, err := p.Run(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	first, second := requests[0], requests[1]
	first.Body, second.Body = nil, nil // the lists do not keep it
	wantRefused := []Refusal{
		{Request: first, Position: 1, ID: "130", Reason: "duplicate_key"},
		{Request: first, Position: 3, ID: "", Reason: "no_id"},
	}
	if !reflect.DeepEqual(sum.Refused, wantRefused) || sum.Accepted != 2 {
		t.Errorf("accepted %d, refused %+v", sum.Accepted, sum.Refused)
	}
	if sum.Sent != 4 || len(sum.Failed) != 3 || len(timer.waits) != 0 {
		t.Fatalf("sent %d, failed %+v, waits %v", sum.Sent, sum.Failed, timer.waits)
	}
	if want := (Failure{second, 400, "not JSON", "an unexpected comma at byte 7"}); !reflect.DeepEqual(sum.Failed[0], want) {
		t.Errorf("the first failure is %+v", sum.Failed[0])
	}
	if f := sum.Failed[1]; f.Status != 301 || f.Title != "Moved Permanently" {
		t.Errorf("a redirect became %+v", f)
	}
	if f := sum.Failed[2]; f.Status != 502 || f.Detail != "<html>no upstream</html>" {
		t.Errorf("an answer that is no problem+json became %+v", f)
	}
	if n := len(rec.requests()); n != 4 {
		t.Errorf("the receiver saw %d requests", n)
	}
}

func TestAnyOther2xxIsSuccess(t *testing.T) {
	rec := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	p, _ := pusher(rec.URL)
	sum, err := p.Run(t.Context(), someRequests())
	if err != nil || sum.Sent != 4 || len(sum.Failed) != 0 || sum.Accepted != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestContextEndsTheWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rec := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 0 {
			accept(w)
			return
		}
		problem(w, http.StatusServiceUnavailable, "not durable", "the disk is full")
	})
	p, _ := pusher(rec.URL)
	p.timer = nil // the real one, which the context interrupts
	p.backOff = func() backoff.BackOff { return backoff.NewConstantBackOff(time.Hour) }
	p.Waiting = func(Request, error, time.Duration) { cancel() }
	sum, err := p.Run(ctx, someRequests())
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	for _, want := range []string{"PUT /cities/LON", "number 2 of 4", "the disk is full"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if sum.Sent != 1 || sum.Accepted != 1 {
		t.Errorf("the summary is %+v", sum)
	}
}

func TestContextEndsAnAttempt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rec := newReceiver(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	p, timer := pusher(rec.URL)
	if _, err := p.Run(ctx, someRequests()); !errors.Is(err, context.Canceled) || len(timer.waits) != 0 {
		t.Errorf("%v, waits %v", err, timer.waits)
	}
}

func TestPermanentErrorStopsTheRun(t *testing.T) {
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = nil
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	plain := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) { accept(w) })
	overTLS := strings.Replace(plain.URL, "http://", "https://", 1)
	for _, url := range []string{"", "localhost:8080", "ftp://localhost", "http://", "http://localhost/?a=b", "http://%zz", untrusted.URL, overTLS} {
		p, timer := pusher(url)
		if sum, err := p.Run(t.Context(), someRequests()); err == nil || sum.Sent != 0 || len(timer.waits) != 0 {
			t.Errorf("%q: %+v, %v", url, sum, err)
		}
	}
	p, _ := pusher("http://127.0.0.1:1")
	p.Header = http.Header{"Authorization": {"Bearer x\n"}}
	if _, err := p.Run(t.Context(), someRequests()); err == nil || strings.Contains(err.Error(), "Bearer") {
		t.Errorf("a header with a line break: %v", err)
	}
}

// A sender who is denied once would be denied with the next delivery too.
func TestDeniedSenderStops(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		rec := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			if n == 0 {
				accept(w)
				return
			}
			problem(w, status, "", "what is missing")
		})
		p, timer := pusher(rec.URL)
		sum, err := p.Run(t.Context(), someRequests())
		var denied *DeniedError
		if !errors.As(err, &denied) || denied.Status != status || !strings.Contains(err.Error(), "what is missing") {
			t.Errorf("%d: %v", status, err)
		}
		if sum.Accepted != 1 || len(rec.requests()) != 2 || len(timer.waits) != 0 {
			t.Errorf("%d: %+v after %q", status, sum, rec.requests())
		}
	}
}

// Run waits for a receiver that is not there yet.
func TestWaitsForAReceiverThatIsNotThereYet(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	p, _ := pusher("http://" + address)
	p.Waiting = func(Request, error, time.Duration) {
		if listener != nil {
			listener, err = net.Listen("tcp", address)
			if err != nil {
				t.Skipf("the port was taken meanwhile: %v", err)
			}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { accept(w) })}
			go server.Serve(listener) // ends with Close
			t.Cleanup(func() { server.Close() })
			listener = nil
		}
	}
	if sum, err := p.Run(t.Context(), someRequests()); err != nil || sum.Accepted != 4 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// TestNobodyThere: a receiver that has never answered is tried for RetryFor, whatever stands before
// it asks for. One that has answered, be it with 503, is waited for.
func TestNobodyThere(t *testing.T) {
	balancer := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	for url, want := range map[string]int{"http://127.0.0.1:1": 30, balancer.URL: 2} {
		p, timer := pusher(url)
		p.RetryFor = 30 * time.Second
		sum, err := p.Run(t.Context(), someRequests())
		if !errors.Is(err, ErrNobodyThere) || sum.Sent != 0 || len(timer.waits) != want {
			t.Errorf("%s: %+v, %v, after waits of %v", url, sum, err, timer.waits)
		}
	}
	full := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch {
		case n == 0:
			problem(w, http.StatusServiceUnavailable, "not durable", "the disk is full")
		case n < 40:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			accept(w)
		}
	})
	p, timer := pusher(full.URL)
	p.RetryFor = 30 * time.Second
	if sum, err := p.Run(t.Context(), someRequests()); err != nil || sum.Accepted != 4 || len(timer.waits) != 40 {
		t.Errorf("%+v, %v, after waits of %v", sum, err, timer.waits)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-3": 0, "0": 0, "12": 12 * time.Second, "99999": time.Hour, "99999999999999999999": 0,
		"Mon, 05 Jan 2026 12:01:00 GMT": time.Minute, "Mon, 05 Jan 2026 11:00:00 GMT": 0, "Tue, 05 Jan 2027 12:00:00 GMT": time.Hour,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("Retry-After %q: %v, want %v", value, got, want)
		}
	}
}

// The real policy never gives up by itself, and its waits are jittered.
func TestPolicyIsPatientAndJittered(t *testing.T) {
	policy := (&Pusher{}).policy()
	policy.Reset()
	if exponential, ok := policy.(*backoff.ExponentialBackOff); !ok || exponential.MaxElapsedTime != 0 {
		t.Errorf("the policy is %+v, which ends by itself", policy)
	}
	waits := map[time.Duration]bool{}
	for range 1000 {
		wait := policy.NextBackOff()
		if wait <= 0 || wait > 30*time.Second {
			t.Fatalf("a wait of %v", wait)
		}
		waits[wait] = true
	}
	if len(waits) < 100 {
		t.Errorf("only %d different waits", len(waits))
	}
}
