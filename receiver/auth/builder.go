package auth

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"

	"riskdex/internal/reread"
)

// builder makes an authenticator and gathers everything that is wrong with its settings.
type builder struct {
	built *Authenticator
	log   *slog.Logger
	group *reread.Group
	asks  []string // what senders are told to show
	errs  []error
}

// open reads the files of one method; without files it returns nil.
func open[T any](b *builder, what string, files []string, parse func([]byte) ([]T, error)) *secrets[T] {
	if len(files) == 0 {
		return nil
	}
	s, err := openSecrets(b.group, what, files, parse, b.built.now, b.log)
	if err != nil {
		b.errs = append(b.errs, err)
		return nil
	}
	return s
}

func (b *builder) require(m method) {
	b.built.methods = append(b.built.methods, m)
	b.built.required = true
}

func (b *builder) address(cfg Config) {
	if len(cfg.AllowFrom) == 0 {
		if len(cfg.TrustedProxies) > 0 {
			b.errs = append(b.errs, errors.New("trusted proxies are set without the addresses that deliveries are accepted from, so they have no effect: set both"))
		}
		return
	}
	a, err := newAddresses(cfg.AllowFrom, cfg.TrustedProxies)
	b.errs = append(b.errs, err)
	b.require(a)
}

func (b *builder) certificate(cfg Config) {
	s := open[*x509.CertPool](b, "CA certificates for clients", cfg.ClientCAFiles, parseCertificates)
	switch {
	case s != nil:
		b.require(&certificate{s, cfg.ClientNames})
	case len(cfg.ClientNames) > 0:
		b.errs = append(b.errs, errors.New("names of client certificates are set without a certificate authority, so they have no effect: set both"))
	}
}

func (b *builder) authorization(what string, files []string, one func(string) ([]byte, error),
	decode func(string) ([]byte, bool), scheme, ask string) {
	s := open(b, what, files, perLine(one))
	if s == nil {
		return
	}
	b.require(&authorization{s, scheme, decode})
	b.asked(scheme, ask)
}

// webPages rejects web pages where nothing is required, or only what a browser sends by
// itself: its address, a certificate, the password of its user.
func (b *builder) webPages(cfg Config) {
	if len(cfg.BearerFiles)+len(cfg.WebhookFiles)+len(cfg.HubFiles) == 0 {
		b.built.methods = append(b.built.methods, webPages{})
	}
}

func (b *builder) signature(m signature, scheme, ask string) {
	b.require(m)
	b.built.signatures = append(b.built.signatures, m)
	b.asked(scheme, ask)
}

// asked adds what a 401 asks for. RFC 9110 requires a challenge; no scheme is registered for
// signatures, so the header's name stands for it.
func (b *builder) asked(scheme, ask string) {
	b.built.challenges = append(b.built.challenges, fmt.Sprintf("%s realm=%q", scheme, "riskdex"))
	b.asks = append(b.asks, ask)
}
