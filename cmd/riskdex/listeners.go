package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"riskdex/receiver/auth"
)

// listenForDeliveries opens the listener that the publisher reaches, if its
// settings are safe together.
func (c *serveCommand) listenForDeliveries(ctx context.Context, door *auth.Door, handler http.Handler, log *slog.Logger) (*endpoint, error) {
	secured, err := c.TLS.config("deliveries", time.Now, log)
	if err != nil {
		return nil, err
	}
	if len(c.ClientCA) > 0 {
		if secured == nil {
			return nil, errors.New("client certificates are shown over TLS only: give --tls-cert-file and --tls-key-file too")
		}
		secured.ClientAuth = tls.RequestClientCert // the door looks at it
	}
	e, err := listen(ctx, "deliveries", c.Listen, secured, handler, log)
	if err != nil {
		return nil, err
	}
	if !door.Required() && !c.mayBeOpen(e) {
		return nil, errors.Join(fmt.Errorf("deliveries on %s would be taken from whoever can reach it: state what the publisher has to show "+
			"(--bearer-file, --basic-file, --webhook-secret-file, --hub-secret-file, --client-ca-file or --allow-from), "+
			"listen on a loopback address, or say --insecure-open", e.listener.Addr()), e.close())
	}
	return e, nil
}

// listenForAdmin opens the listener of administration, if its settings are safe
// together.
func (c *serveCommand) listenForAdmin(ctx context.Context, handler http.Handler, log *slog.Logger) (*endpoint, error) {
	secured, err := c.AdminTLS.config("administration", time.Now, log)
	if err != nil {
		return nil, err
	}
	e, err := listen(ctx, "administration", c.AdminListen, secured, handler, log)
	if err != nil {
		return nil, err
	}
	if len(c.AdminTokens) == 0 && !c.mayBeOpen(e) {
		return nil, errors.Join(fmt.Errorf("administration on %s would be open to whoever can reach it: give --admin-token-file, "+
			"listen on a loopback address, or say --insecure-open", e.listener.Addr()), e.close())
	}
	return e, nil
}

// allow returns what lets people and programs into administration, or nil where
// everybody may who reaches it.
func (c *serveCommand) allow(log *slog.Logger) (func(token string) (bool, error), error) {
	if len(c.AdminTokens) == 0 {
		return nil, nil
	}
	tokens, err := auth.OpenTokens("tokens for administration", c.AdminTokens, time.Now, log)
	if err != nil {
		return nil, err
	}
	return tokens.Allow, nil
}

// mayBeOpen tells whether nobody has to show anything on an endpoint.
func (c *serveCommand) mayBeOpen(e *endpoint) bool {
	tcp, ok := e.listener.Addr().(*net.TCPAddr)
	return c.InsecureOpen || ok && tcp.IP.IsLoopback()
}
