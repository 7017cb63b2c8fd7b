package compose

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/freeport"
	"riskdex/internal/testkit/needs"
)

func haproxy(t *testing.T) string {
	t.Helper()
	return needs.Program(t, "haproxy", "apt-get install haproxy")
}

// balancing returns the configuration of the load balancer, as the service has it.
func balancing(t *testing.T) string {
	t.Helper()
	name, ok := mounted(t, everything(t).Services["balancer"], "/usr/local/etc/haproxy/haproxy.cfg") // where the image expects it
	if !ok {
		t.Fatal("the load balancer has no configuration")
	}
	return read(t, name)
}

var serverLine = regexp.MustCompile(`(?m)^\s*server (\S+) (\S+) check port (\d+)$`)

func TestTheBalancerKnowsAllProcesses(t *testing.T) {
	text := balancing(t)
	found := serverLine.FindAllStringSubmatch(text, -1)
	for i, name := range processes {
		if len(found) != len(processes) || found[i][1] != name {
			t.Fatalf("it balances %q", found)
		}
		host, _, _ := net.SplitHostPort(found[i][2])
		if host != name {
			t.Errorf("%s is at %s", name, host)
		}
		reachable(t, found[i][2])
		reachable(t, net.JoinHostPort(host, found[i][3]))
	}
	for _, port := range listensOn(t, everything(t).Services["balancer"]) {
		if !strings.Contains(text, "bind :"+port+"\n") {
			t.Errorf("it does not listen on %s", port)
		}
	}
}

func TestTheBalancerTakesItsConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(balancing(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(haproxy(t), "-c", "-f", file).CombinedOutput(); err != nil || bytes.Contains(out, []byte("WARNING")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTheBalancerWaitsForTheSearch: with "Prefer: wait=60" an answer may come a minute after the
// delivery is durable, which itself may take half a minute.
func TestTheBalancerWaitsForTheSearch(t *testing.T) {
	for _, side := range []string{"client", "server"} {
		found := regexp.MustCompile(`(?m)^ +timeout ` + side + ` (\d+s)$`).FindStringSubmatch(balancing(t))
		if found == nil {
			t.Fatalf("the load balancer has no timeout of the %s in seconds", side)
		}
		if d, err := time.ParseDuration(found[1]); err != nil || d <= 90*time.Second {
			t.Errorf("the load balancer waits %s for the %s, want more than 90s: %v", found[1], side, err)
		}
	}
}

// process is a fake riskdex behind the load balancer.
type process struct {
	deliveries, admin *httptest.Server
	ready, dies       atomic.Bool
	waits             atomic.Bool  // until the sender has gone
	got, gone         atomic.Int64 // deliveries
}

func newProcess(t *testing.T) *process {
	p := new(process)
	p.ready.Store(true)
	p.deliveries = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		p.got.Add(1)
		if p.dies.Load() {
			panic(http.ErrAbortHandler)
		}
		if p.waits.Load() {
			<-r.Context().Done()
			p.gone.Add(1)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	p.admin = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || !p.ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(p.deliveries.Close)
	t.Cleanup(p.admin.Close)
	return p
}

func addressOf(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

// balance starts a load balancer with two processes. It returns the address for
// deliveries, once both were found ready, and that of the balancer's own status.
func balance(t *testing.T, all ...*process) (deliveries, health string) {
	t.Helper()
	program := haproxy(t)
	deliveries, health = freeAddress(t), freeAddress(t)
	text := strings.NewReplacer("bind :8080\n", "bind "+deliveries+"\n", "bind :8404\n", "bind "+health+"\n").Replace(balancing(t))
	next := 0
	text = serverLine.ReplaceAllStringFunc(text, func(line string) string {
		p := all[next]
		next++
		_, port, _ := net.SplitHostPort(addressOf(p.admin))
		return fmt.Sprintf("    server %s %s check port %s", serverLine.FindStringSubmatch(line)[1], addressOf(p.deliveries), port)
	})
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-db", "-f", file)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	running, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Kill)
	await(t, "all get deliveries", func() bool {
		for range all {
			put(deliveries)
		}
		for _, p := range all {
			if p.got.Load() == 0 {
				return false
			}
		}
		return true
	})
	return deliveries, health
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// put makes a delivery and returns the status of the answer, or 0 without an answer.
func put(address string) int {
	req, err := http.NewRequest("PUT", "http://"+address+"/cities/1", strings.NewReader(strings.Repeat("x", 4_000)))
	if err != nil {
		return 0
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

func TestTheBalancerPassesByWhoIsNotReady(t *testing.T) {
	a, b := newProcess(t), newProcess(t)
	address, health := balance(t, a, b)
	a.ready.Store(false)
	await(t, "only one gets deliveries", func() bool {
		before := a.got.Load()
		for range 10 {
			put(address)
		}
		return a.got.Load() == before
	})
	b.ready.Store(false)
	await(t, "nobody gets deliveries", func() bool { return put(address) == http.StatusServiceUnavailable })
	if res, err := http.Get("http://" + health + "/"); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the load balancer does not report itself as healthy: %v, %v", res, err)
	}
	a.ready.Store(true)
	await(t, "it is found again", func() bool { return put(address) == http.StatusAccepted })
}

// A process that is being replaced stops listening before a health check notices.
// Deliveries of that moment go to another process.
func TestAProcessThatStopsCostsNoDelivery(t *testing.T) {
	a, b := newProcess(t), newProcess(t)
	address, _ := balance(t, a, b)
	a.deliveries.Close() // and it reports that it is ready
	before := b.got.Load()
	for range 40 {
		if status := put(address); status != http.StatusAccepted {
			t.Errorf("status %d", status)
		}
	}
	if got := b.got.Load() - before; got != 40 {
		t.Errorf("the other process got %d of 40 deliveries, want all", got)
	}
}

// A delivery that still waits in a process must not overtake the next one of its sender.
func TestAProcessLearnsThatASenderHasGone(t *testing.T) {
	a, b := newProcess(t), newProcess(t)
	address, _ := balance(t, a, b)
	a.waits.Store(true)
	b.waits.Store(true)
	before := a.got.Load() + b.got.Load()
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "PUT", "http://"+address+"/cities/1", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
		}
	}()
	await(t, "the delivery arrives", func() bool { return a.got.Load()+b.got.Load() > before })
	leave()
	<-left
	await(t, "the process is told", func() bool { return a.gone.Load()+b.gone.Load() == 1 })
}

// A delivery may be in the journal although its process did not answer. Only the
// publisher can decide whether to send it again.
func TestTheBalancerRepeatsNoDelivery(t *testing.T) {
	a, b := newProcess(t), newProcess(t)
	address, _ := balance(t, a, b)
	a.dies.Store(true)
	b.dies.Store(true)
	before := a.got.Load() + b.got.Load()
	for range 10 {
		// 502, or no answer on a connection that was used before.
		if status := put(address); status != http.StatusBadGateway && status != 0 {
			t.Errorf("status %d", status)
		}
	}
	if got := a.got.Load() + b.got.Load() - before; got != 10 {
		t.Errorf("10 deliveries were passed on %d times", got)
	}
}
