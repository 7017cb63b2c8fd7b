package auth

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// Config says what deliveries have to show. Each method for which something is
// stated is required. Files of secrets have one a line.
type Config struct {
	AllowFrom      []string // ranges of addresses, such as 192.0.2.0/24
	TrustedProxies []string // ranges of addresses whose X-Forwarded-For is believed

	ClientCAFiles []string // certificates in PEM, of which one must vouch for the client's
	ClientNames   []string // of which the client's certificate must have one; any if empty

	BearerFiles  []string // tokens
	BasicFiles   []string // user:password
	WebhookFiles []string // keys of Standard Webhooks, whsec_ and base64
	HubFiles     []string // keys for X-Hub-Signature-256, as they are
}

// Door lets deliveries in, or not. It may be used concurrently.
type Door struct {
	methods    []method
	signatures []signature // those of methods that need the body
	required   bool        // something has to be shown
	ask        string      // for senders: what has to be shown
	challenges []string
	now        func() time.Time
}

// method is one way to show who one is.
type method interface {
	// ready returns why the secrets cannot be used, nil when they can.
	ready() error

	// greet returns why a request is not let in, as far as that can be told before
	// its body is read, and "" otherwise.
	greet(r *http.Request, now time.Time) Cause
}

// signature is a method that signs the body.
type signature interface {
	method

	// verify returns the id that is signed as well, if the method has such, or why
	// the signature is not right.
	verify(r *http.Request, body []byte, now time.Time) (id string, cause Cause)
}

// New returns a door, or an error that says what in cfg or in the files that it
// names cannot be used.
func New(cfg Config, now func() time.Time, log *slog.Logger) (*Door, error) {
	b := &builder{door: &Door{now: now}, log: log}
	b.address(cfg)
	b.certificate(cfg)
	b.authorization("bearer tokens", cfg.BearerFiles, bearerToken, bearerShown,
		"Bearer", "a bearer token in Authorization")
	b.authorization("basic credentials", cfg.BasicFiles, basicCredentials, basicShown,
		"Basic", "a user and password in Authorization (Basic)")
	if s := open(b, "keys of Standard Webhooks", cfg.WebhookFiles, perLine(webhookKey)); s != nil {
		b.signature(&webhook{s}, "Webhook-Signature",
			"a signature as in Standard Webhooks over the body as it is sent, with a timestamp within 5 minutes of now and an id without a full stop")
	}
	if s := open(b, "keys for X-Hub-Signature-256", cfg.HubFiles, perLine(hubKey)); s != nil {
		b.signature(&hub{s}, "X-Hub-Signature-256", "a signature over the body as it is sent in X-Hub-Signature-256")
	}
	b.webPages(cfg)
	b.door.ask = "Deliveries have to show that they come from the publisher: " + strings.Join(b.asks, ", and ") + "."
	return b.door, errors.Join(b.errs...)
}

// Required tells whether anything has to be shown at all.
func (d *Door) Required() bool { return d.required }

// Signed tells whether the body has to be verified as well.
func (d *Door) Signed() bool { return len(d.signatures) > 0 }

// Ready returns why nobody is let in, and nil while the secrets can be read.
func (d *Door) Ready() error {
	for _, m := range d.methods {
		if err := m.ready(); err != nil {
			return fmt.Errorf("no deliveries are let in: %w", err)
		}
	}
	return nil
}

// Greet judges a request before its body is read. It returns nil when the request
// may go on.
func (d *Door) Greet(r *http.Request) *Refusal {
	now := d.now()
	for _, m := range d.methods {
		if cause := m.greet(r, now); cause != "" {
			return d.refuse(cause)
		}
	}
	return nil
}

// Verify judges the body of a request that was greeted: the bytes as they were
// sent, with whatever compression. It returns the id that the sender has given to
// the delivery, empty if none is signed; such an id may be relied on.
func (d *Door) Verify(r *http.Request, body []byte) (id string, _ *Refusal) {
	now := d.now()
	for _, s := range d.signatures {
		signed, cause := s.verify(r, body, now)
		if cause != "" {
			return "", d.refuse(cause)
		}
		id = cmp.Or(id, signed)
	}
	return id, nil
}
