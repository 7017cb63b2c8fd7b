package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/disktest"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// A journal that hangs does not fail: calls of it do not return.
const (
	saysSo  = 20 * time.Second // by then riskdex says that it is not ready: 5 seconds, and time for a loaded machine
	answers = 35 * time.Second // by then a delivery has its answer: 30 seconds, and time for a loaded machine
)

// collectsOften has Go collect garbage often: then the whole process hangs if a part of it
// hangs unknown to Go.
const collectsOften = "GOGC=1"

// TestStopsOnAFrozenDisk freezes the disk of the journal, twice.
func TestStopsOnAFrozenDisk(t *testing.T) {
	t.Parallel()
	d := disktest.New(t, t.TempDir(), 64, "")
	p := newProcess(t, elastictest.URL(t), "--journal-min-free", "1MiB")
	p.journal = filepath.Join(d.Dir, "riskdex.db")
	hangs(t, p, func() (heal func()) { return d.Freeze(t) })
	p.kill()
	d.Unmount()
}

// TestFrozenDiskWhereNobodyDelivers freezes the disk of the journal while riskdex has
// nothing to do. It says that it is not ready, and recovers by itself.
func TestFrozenDiskWhereNobodyDelivers(t *testing.T) {
	t.Parallel()
	d := disktest.New(t, t.TempDir(), 64, "")
	p := newProcess(t, elastictest.URL(t), "--journal-min-free", "1MiB", "--probe-every", "0")
	p.environment = collectsOften
	p.journal = filepath.Join(d.Dir, "riskdex.db")
	p.start()
	p.indicesReady()
	p.send("PUT", "/advisories/before", `{"title":"x"}`)
	p.drained()
	thaw := d.Freeze(t)
	p.mustSayThatItHangs(t, time.Now())
	thaw()
	eventually(t, "it is ready again by itself", func() bool { return p.readiness() == http.StatusOK })
	p.send("PUT", "/advisories/after", `{"title":"x"}`)
	p.drained()
	if n := len(p.indexed(report.Advisories)); n != 2 {
		t.Errorf("the index has %d documents, not 2", n)
	}
	p.kill()
	d.Unmount()
}

// TestStopsOnAPostgresThatHangs suspends every process of the journal's server, twice.
func TestStopsOnAPostgresThatHangs(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	p := newProcess(t, elastictest.URL(t))
	p.journal = server.URL()
	t.Cleanup(func() { _ = server.Resume() })
	hangs(t, p, func() (heal func()) {
		require.NoError(t, server.Suspend())
		return func() { require.NoError(t, server.Resume()) }
	})
}

// hangs makes the journal of p hang. Deliveries are still answered, p says that it is not
// ready, and recovers by itself. Then the journal hangs a second time, and p is stopped
// meanwhile. Afterwards, everything acknowledged is there.
func hangs(t *testing.T, p *process, hang func() (heal func())) {
	t.Helper()
	p.environment = collectsOften
	p.start()
	p.indicesReady()
	var acknowledged []string
	deliver := func(id string) (status int) {
		if status = p.send("PUT", "/advisories/"+id, `{"title":"x"}`); status == http.StatusAccepted {
			acknowledged = append(acknowledged, id)
		}
		return status
	}
	deliverSome := func(round string) {
		t.Helper()
		for n := range 20 {
			if status := deliver(fmt.Sprint(round, n)); status != http.StatusAccepted {
				t.Fatalf("a delivery was answered with %d", status)
			}
		}
	}
	deliverSome("before-")

	heal := hang()
	began := time.Now()
	p.sender.Timeout = answers
	answered := make(chan error, 1)
	go func() {
		status, err := p.try("PUT", "/advisories/meanwhile", `{"title":"x"}`)
		if err == nil && status != http.StatusServiceUnavailable {
			err = fmt.Errorf("status %d", status)
		}
		answered <- err
	}()
	p.mustSayThatItHangs(t, began)
	if err := <-answered; err != nil {
		t.Errorf("the delivery during the hang failed: %v", err)
	}
	t.Logf("a delivery was answered after %v", time.Since(began).Round(time.Second))
	heal()
	eventually(t, "it is ready again by itself", func() bool { return p.readiness() == http.StatusOK })
	deliverSome("between-")

	heal = hang()
	began = time.Now()
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = p.try("PUT", "/advisories/at-the-end", `{"title":"x"}`)
	}()
	p.mustSayThatItHangs(t, began)
	p.mustStop(t, heal)
	<-left
	p.start()
	p.drained()
	found := p.indexed(report.Advisories)
	for _, id := range acknowledged {
		if found[id] == nil {
			t.Errorf("%s was acknowledged, but is not in the journal", id)
		}
	}
}

