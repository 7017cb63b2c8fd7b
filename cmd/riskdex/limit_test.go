package main

import (
	"bufio"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"riskdex/internal/testkit/certificates"
	"riskdex/internal/testkit/require"
)

// crowd is a server that takes few connections. Requests for /slow are answered at the end.
type crowd struct {
	t   *testing.T
	e   *endpoint
	end chan struct{}
}

func newCrowd(t *testing.T, most int, secured *tls.Config) *crowd {
	t.Helper()
	w := &crowd{t: t, end: make(chan struct{})}
	begun := make(chan struct{})
	var err error
	w.e, err = listen(t.Context(), "tests", "127.0.0.1:0", secured, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-w.end
		}
	}), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	w.e.connections.most = most
	w.e.serve(func(err error) { t.Error(err) })
	t.Cleanup(func() { require.NoError(t, w.e.shutdown(time.Minute)) })
	t.Cleanup(func() { close(begun) })
	go func() {
		for range begun {
		}
	}()
	return w
}

// dial connects from an address. What is not answered within the deadline waits for others to end.
func (w *crowd) dial(from string) net.Conn {
	w.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(w.t.Context(), "tcp", w.e.listener.Addr().String())
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(w.t, conn.SetDeadline(time.Now().Add(headerTimeout/2)))
	return conn
}

func (w *crowd) write(conn net.Conn, text string) {
	w.t.Helper()
	_, err := io.WriteString(conn, text)
	require.NoError(w.t, err)
}

// answered makes a request and reports whether it is answered.
func (w *crowd) answered(conn net.Conn, path string) bool {
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	return err == nil && res.Body.Close() == nil
}

// holds waits until the listener has so many connections without a request, and others.
func (w *crowd) holds(idle, busy int) {
	w.t.Helper()
	eventually(w.t, "the connections are counted", func() bool {
		l := w.e.connections
		l.mu.Lock()
		defer l.mu.Unlock()
		n := 0
		for _, of := range l.idle {
			n += of.Len()
		}
		return n == idle && l.open == idle+busy
	})
}

// TestIdleConnectionsGiveWay: whatever others keep open, a delivery is answered at once, and what
// is being answered is not cut off.
func TestIdleConnectionsGiveWay(t *testing.T) {
	w := newCrowd(t, 12, nil)
	slow := w.dial("127.0.0.1")
	w.write(slow, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	w.holds(0, 1)
	for i := range 11 { // as many as there may be
		conn := w.dial("127.0.0.2")
		switch i % 3 {
		case 0: // silent
		case 1:
			w.write(conn, "PUT /cities/1 HTTP/1.1\r\nHost: x\r\nX: ")
		case 2:
			if !w.answered(conn, "/") {
				t.Error("a connection is not answered")
			}
		}
	}
	w.holds(11, 1)
	for range 20 {
		if !w.answered(w.dial("127.0.0.1"), "/") {
			t.Fatal("beside idle connections, a request is not answered at once")
		}
	}
	w.holds(11, 1)
	close(w.end)
	res, err := http.ReadResponse(bufio.NewReader(slow), nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
}

// TestWhoKeepsMostGivesWay: a publisher's connections outlive those of somebody who keeps many.
func TestWhoKeepsMostGivesWay(t *testing.T) {
	w := newCrowd(t, 10, nil)
	var publisher []net.Conn
	for range 3 {
		conn := w.dial("127.0.0.1")
		publisher = append(publisher, conn)
		if !w.answered(conn, "/") {
			t.Fatal("the publisher is not answered")
		}
	}
	w.holds(3, 0)
	for range 40 {
		w.dial("127.0.0.2")
	}
	for i := range 3 { // each with one alone is newer than those of the publisher
		w.dial("127.0.0." + string(rune('3'+i)))
	}
	w.holds(10, 0)
	for _, conn := range publisher {
		if !w.answered(conn, "/") {
			t.Error("a connection of the publisher gave way to those of somebody else")
		}
	}
}

// TestHandshakesThatDoNotEndGiveWay: they are no requests either.
func TestHandshakesThatDoNotEndGiveWay(t *testing.T) {
	pair := certificates.New(t).Issue(t, "x")
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	require.NoError(t, err)
	w := newCrowd(t, 5, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	for range 10 {
		w.write(w.dial("127.0.0.2"), "\x16\x03\x01")
	}
	conn := tls.Client(w.dial("127.0.0.1"), &tls.Config{InsecureSkipVerify: true})
	if !w.answered(conn, "/") {
		t.Error("beside handshakes that do not end, a request is not answered at once")
	}
}

// TestOnlyBusyConnectionsHaveOthersWait: where every connection has a request under way, a new one
// is answered once one of these has ended.
func TestOnlyBusyConnectionsHaveOthersWait(t *testing.T) {
	w := newCrowd(t, 3, nil)
	for range 3 {
		w.write(w.dial("127.0.0.2"), "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	w.holds(0, 3)
	late := make(chan bool)
	conn := w.dial("127.0.0.1")
	go func() { late <- w.answered(conn, "/") }()
	w.holds(0, 3)
	close(w.end)
	if !<-late {
		t.Error("the one that waited is not answered")
	}
}
