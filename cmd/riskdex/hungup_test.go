package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/receiver"
	"riskdex/report"
)

// TestHungUpDeliveryOvertakesNothing: a sender sends a whole delivery and hangs up. What it
// sends next over another connection ends up as the newest, although the first delivery is
// longer and takes longer to read.
func TestHungUpDeliveryOvertakesNothing(t *testing.T) {
	for _, c := range []struct {
		name, newer string
		size, tries int
	}{
		{"100 KB", "PUT", 100 << 10, torture.Extent(40, 400)},
		{"32 MB", "PUT", 32 << 20, torture.Extent(4, 20)},
		{"100 KB, then a DELETE", "DELETE", 100 << 10, torture.Extent(40, 400)},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
			require.NoError(t, err)
			defer j.Close()
			r, err := receiver.New(receiver.DefaultConfig(), j, time.Now, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			e, err := listen(t.Context(), "deliveries", "127.0.0.1:0", nil, r, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			e.serve(func(error) {})
			older := fmt.Sprintf(`{"title":"older","text":"%s"}`, strings.Repeat("x", c.size))
			for i := range c.tries {
				path := fmt.Sprint("/cities/", i)
				send(t, e.url(), "PUT", path, `{"title":"first"}`)
				hangUpOn(t, e.listener.Addr().String(), path, older)
				send(t, e.url(), c.newer, path, `{"title":"newer"}`)
			}
			require.NoError(t, e.shutdown(30*time.Second)) // returns when all requests have ended
			newest(t, j, c.tries)
		})
	}
}

// TestHungUpDeliveryOvertakesNothingAfterAStop: the process is stopped for a while, and finds
// both deliveries at once when it continues.
func TestHungUpDeliveryOvertakesNothingAfterAStop(t *testing.T) {
	p := newProcess(t, "http://127.0.0.1:1") // nothing is settled
	p.start()
	n := torture.Extent(20, 200)
	var sent sync.WaitGroup
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGSTOP))
	for i := range n {
		path := fmt.Sprint("/cities/", i)
		hangUpOn(t, p.deliveries, path, `{"title":"older","text":"`+strings.Repeat("x", 100<<10)+`"}`)
		sent.Go(func() { send(t, "http://"+p.deliveries, "PUT", path, `{"title":"newer"}`) })
	}
	time.Sleep(100 * time.Millisecond) // time to send them: there is no answer to wait for
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
	sent.Wait()
	p.terminate()
	j, err := sqlite.Open(t.Context(), p.journal, journal.Options{})
	require.NoError(t, err)
	defer j.Close()
	newest(t, j, n)
}

// newest checks that for each of n cities the journal has what was acknowledged last.
func newest(t *testing.T, j *sqlite.Journal, n int) {
	t.Helper()
	changes, err := j.Claim(context.Background(), report.Cities, n, 1<<30)
	require.NoError(t, err)
	stale := 0
	for _, c := range changes {
		if c.Op == report.Index && string(c.Body) != `{"title":"newer"}` {
			stale++
		}
	}
	if stale > 0 || len(changes) != n {
		t.Errorf("of %d documents, %d are older than what was acknowledged last", len(changes), stale)
	}
}

// hangUpOn sends all of a delivery and does not wait for the answer.
func hangUpOn(t *testing.T, address, path, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: riskdex\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

func send(t *testing.T, url, method, path, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	said, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		t.Errorf("%s %s is answered %d %s", method, path, res.StatusCode, said)
	}
}
