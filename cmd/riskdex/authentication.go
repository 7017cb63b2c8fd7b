package main

import (
	"fmt"
	"log/slog"
	"time"

	"riskdex/internal/reread"
	"riskdex/receiver/auth"
)

// secretFiles name the files with the publisher's credentials, which riskdex checks. riskdex
// push has the same flags, so that both sides can be tried.
type secretFiles struct {
	Bearer  []string `name:"bearer-file" env:"RISKDEX_BEARER_FILE" placeholder:"FILE" help:"Bearer tokens, one per line."`
	Basic   []string `name:"basic-file" env:"RISKDEX_BASIC_FILE" placeholder:"FILE" help:"Basic credentials, one user:password per line."`
	Webhook []string `name:"webhook-secret-file" env:"RISKDEX_WEBHOOK_SECRET_FILE" placeholder:"FILE" help:"Keys for Standard Webhooks signatures, one whsec_… per line."`
	Hub     []string `name:"hub-secret-file" env:"RISKDEX_HUB_SECRET_FILE" placeholder:"FILE" help:"Keys for signatures in X-Hub-Signature-256, one per line."`
}

func (s secretFiles) authConfig() auth.Config {
	return auth.Config{BearerFiles: s.Bearer, BasicFiles: s.Basic, WebhookFiles: s.Webhook, HubFiles: s.Hub}
}

// authSettings say whose deliveries are accepted.
type authSettings struct {
	secretFiles
	ClientCA       []string `name:"client-ca-file" env:"RISKDEX_CLIENT_CA_FILE" placeholder:"FILE" help:"Authorities (PEM) for the sender's certificate; needs --tls-cert-file."`
	ClientNames    []string `name:"client-names" env:"RISKDEX_CLIENT_NAMES" placeholder:"NAME" help:"Names, one of which the sender's certificate must have. By default any."`
	AllowFrom      []string `name:"allow-from" env:"RISKDEX_ALLOW_FROM" placeholder:"RANGE" help:"Addresses that may deliver, such as 192.0.2.0/24. By default all."`
	TrustedProxies []string `name:"trusted-proxies" env:"RISKDEX_TRUSTED_PROXIES" placeholder:"RANGE" help:"Addresses of proxies whose X-Forwarded-For is trusted."`
	InsecureOpen   bool     `name:"insecure-open" env:"RISKDEX_INSECURE_OPEN" help:"Allow listeners without authentication on addresses that are not loopback."`
}

func (s authSettings) authenticator(group *reread.Group, log *slog.Logger) (*auth.Authenticator, error) {
	cfg := s.authConfig()
	cfg.AllowFrom, cfg.TrustedProxies = s.AllowFrom, s.TrustedProxies
	cfg.ClientCAFiles, cfg.ClientNames = s.ClientCA, s.ClientNames
	cfg.Group = group
	authenticator, err := auth.New(cfg, time.Now, log)
	if err != nil {
		return nil, fmt.Errorf("authentication of deliveries: %w", err)
	}
	return authenticator, nil
}
