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

	"riskdex/internal/reread"
	"riskdex/receiver/auth"
)

// listenForDeliveries opens the listener for the publisher. It fails if the settings would
// leave it open without saying so (guardDeliveries). A riskdex that follows another one takes nothing
// from anybody.
func (c *serveCommand) listenForDeliveries(ctx context.Context, w *components, log *slog.Logger) (*endpoint, error) {
	handler := http.Handler(w.receiver)
	if w.follower != nil {
		handler = refuseDeliveries(w.follower.From(), w.receiver, w.observe)
	}
	e, err := listen(ctx, "deliveries", c.Listen, w.secured, handler, log)
	if err != nil || w.follower != nil {
		return e, err
	}
	if err := c.guardDeliveries(w.authenticator, e.listener.Addr()); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// securedDeliveries returns the TLS configuration of the listener for deliveries, or nil if
// they come over plain HTTP.
func (c *serveCommand) securedDeliveries(group *reread.Group, log *slog.Logger) (*tls.Config, error) {
	secured, err := c.TLS.config(group, "deliveries", time.Now, log)
	if err != nil || len(c.ClientCA) == 0 {
		return secured, err
	}
	if secured == nil {
		return nil, errors.New("client certificates need TLS: give --tls-cert-file and --tls-key-file too")
	}
	secured.ClientAuth = tls.RequestClientCert // the authenticator verifies it
	return secured, nil
}

// guardDeliveries returns an error if anybody who reaches address could deliver, unless that
// is explicitly allowed.
func (c *serveCommand) guardDeliveries(authenticator *auth.Authenticator, address net.Addr) error {
	if authenticator.Required() || c.mayServeOpenly(address) {
		return nil
	}
	return fmt.Errorf("deliveries on %s would be taken from whoever can reach it: state what the publisher has to show "+
		"(--bearer-file, --basic-file, --webhook-secret-file, --hub-secret-file, --client-ca-file or --allow-from), "+
		"listen on a loopback address, or set --insecure-open", address)
}

// adminAccess says who may use a listener for administration.
type adminAccess struct {
	AdminTLS    tlsSettings `embed:"" prefix:"admin-" envprefix:"RISKDEX_ADMIN_"`
	AdminTokens []string    `name:"admin-token-file" env:"RISKDEX_ADMIN_TOKEN_FILE" placeholder:"FILE" help:"Tokens for the admin listener, one per line. Reread when it changes."`
}

// listenForAdmin opens the listener for administration. It fails if guard says that the
// settings would leave it open without saying so.
func (a adminAccess) listenForAdmin(ctx context.Context, address string, guard func(net.Addr) error, handler http.Handler, group *reread.Group, log *slog.Logger) (*endpoint, error) {
	secured, err := a.AdminTLS.config(group, "administration", time.Now, log)
	if err != nil {
		return nil, err
	}
	e, err := listen(ctx, "administration", address, secured, handler, log)
	if err != nil {
		return nil, err
	}
	if err := guard(e.listener.Addr()); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// guardAdmin is guardDeliveries for administration.
func (c *serveCommand) guardAdmin(address net.Addr) error {
	if len(c.AdminTokens) > 0 || c.mayServeOpenly(address) {
		return nil
	}
	return fmt.Errorf("administration on %s would be open to whoever can reach it: give --admin-token-file, "+
		"listen on a loopback address, or set --insecure-open", address)
}

// allow returns the check of tokens for administration, or nil if no token is required.
func (a adminAccess) allow(group *reread.Group, log *slog.Logger) (func(token string) (bool, error), error) {
	if len(a.AdminTokens) == 0 {
		return nil, nil
	}
	tokens, err := auth.OpenTokens(group, "tokens for administration", a.AdminTokens, time.Now, log)
	if err != nil {
		return nil, err
	}
	return tokens.Allow, nil
}

// mayServeOpenly reports whether address may be served without authentication.
func (c *serveCommand) mayServeOpenly(address net.Addr) bool {
	return c.InsecureOpen || isLoopback(address)
}

func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
