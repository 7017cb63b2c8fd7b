package receiver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/receiver/auth"
	"riskdex/receiver/body"
)

// pipes is a listener without a network, so that its connections follow the clock of the
// test.
type pipes chan net.Conn

func (l pipes) Accept() (net.Conn, error) {
	if conn, ok := <-l; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (l pipes) Close() error   { return nil }
func (l pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (l pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	l <- theirs
	return ours
}

// unauthenticated occupies connections with an invalid signature: it sends a burst, and then a
// little every second. When it is cut off, it reconnects as soon as its average is no
// more than mean bytes per second.
type unauthenticated struct{ burst, each, mean int }

func (s unauthenticated) occupy(ctx context.Context, to pipes) (sent int) {
	for began := time.Now(); ctx.Err() == nil; {
		conn := to.dial()
		held, cut := context.WithCancel(ctx)
		context.AfterFunc(held, func() { conn.Close() })
		go func() { _, _ = io.Copy(io.Discard, conn); cut() }()
		_, err := fmt.Fprintf(conn, "POST /cities HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=%064d\r\nTransfer-Encoding: chunked\r\n\r\n", 0)
		for n := s.burst; err == nil && held.Err() == nil; n = s.each {
			if n > 0 {
				_, err = fmt.Fprintf(conn, "%x\r\n%s\r\n", n, strings.Repeat("x", n))
				sent += n
			}
			sleep(held, time.Second)
		}
		cut()
		sleep(ctx, time.Until(began.Add(time.Duration(sent/s.mean)*time.Second)))
	}
	return sent
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// TestSlowUnauthenticatedSendersKeepNobodyOut: a burst does not let unauthenticated senders occupy
// the memory that the publisher's delivery needs. When they reconnect, they may delay it
// for a moment, and it is retried as the answer asks.
func TestSlowUnauthenticatedSendersKeepNobodyOut(t *testing.T) {
	for what, c := range map[string]struct{ senders, burst, each int }{
		"silence":          {6, 2_300_000, 0},
		"the least pace":   {6, 2_300_000, body.LeastPace},
		"many, of a piece": {60, 270_000, 0},
	} {
		t.Run(what, func(t *testing.T) {
			key := auth.Config{HubFiles: secretFile(t, "the-hub-key-of-enough-bytes")}
			synctest.Test(t, func(t *testing.T) {
				log := slog.New(slog.DiscardHandler)
				credentials, err := auth.NewCredentials(key, time.Now)
				if err != nil {
					t.Fatal(err)
				}
				cfg := Config{MaxBody: 4 << 20, BodyMemory: 16 << 20}
				if cfg.Authenticator, err = auth.New(key, time.Now, log); err != nil {
					t.Fatal(err)
				}
				r, err := New(cfg, &recorder{}, time.Now, prometheus.NewRegistry(), log)
				if err != nil {
					t.Fatal(err)
				}
				network := make(pipes)
				server := &http.Server{Handler: r}
				go func() { _ = server.Serve(network) }()

				ctx, stop := context.WithCancel(t.Context())
				var senders sync.WaitGroup
				var sent atomic.Int64
				for range c.senders {
					senders.Go(func() { sent.Add(int64(unauthenticated{c.burst, c.each, 192 << 10 / c.senders}.occupy(ctx, network))) })
				}
				began, first := time.Now(), 0
				time.Sleep(20 * time.Second)
				for i := range 8 {
					asked, tries := time.Now(), 1
					body := fmt.Sprintf(`{"id":%d,"text":"%s"}`, i, strings.Repeat("x", 200_000))
					for deliverTo(t, network, credentials, body) != http.StatusAccepted {
						time.Sleep(retryAfter)
						tries++
						if time.Since(asked) > 2*time.Minute {
							break
						}
					}
					if took := time.Since(asked); took > 30*time.Second {
						t.Errorf("delivery %d is accepted after %v", i, took)
					} else if tries == 1 {
						first++
					}
					time.Sleep(10 * time.Second)
				}
				if first < 5 {
					t.Errorf("only %d of 8 deliveries are accepted at the first attempt", first)
				}
				stop()
				senders.Wait()
				t.Logf("the unauthenticated senders sent %d KiB in %v", sent.Load()>>10, time.Since(began))
				close(network)
				_ = server.Close()
			})
		})
	}
}

// deliverTo makes a signed delivery, and returns the status of the answer.
func deliverTo(t *testing.T, to pipes, credentials *auth.Credentials, body string) int {
	t.Helper()
	conn := to.dial()
	defer conn.Close()
	req, err := http.NewRequest("POST", "http://riskdex/cities", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	credentials.Show(req.Header, "", []byte(body))
	go func() { _ = req.Write(conn) }() // it may be told to stop
	res, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
