package elastic

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"

	"riskdex/internal/address"
)

// Connection says how to reach Elasticsearch. It has credentials in plain text; nothing made
// from it shows them.
type Connection struct {
	// URL may include a user and a password.
	URL string

	// At most one of these: an API key, encoded as Elasticsearch returns it, or a user
	// with a password.
	APIKey, User, Password string

	// Secret returns the API key, or the password if there is a user, at each request; nil if those
	// above stay as they are.
	Secret func() string

	// At most one of these. CA has the certificates of trusted authorities as PEM, in place
	// of the system's. Fingerprint is the SHA-256 digest of a certificate in hexadecimal,
	// with or without colons, as Elasticsearch prints it at its first start: the server is
	// trusted if that certificate is in its chain.
	CA          []byte
	Fingerprint string

	// ClientCertificate and ClientKey, as PEM, authenticate riskdex.
	ClientCertificate, ClientKey []byte
}

// Client sends requests to one Elasticsearch. Its methods may be called concurrently.
//
// It is the transport of go-elasticsearch without that module's root package, which
// brings a typed API of 850 packages that nothing here uses.
type Client struct {
	transport *elastictransport.Client
	at        string  // without credentials
	pool      *pool   // nil if the connections are not its own
	anew      *Client // see Anew; nil if it is this one
	silence   silence
}

// pool is a transport whose connections can be left behind.
type pool struct{ atomic.Pointer[http.Transport] }

func (p *pool) RoundTrip(req *http.Request) (*http.Response, error) { return p.Load().RoundTrip(req) }

// renewed signs each request with the secret as it is then.
type renewed struct {
	user   string
	secret func() string
	next   http.RoundTripper
}

func (r renewed) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if r.user != "" {
		req.SetBasicAuth(r.user, r.secret())
	} else {
		req.Header.Set("Authorization", "ApiKey "+r.secret())
	}
	return r.next.RoundTrip(req)
}

// Anew returns a client each of whose requests opens a connection of its own: where the address leads
// to now, and not where it led to earlier.
func (c *Client) Anew() *Client {
	if c.anew == nil {
		return c
	}
	return c.anew
}

// Reconnect has all further requests use new connections.
func (c *Client) Reconnect() {
	if c.pool == nil {
		return
	}
	c.pool.Swap(c.pool.Load().Clone()).CloseIdleConnections()
}

// ErrNotElasticsearch means that something other than Elasticsearch answers.
var ErrNotElasticsearch = errors.New("what answers is not an Elasticsearch: it lacks the header X-Elastic-Product")

// NewClient returns a client, or an error that says what is wrong in c. It does not connect
// yet.
func NewClient(c Connection) (*Client, error) {
	u, err := address.Parse(c.URL, "http://127.0.0.1:9200")
	if err != nil {
		return nil, fmt.Errorf("the address of Elasticsearch: %w", err)
	}
	if err := c.checkCredentials(u); err != nil {
		return nil, err
	}
	secured, err := c.tls()
	if err != nil {
		return nil, err
	}
	if secured != nil && u.Scheme != "https" {
		return nil, errors.New("a certificate of Elasticsearch, or for it, is given, but its address begins with http: write https")
	}
	if u.User != nil {
		c.User = u.User.Username()
		c.Password, _ = u.User.Password()
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:     secured,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 32,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
	}
	single := transport.Clone()
	single.DisableKeepAlives = true
	anew, err := newClient(c, u, single)
	if err != nil {
		return nil, err
	}
	kept := new(pool)
	kept.Store(transport)
	client, err := newClient(c, u, kept)
	if err != nil {
		return nil, err
	}
	client.pool, client.anew = kept, anew
	return client, nil
}

// NewClientOver returns a client that uses transport in place of the network, such as one
// that fails.
func NewClientOver(transport http.RoundTripper, at string) (*Client, error) {
	u, err := address.Parse(at, "http://127.0.0.1:9200")
	if err != nil {
		return nil, fmt.Errorf("the address of Elasticsearch: %w", err)
	}
	return newClient(Connection{}, u, transport)
}

func newClient(c Connection, u *url.URL, transport http.RoundTripper) (*Client, error) {
	options := []elastictransport.Option{
		elastictransport.WithURLs(u),
		elastictransport.WithUserAgent("riskdex"),
		elastictransport.WithTransport(transport),
		// Its retries come without a delay, multiply ours, and the metrics miss them.
		elastictransport.WithDisableRetry(),
	}
	switch {
	case c.Secret != nil:
		options = append(options, elastictransport.WithTransport(renewed{c.User, c.Secret, transport}))
	case c.APIKey != "":
		options = append(options, elastictransport.WithAPIKey(c.APIKey))
	case c.User != "":
		options = append(options, elastictransport.WithBasicAuth(c.User, c.Password))
	}
	client, err := elastictransport.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("make a client for Elasticsearch: %w", err)
	}
	return &Client{transport: client, at: u.Scheme + "://" + u.Host + u.Path}, nil
}

