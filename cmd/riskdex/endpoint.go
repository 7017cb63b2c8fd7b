package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"riskdex/internal/requestid"
	"riskdex/receiver"
)

// endpoint is an HTTP server on one address.
type endpoint struct {
	what     string
	scheme   string
	listener net.Listener

	connections *limited // that the listener accepts
	server      *http.Server
	busy        sync.RWMutex // locked for reading while a request is answered
}

// maxConnections is the largest number of connections of an endpoint, unless the process may open
// fewer files. One that sends nothing takes about 20 KiB.
const maxConnections = 10_000

// headerTimeout is how long the header of a request may take.
const headerTimeout = 10 * time.Second

// listen returns an endpoint, with TLS if secured is not nil.
func listen(ctx context.Context, what, address string, secured *tls.Config, handler http.Handler, log *slog.Logger) (*endpoint, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for %s on %s: %w", what, address, err)
	}
	connections := limit(listener.(*net.TCPListener), int(min(maxConnections, openFiles()/3)))
	listener = connections
	scheme := "http"
	if secured != nil {
		listener, scheme = tls.NewListener(listener, secured), "https"
	}
	e := &endpoint{what: what, scheme: scheme, listener: listener, connections: connections}
	e.server = &http.Server{
		Handler:           requestid.Handler(closeIfAmbiguous(atMost(connections.most, e.noted(handler))), rand.Text),
		Protocols:         protocols(),
		HTTP2:             http2Bounds(),
		ConnContext:       receiver.ConnContext,
		ConnState:         connections.state,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       5 * time.Minute, // 64 MiB over a slow line
		WriteTimeout:      6 * time.Minute, // counted from the end of the request's header
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		// The default handler answers "OPTIONS *" of anybody, and keeps the connection.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return e, nil
}

// protocols are HTTP/1 and, for senders that begin with it, HTTP/2 without TLS.
func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// http2Bounds are those of one connection of HTTP/2. The buffers of all its requests fit into its
// own, so that a body that waits for memory holds up no other.
func http2Bounds() *http.HTTP2Config {
	const streams, buffer = 16, 64 << 10
	return &http.HTTP2Config{
		MaxConcurrentStreams: streams, MaxReceiveBufferPerStream: buffer, MaxReceiveBufferPerConnection: streams * buffer,
		SendPingTimeout: time.Minute, WriteByteTimeout: time.Minute,
	}
}

// atMost bounds the requests under way, of which a connection may carry several.
func atMost(n int, next http.Handler) http.Handler {
	slots := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "5")
			http.Error(w, "Too many requests are under way. Send it again later.", http.StatusServiceUnavailable)
		}
	})
}

func (e *endpoint) noted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.busy.RLock()
		defer e.busy.RUnlock()
		next.ServeHTTP(w, r)
	})
}

// wait returns when no request is answered any more. It may be called once, after shutdown,
// which does not wait for requests that it has cut off.
func (e *endpoint) wait() { e.busy.Lock() }

// closeIfAmbiguous closes the connection after the answer to a request that a proxy may
// have framed differently (request smuggling). If a request has both Transfer-Encoding and
// Content-Length, Go goes by the former and drops the latter. A proxy that goes by the
// latter would have passed on as part of the body what looks like the next request here.
// RFC 9112, section 6.1, demands this, and for HTTP/1.0 too, where Go ignores
// Transfer-Encoding.
func closeIfAmbiguous(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

func (e *endpoint) url() string { return e.scheme + "://" + e.listener.Addr().String() }

// serve starts answering requests. broken is called if serving ends by itself.
func (e *endpoint) serve(broken context.CancelCauseFunc) {
	go func() {
		if err := e.server.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
			broken(fmt.Errorf("serve %s on %s: %w", e.what, e.listener.Addr(), err))
		}
	}()
}

// shutdown lets the requests under way end, and cuts them off after within. That is safe: a
// sender that is cut off was not told that its delivery is durable.
func (e *endpoint) shutdown(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = e.server.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving %s: %w", e.what, err)
	}
	return nil
}

func (e *endpoint) close() error { return e.listener.Close() }
