package main

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/receiver"
	"riskdex/receiver/auth"
)

// TestServerAnswersNobodyByItself: requests that the HTTP server would answer without the
// handler would be answered without authentication, and the sender could keep the connection.
func TestServerAnswersNobodyByItself(t *testing.T) {
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	authenticator, err := auth.New(auth.Config{BearerFiles: []string{secretFile(t, "a-token-of-the-publisher")}}, time.Now, log)
	require.NoError(t, err)
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), journal.Options{Log: log})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	cfg := receiver.DefaultConfig()
	cfg.Authenticator = authenticator
	handler, err := receiver.New(cfg, j, time.Now, prometheus.NewRegistry(), log)
	require.NoError(t, err)
	e, err := listen(t.Context(), "tests", "127.0.0.1:0", nil, handler, log)
	require.NoError(t, err)
	e.serve(func(err error) { t.Error(err) })
	t.Cleanup(func() { require.NoError(t, e.shutdown(time.Minute)) })

	for _, c := range []struct {
		header string
		status int
	}{
		{"", http.StatusUnauthorized},
		{"Authorization: Bearer a-token-of-the-publisher\r\nConnection: close\r\n", http.StatusNotFound},
	} {
		conn, err := net.Dial("tcp", e.listener.Addr().String())
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
		_, err = fmt.Fprintf(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\n%s\r\n", c.header)
		require.NoError(t, err)
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		if res.StatusCode != c.status {
			t.Errorf("%q is answered %s, want %d", c.header, res.Status, c.status)
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			t.Errorf("after %q the connection is kept: %v", c.header, err)
		}
		require.NoError(t, conn.Close())
	}
}

// A request that is cut off still undoes what it has begun.
func TestStopWaitsForWhatItCutsOff(t *testing.T) {
	begun, ended := make(chan struct{}), false
	e, err := listen(t.Context(), "tests", "127.0.0.1:0", nil, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		for range 1000 {
			runtime.Gosched() // as long as the test may take to wait
		}
		ended = true
	}), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	e.serve(func(err error) { t.Error(err) })
	conn, err := net.Dial("tcp", e.listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	<-begun
	require.NoError(t, e.shutdown(0))
	e.wait()
	if !ended {
		t.Error("it did not wait")
	}
}
