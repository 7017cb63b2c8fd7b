package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"riskdex/internal/reread"
)

// tlsSettings name the certificate of a listener. Without one, it speaks plain HTTP.
type tlsSettings struct {
	Certificate string `name:"tls-cert-file" env:"TLS_CERT_FILE" placeholder:"FILE" help:"The listener's certificate (PEM), then intermediate ones. Reread when it changes."`
	Key         string `name:"tls-key-file" env:"TLS_KEY_FILE" placeholder:"FILE" help:"The key of that certificate (PEM)."`
}

// config returns nil if no certificate is set. what names the listener in logs and errors.
func (s tlsSettings) config(group *reread.Group, what string, now func() time.Time, log *slog.Logger) (*tls.Config, error) {
	if s.Certificate == "" && s.Key == "" {
		return nil, nil
	}
	if s.Certificate == "" || s.Key == "" {
		return nil, fmt.Errorf("TLS for %s: a certificate without its key, or the key without it; give both files", what)
	}
	certificate, err := reread.Open(group, "certificate for "+what, []string{s.Certificate, s.Key}, parsePair, now, func(err error) {
		if err != nil {
			log.Error("the certificate cannot be reread; the previous one stays in use", "listener", what, "error", err)
		} else {
			log.Info("the certificate was reread", "listener", what)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("TLS for %s: %w", what, err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		// For TLS 1.2: the suites with forward secrecy and authenticated encryption. Those of
		// TLS 1.3 cannot be configured.
		CipherSuites: []uint16{
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		},
		// HTTP/2 would let one connection carry hundreds of bodies.
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			pair, _ := certificate.Get() // errors have been logged
			return pair, nil
		},
	}, nil
}

// parsePair parses a certificate and its key, and refuses a certificate that has expired.
func parsePair(contents [][]byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, err
	}
	if time.Now().After(pair.Leaf.NotAfter) {
		return nil, errors.New("the certificate has expired, on " + pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	return &pair, nil
}

// clientTrusting returns a client that trusts the authorities in the file that a flag
// names, or the system's if it names none.
func clientTrusting(flag, file string) (*http.Client, error) {
	authorities, err := content(flag, file)
	if err != nil || authorities == nil {
		return new(http.Client), err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("%s: there is no certificate in PEM form in %s", flag, file)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted}
	return &http.Client{Transport: transport}, nil
}
