package elasticserver

import (
	"io"
	"net"
	"net/http"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/torture"
	"strings"
	"syscall"
	"testing"
	"time"
)

func temporaryHome(t *testing.T) string {
	t.Helper()
	dir, remove, err := TempHome()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	needs.FullRun(t, "Elasticsearch")
	o.Heap, o.FastStart, o.Log = TestHeap, true, t.Output()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

func request(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= 300 {
		t.Fatalf("%s %s: %s\n%s", method, url, res.Status, answer)
	}
	return string(answer)
}

func TestServerStopsStartsAgainAndIsKilled(t *testing.T) {
	if !torture.Wanted() {
		t.Skip("other tests start, stop, kill and secure servers with it: part of make torture")
	}
	folder := temporaryHome(t)
	first := start(t, Options{Home: folder, Settings: map[string]string{"node.attr.shelf": "two, left"}})
	if first.Port() < firstPort || first.Port() > lastPort {
		t.Errorf("port %d is outside %d-%d", first.Port(), firstPort, lastPort)
	}
	if attrs := request(t, "GET", first.URL()+"/_cat/nodeattrs", ""); !strings.Contains(attrs, "two, left") {
		t.Errorf("the setting did not arrive: %s", attrs)
	}
	request(t, "PUT", first.URL()+"/things/_doc/1", `{"name": "kept"}`)

	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
	if err := first.Err(); err != nil {
		t.Errorf("after Stop, Err is %v", err)
	}

	second := start(t, Options{Home: folder, Port: first.Port()})
	if second.URL() != first.URL() {
		t.Errorf("started again at %s, was %s", second.URL(), first.URL())
	}
	if doc := request(t, "GET", second.URL()+"/things/_doc/1", ""); !strings.Contains(doc, "kept") {
		t.Errorf("the document is gone: %s", doc)
	}

	// A server that hangs does not make Stop hang.
	second.stopTimeout = 50 * time.Millisecond
	if err := second.process.SignalGroup(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := second.Stop(); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("Stop of a hanging server: %v", err)
	}
	select {
	case <-second.Done():
	default:
		t.Error("Stop returned before the server was gone")
	}
	if c, err := net.Dial("tcp", address(second.Port())); err == nil {
		c.Close()
		t.Error("something still listens on the port")
	}
}

func TestServerThatDiesAtStartShowsItsLog(t *testing.T) {
	needs.FullRun(t, "Elasticsearch")
	s, err := Start(t.Context(), Options{Home: temporaryHome(t), Heap: TestHeap, FastStart: true, Settings: map[string]string{"no.such.setting": "1"}})
	if err == nil {
		t.Fatal("it started", s.Stop())
	}
	for _, want := range []string{"unknown setting [no.such.setting]", "console.log"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}
