package auth

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
)

// builder puts a door together, and gathers all that is wrong with it.
type builder struct {
	door *Door
	log  *slog.Logger
	asks []string // what senders are told to show
	errs []error
}

// open reads the files of one method; without files it returns nil.
func open[T any](b *builder, what string, files []string, parse func([]byte) ([]T, error)) *secrets[T] {
	if len(files) == 0 {
		return nil
	}
	s, err := openSecrets(what, files, parse, b.door.now, b.log)
	if err != nil {
		b.errs = append(b.errs, err)
		return nil
	}
	return s
}

func (b *builder) require(m method) {
	b.door.methods = append(b.door.methods, m)
	b.door.required = true
}

func (b *builder) address(cfg Config) {
	if len(cfg.AllowFrom) == 0 {
		if len(cfg.TrustedProxies) > 0 {
			b.errs = append(b.errs, errors.New("trusted proxies are stated, but not which addresses deliveries are taken from, so they would change nothing: state both"))
		}
		return
	}
	a, err := newAddresses(cfg.AllowFrom, cfg.TrustedProxies)
	b.errs = append(b.errs, err)
	b.require(a)
}

func (b *builder) certificate(cfg Config) {
	s := open[*x509.CertPool](b, "certificates of who vouches for clients", cfg.ClientCAFiles, parseCertificates)
	switch {
	case s != nil:
		b.require(&certificate{s, cfg.ClientNames})
	case len(cfg.ClientNames) > 0:
		b.errs = append(b.errs, errors.New("names of client certificates are stated, but not who vouches for them, so they would change nothing: state both"))
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

// webPages keeps web pages out where what has to be shown, if anything, is what a
// browser shows by itself: where it is, a certificate, the password of its user.
func (b *builder) webPages(cfg Config) {
	if len(cfg.BearerFiles)+len(cfg.WebhookFiles)+len(cfg.HubFiles) == 0 {
		b.door.methods = append(b.door.methods, webPages{})
	}
}

func (b *builder) signature(m signature, scheme, ask string) {
	b.require(m)
	b.door.signatures = append(b.door.signatures, m)
	b.asked(scheme, ask)
}

// asked notes what a 401 asks for. RFC 9110 wants a challenge in it; for
// signatures no scheme is registered, so the header's name stands for it.
func (b *builder) asked(scheme, ask string) {
	b.door.challenges = append(b.door.challenges, fmt.Sprintf("%s realm=%q", scheme, "riskdex"))
	b.asks = append(b.asks, ask)
}
