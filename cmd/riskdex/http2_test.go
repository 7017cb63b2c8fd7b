package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
)

// priorKnowledge returns a client that speaks HTTP/2 without TLS, and without asking for it.
func priorKnowledge(t *testing.T) *http.Client {
	t.Helper()
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &only}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// TestUnencryptedHTTP2: several requests share a connection, which counts as one, and is idle once
// all are answered. A body that nobody reads holds up no other.
func TestUnencryptedHTTP2(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	e, err := listen(t.Context(), "tests", "127.0.0.1:0", nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-end
			return
		}
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil || n != 1<<20 {
			t.Errorf("%d bytes came, %v", n, err)
		}
	}), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	e.serve(func(err error) { t.Error(err) })
	t.Cleanup(func() { require.NoError(t, e.shutdown(time.Minute)) })
	w := &crowd{t: t, e: e}

	client := priorKnowledge(t)
	put := func(path string) error {
		req, err := http.NewRequestWithContext(context.Background(), "PUT", e.url()+path, bytes.NewReader(make([]byte, 1<<20)))
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		if res.ProtoMajor != 2 || res.StatusCode != http.StatusOK {
			t.Errorf("%s is answered %s %s", path, res.Proto, res.Status)
		}
		return res.Body.Close()
	}
	require.NoError(t, put("/cities/1"))
	w.holds(1, 0)
	const slow = 10
	done := make(chan error)
	for range slow {
		go func() { done <- put("/slow") }()
		<-begun
	}
	w.holds(0, 1)
	require.NoError(t, put("/cities/2"))
	close(end)
	for range slow {
		require.NoError(t, <-done)
	}
	w.holds(1, 0)
}

// TestRequestsAreBoundedAsConnectionsAre: a connection that carries several is no way around that.
func TestRequestsAreBoundedAsConnectionsAre(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	bounded := atMost(2, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-end
	}))
	e, err := listen(t.Context(), "tests", "127.0.0.1:0", nil, bounded, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	e.serve(func(err error) { t.Error(err) })
	t.Cleanup(func() { require.NoError(t, e.shutdown(time.Minute)) })
	client := priorKnowledge(t)
	get := func() (*http.Response, error) {
		res, err := client.Get(e.url())
		if err == nil {
			err = res.Body.Close()
		}
		return res, err
	}
	done := make(chan error)
	for range 2 {
		go func() {
			_, err := get()
			done <- err
		}()
		<-begun
	}
	res, err := get()
	require.NoError(t, err)
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("one more is answered %s", res.Status)
	}
	close(end)
	for range 2 {
		require.NoError(t, <-done)
	}
}

// TestSilentConnectionIsCutOff: looking for the preface of HTTP/2 has a bound, too.
func TestSilentConnectionIsCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time-out of a header, twice")
	}
	t.Parallel()
	w := newCrowd(t, 10, nil)
	for _, begin := range []string{"", "PRI * HT", "GET / HT"} {
		conn := w.dial("127.0.0.1")
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		w.write(conn, begin)
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %q a connection is kept", begin)
		}
	}
}
