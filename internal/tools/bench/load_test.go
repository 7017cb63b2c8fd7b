package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLoadIsSentOnceEach(t *testing.T) {
	w := newWorkload(4 << 10)
	var mu sync.Mutex
	bodies, hosts := map[string]string{}, map[string]int{}
	handler := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies[r.Method+" "+r.URL.Path] += string(body)
		hosts[r.Host]++
		mu.Unlock()
		out.Header().Set("X-Long", strings.Repeat("x", 1000))
		out.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(out, `{"accepted":1}`)
	})
	l := load{workload: w, deliveries: 500}
	for range 2 {
		server := httptest.NewServer(handler)
		defer server.Close()
		l.addresses = append(l.addresses, strings.TrimPrefix(server.URL, "http://"))
	}
	_, acks, err := l.send(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(acks) != 500 || acks[0] <= 0 || acks.at(1) < acks.at(0.5) || len(bodies) != 500 {
		t.Fatalf("%d acknowledgements from %v to %v, %d paths", len(acks), acks[0], acks.at(1), len(bodies))
	}
	for _, address := range l.addresses {
		if hosts[address] < 100 {
			t.Errorf("%s got %d of 500 deliveries", address, hosts[address])
		}
	}
	for n := range 500 {
		if bodies["PUT /advisories/"+id(n)] != string(w.appendBody(nil, n, 0)) {
			t.Errorf("delivery %d came otherwise than it was sent, or not once", n)
		}
	}
}

func TestWhatIsNotTakenIsAnError(t *testing.T) {
	w := newWorkload(4 << 10)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, id(7)) {
			out.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	l := load{addresses: []string{strings.TrimPrefix(server.URL, "http://")}, workload: w}
	l.deliveries = 100
	if _, _, err := l.send(t.Context()); err == nil || err.Error() != "delivery 7: status 503" {
		t.Errorf("the error is %v", err)
	}
}

// TestDelayCountsForAllThatWereDue: with every connection held up, what was due meanwhile is sent
// late, and is counted from when it was due.
func TestDelayCountsForAllThatWereDue(t *testing.T) {
	w := newWorkload(4 << 10)
	const held, deliveries = 150 * time.Millisecond, 2 * loadConnections
	var first sync.Once
	goOn := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		first.Do(func() { time.AfterFunc(held, func() { close(goOn) }) })
		<-goOn
	}))
	defer server.Close()
	l := load{addresses: []string{strings.TrimPrefix(server.URL, "http://")}, workload: w, deliveries: deliveries, every: time.Millisecond}
	_, acks, err := l.send(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if least := held - deliveries*l.every; acks[0] < least {
		t.Errorf("a delivery took %v, where each was due at least %v before the first answer", acks[0], least)
	}
}