// Perform sends a request, whose URL has no host, and returns the response, whose body the
// caller closes. A successful response without the header of Elasticsearch is
// [ErrNotElasticsearch].
func (c *Client) Perform(req *http.Request) (*http.Response, error) {
	c.silence.begin()
	res, err := c.transport.Perform(req)
	c.silence.end(req.Context().Err() == nil)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return res, nil
	}
	if res.Header.Get("X-Elastic-Product") != "Elasticsearch" {
		res.Body.Close()
		return nil, c.unreachable(ErrNotElasticsearch)
	}
	return res, nil
}

// Address returns the address of Elasticsearch, without credentials.
func (c *Client) Address() string { return c.at }

// UnreachableError is why there was no whole answer of Elasticsearch, with its address.
type UnreachableError struct {
	at  string
	err error
}

func (c *Client) unreachable(err error) error {
	if network, ok := errors.AsType[*net.OpError](err); ok { // which repeats the address
		err = network.Err
	}
	return &UnreachableError{c.at, err}
}

func (e *UnreachableError) Error() string {
	if errors.Is(e.err, context.DeadlineExceeded) {
		return e.at + ": no answer in time"
	}
	return e.at + ": " + e.err.Error()
}

func (e *UnreachableError) Unwrap() error { return e.err }

func (c Connection) checkCredentials(u *url.URL) error {
	given := 0
	for _, is := range []bool{c.APIKey != "", c.User != "" || c.Password != "", u.User != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return errors.New("more than one kind of credentials for Elasticsearch: give an API key, or a user and a password, or both of them in the address")
	case (c.User == "") != (c.Password == ""):
		return errors.New("a user of Elasticsearch without a password, or a password without a user")
	}
	return nil
}

// tls returns nil if c says nothing about TLS.
func (c Connection) tls() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case len(c.CA) > 0 && c.Fingerprint != "":
		return nil, errors.New("for Elasticsearch, give the certificates of authorities or a fingerprint, not both")
	case len(c.CA) > 0:
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(c.CA) {
			return nil, errors.New("the certificates of authorities for Elasticsearch: there is none in PEM form")
		}
	case c.Fingerprint != "":
		want, err := hex.DecodeString(strings.ReplaceAll(c.Fingerprint, ":", ""))
		if err != nil || len(want) != sha256.Size {
			return nil, fmt.Errorf("the fingerprint for Elasticsearch is %q: it has to be 64 hexadecimal digits", c.Fingerprint)
		}
		// The chain need not end at an authority known to the system: the fingerprint
		// replaces it. TLS still checks that the server has the private key.
		cfg.InsecureSkipVerify = true
		cfg.VerifyConnection = func(s tls.ConnectionState) error { return trusted(s, want) }
	}
	if (len(c.ClientCertificate) == 0) != (len(c.ClientKey) == 0) {
		return nil, errors.New("a client certificate for Elasticsearch without its key, or the key without it")
	}
	if len(c.ClientCertificate) > 0 {
		certificate, err := tls.X509KeyPair(c.ClientCertificate, c.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("the client certificate for Elasticsearch: %w", err)
		}
		cfg.Certificates = []tls.Certificate{certificate}
	}
	if cfg.RootCAs == nil && cfg.VerifyConnection == nil && cfg.Certificates == nil {
		return nil, nil
	}
	return cfg, nil
}

// trusted returns nil if the certificate with the fingerprint is the server's own, or an
// authority that the server's certificate chains to.
func trusted(s tls.ConnectionState, fingerprint []byte) error {
	i := slices.IndexFunc(s.PeerCertificates, func(cert *x509.Certificate) bool {
		sum := sha256.Sum256(cert.Raw)
		return slices.Equal(sum[:], fingerprint)
	})
	if i < 0 {
		return errors.New("no certificate of Elasticsearch has the fingerprint that is stated")
	}
	if i == 0 {
		return nil
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(s.PeerCertificates[i])
	for _, cert := range s.PeerCertificates[1:i] {
		between.AddCert(cert)
	}
	// The host name is not checked: any server certified by this authority is trusted, as
	// in Elastic's own clients.
	if _, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between}); err != nil {
		return fmt.Errorf("the certificate of Elasticsearch: %w", err)
	}
	return nil
}
