package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// busy is a journal that has not reached a delivery yet when its sender hangs up.
type busy struct {
	reached chan struct{}
	left    chan error
}

func (b busy) Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error) {
	close(b.reached)
	for start := time.Now(); !d.Gone(); time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			b.left <- errors.New("the journal is not told that the sender has hung up")
			return nil, ctx.Err()
		}
	}
	b.left <- ctx.Err()
	return nil, fmt.Errorf("append: %w", report.ErrGone)
}

// TestTheJournalKnowsWhenASenderHangsUp, and decides whether to accept the delivery
// nevertheless: the receiver keeps waiting for it.
func TestTheJournalKnowsWhenASenderHangsUp(t *testing.T) {
	j := busy{make(chan struct{}), make(chan error, 1)}
	r, err := New(DefaultConfig(), j, time.Now, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(conn, "PUT /cities/1 HTTP/1.1\r\nHost: riskdex\r\nContent-Length: 7\r\n\r\n{\"t\":1}"); err != nil {
		t.Fatal(err)
	}
	<-j.reached
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-j.left; err != nil {
		t.Error(err)
	}
}

// TestHalfClosedConnectionIsTold that nothing was accepted, and what to do.
func TestHalfClosedConnectionIsTold(t *testing.T) {
	j := busy{make(chan struct{}), make(chan error, 1)}
	r, err := New(DefaultConfig(), j, time.Now, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(r)
	server.Config.ConnContext = ConnContext
	server.Start()
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, "PUT /cities/1 HTTP/1.1\r\nHost: riskdex\r\nContent-Length: 7\r\n\r\n{\"t\":1}"); err != nil {
		t.Fatal(err)
	}
	<-j.reached
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 503 ") || !strings.Contains(string(said), "keep the connection open") {
		t.Errorf("answered %q, %v", said, err)
	}
}