// readiness returns the status of /readyz, or 0 without an answer within a second.
func (p *process) readiness() int {
	client := http.Client{Timeout: time.Second}
	res, err := client.Get("http://" + p.admin + "/readyz")
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// mustSayThatItHangs checks that the admin listener says in time that the journal hangs.
func (p *process) mustSayThatItHangs(t *testing.T, since time.Time) {
	t.Helper()
	for p.readiness() != http.StatusServiceUnavailable {
		if time.Since(since) > saysSo {
			t.Fatalf("/readyz: %d, after %v", p.readiness(), time.Since(since))
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("not ready after %v", time.Since(since).Round(time.Second/10))
	asked := time.Now()
	var st admin.Status
	require.NoError(t, json.Unmarshal(p.administer("/api/status"), &st))
	if took := time.Since(asked); st.Accepting || st.Well || st.CannotAccept == "" || took > saysSo {
		t.Errorf("the status, after %v: well %v, accepting %v, %q", took, st.Well, st.Accepting, st.CannotAccept)
	}
	if v, ok := p.metrics().Sum("riskdex_accepting"); !ok || v != 0 {
		t.Errorf("riskdex_accepting is %v", v)
	}
	t.Logf("the status, after %v: %q", time.Since(asked).Round(time.Second/10), st.CannotAccept)
}

// TestMainThreadOnlyWaits: Linux gives SIGTERM to the main thread, so that must never be the one
// that waits for a disk that hangs. More goroutines wait in system calls here than there are
// threads without work, and none of them does so on the main thread.
func TestMainThreadOnlyWaits(t *testing.T) {
	var waiting sync.WaitGroup
	var onMain atomic.Bool
	for range 200 {
		waiting.Go(func() {
			if syscall.Gettid() == os.Getpid() {
				onMain.Store(true)
			}
			wait := syscall.NsecToTimespec(int64(200 * time.Millisecond))
			_ = syscall.Nanosleep(&wait, nil)
		})
	}
	waiting.Wait()
	if onMain.Load() {
		t.Error("the main thread works, and may be waiting for a disk when a signal comes")
	}
}

// threads returns where in the kernel the threads of a process are.
func threads(pid int) (all string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stack", pid))
	for _, file := range files {
		if stack, err := os.ReadFile(file); err == nil {
			all += string(stack) + "\n"
		}
	}
	return all
}

// mustStop stops a process while its journal hangs. A thread that waits for a disk cannot
// end before the disk answers, not even by SIGKILL. Then everything else of the process has
// to end in time, and another process has to be able to use its addresses.
func (p *process) mustStop(t *testing.T, heal func()) {
	t.Helper()
	asked := time.Now()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	for over := false; !over; {
		select {
		case err := <-ended:
			ended <- err
			over = true
		case <-time.After(10 * time.Millisecond):
			over = strings.Contains(p.log.String(), "riskdex ends nevertheless")
		}
		if took := time.Since(asked); took > stopWithin+5*time.Second {
			t.Errorf("riskdex has not ended %v after SIGTERM; its threads wait for\n%s", took, threads(p.cmd.Process.Pid))
			over = true
		}
	}
	t.Logf("riskdex ended %v after SIGTERM", time.Since(asked).Round(time.Second/10))
	for _, address := range []string{p.deliveries, p.admin} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Errorf("the address is still in use: %v", err)
			continue
		}
		require.NoError(t, l.Close())
	}
	heal()
	<-ended
	p.cmd = nil
}
