package auth

import (
	"riskdex/internal/reread"

	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// Config says how senders have to authenticate. Every method with settings is required. Files of
// secrets have one secret per line.
type Config struct {
	AllowFrom      []string // address ranges of senders, such as 192.0.2.0/24
	TrustedProxies []string // address ranges whose X-Forwarded-For is trusted

	ClientCAFiles []string // authorities (PEM) for client certificates
	ClientNames   []string // the client's certificate must have one of these; empty means any

	BearerFiles  []string // tokens
	BasicFiles   []string // user:password
	WebhookFiles []string // keys of Standard Webhooks, whsec_ and base64
	HubFiles     []string // keys for X-Hub-Signature-256, as they are

	Group *reread.Group // takes all files; may be nil
}

// Authenticator decides whose deliveries are accepted. It may be used concurrently.
type Authenticator struct {
	methods    []method
	signatures []signature // those of methods that need the body
	required   bool        // something has to be shown
	ask        string      // for senders: what has to be shown
	challenges []string
	now        func() time.Time
}

// method is one way in which senders authenticate.
type method interface {
	// ready returns why the secrets cannot be used, nil when they can.
	ready() error

	// check returns why a request is rejected, as far as that is known before its body is
	// read.
	check(r *http.Request, now time.Time) fault
}

// signature is a method that signs the body.
type signature interface {
	method

	// verify returns the id that the signature covers, if the method has one, or why the
	// signature is wrong.
	verify(r *http.Request, body []byte, now time.Time) (id string, wrong fault)
}

// New returns an authenticator, or an error that says what in cfg or in its files cannot be
// used.
func New(cfg Config, now func() time.Time, log *slog.Logger) (*Authenticator, error) {
	b := &builder{built: &Authenticator{now: now}, log: log, group: cfg.Group}
	b.address(cfg)
	b.certificate(cfg)
	b.authorization("bearer tokens", cfg.BearerFiles, bearerToken, bearerShown,
		"Bearer", "a bearer token in Authorization")
	b.authorization("basic credentials", cfg.BasicFiles, basicCredentials, basicShown,
		"Basic", "a user and password in Authorization (Basic)")
	if s := open(b, "keys of Standard Webhooks", cfg.WebhookFiles, perLine(webhookKey)); s != nil {
		b.signature(&webhook{s}, "Webhook-Signature",
			"a signature as in Standard Webhooks over the body as it is sent, with a timestamp within 5 minutes of now and an id without a full stop (webhook-… or svix-…)")
	}
	if s := open(b, "keys for X-Hub-Signature-256", cfg.HubFiles, perLine(hubKey)); s != nil {
		b.signature(&hub{s}, "X-Hub-Signature-256", "a signature over the body as it is sent in X-Hub-Signature-256")
	}
	b.webPages(cfg)
	b.built.ask = "Deliveries have to show that they come from the publisher: " + strings.Join(b.asks, ", and ") + "."
	return b.built, errors.Join(b.errs...)
}

// Required reports whether senders have to authenticate at all.
func (a *Authenticator) Required() bool { return a.required }

// Signed reports whether Verify has to follow Authenticate.
func (a *Authenticator) Signed() bool { return len(a.signatures) > 0 }

// Ready returns why nobody is accepted, and nil while the secrets can be read.
func (a *Authenticator) Ready() error {
	for _, m := range a.methods {
		if err := m.ready(); err != nil {
			return fmt.Errorf("no deliveries are let in: %w", err)
		}
	}
	return nil
}

// Authenticate checks a request before its body is read. It returns nil if the body may be
// read.
func (a *Authenticator) Authenticate(r *http.Request) *Refusal {
	now := a.now()
	var wrong fault
	for _, m := range a.methods {
		if f := m.check(r, now); f.cause != "" && (wrong.cause == "" || wrong.secret() && !f.secret()) {
			wrong = f
		}
	}
	if wrong.cause != "" {
		return a.refuse(wrong)
	}
	return nil
}

// Verify checks the signature of a request that has passed Authenticate. body is as it was
// sent, compressed or not. It returns the id that the sender has given to the delivery if the
// signature covers one, and "" otherwise.
func (a *Authenticator) Verify(r *http.Request, body []byte) (id string, _ *Refusal) {
	now := a.now()
	for _, s := range a.signatures {
		signed, wrong := s.verify(r, body, now)
		if wrong.cause != "" {
			return "", a.refuse(wrong)
		}
		id = cmp.Or(id, signed)
	}
	return id, nil
}
