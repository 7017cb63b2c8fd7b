package receiver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// busy is a journal that has not come to a delivery yet when its sender hangs up.
type busy struct {
	reached chan struct{}
	left    chan error
}

func (b busy) Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error) {
	close(b.reached)
	select {
	case <-d.Gone:
		b.left <- ctx.Err()
	case <-time.After(20 * time.Second):
		b.left <- errors.New("the journal is not told that the sender has given up")
	}
	return nil, errors.New("nothing is taken in this test")
}

// TestTheJournalKnowsWhenASenderHangsUp, and whether to take the delivery nevertheless is
// its decision: the wait for it goes on.
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
	if _, err := fmt.Fprint(conn, "PUT /cities/1 HTTP/1.1\r\nHost: riskdex\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
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
