package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Config says how to reach a collector.
type Config struct {
	URL     string        // to which batches are posted
	Headers http.Header   // added to each request
	Timeout time.Duration // for one attempt; 0 means none
	Gzip    bool          // compress requests

	Transport http.RoundTripper // nil means that of net/http
}

// FromEnvironment reads OpenTelemetry's variables OTEL_EXPORTER_OTLP_…; those for traces
// (OTEL_EXPORTER_OTLP_TRACES_…) take precedence. The error names variables that cannot be used,
// without their values, which may be secret. The Config ignores them, and can be used even if
// there is an error.
func FromEnvironment(env func(string) string) (Config, error) {
	c := Config{URL: "http://localhost:4318/v1/traces", Headers: http.Header{}, Timeout: 10 * time.Second}
	var problems []error
	// read calls use with the variable that has a setting, if one is set.
	read := func(setting string, use func(name, value string) error) {
		for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_" + setting, "OTEL_EXPORTER_OTLP_" + setting} {
			if value := strings.TrimSpace(env(name)); value != "" {
				if err := use(name, value); err != nil {
					problems = append(problems, fmt.Errorf("%s: %w", name, err))
				}
				return
			}
		}
	}
	read("ENDPOINT", func(name, value string) error {
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return errors.New("not a URL that begins with http:// or https://")
		}
		if name == "OTEL_EXPORTER_OTLP_ENDPOINT" { // base URL for traces, metrics and logs
			u = u.JoinPath("v1", "traces")
		}
		c.URL = u.String()
		return nil
	})
	read("HEADERS", func(_, value string) error { return parseHeaders(c.Headers, value) })
	read("TIMEOUT", func(_, value string) error {
		ms, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return errors.New("not a number of milliseconds")
		}
		c.Timeout = time.Duration(ms) * time.Millisecond
		return nil
	})
	read("COMPRESSION", func(_, value string) error {
		if c.Gzip = value == "gzip"; !c.Gzip && value != "none" {
			return errors.New("neither gzip nor none")
		}
		return nil
	})
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	c.Transport = transport
	read("CERTIFICATE", func(_, file string) error {
		pem, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s has no certificate", file)
		}
		transport.TLSClientConfig.RootCAs = roots
		return nil
	})
	read("CLIENT_CERTIFICATE", func(_, file string) error {
		keyFile := ""
		read("CLIENT_KEY", func(_, value string) error { keyFile = value; return nil })
		pair, err := tls.LoadX509KeyPair(file, keyFile)
		if err == nil {
			transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
		}
		return err
	})
	return c, errors.Join(problems...)
}

// parseHeaders adds the headers of a list such as "api-key=a%20b,tenant=c".
func parseHeaders(to http.Header, list string) (err error) {
	for i, pair := range strings.Split(list, ",") {
		name, value, found := strings.Cut(pair, "=")
		value, wrong := url.PathUnescape(value)
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || wrong != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			err = errors.Join(err, fmt.Errorf("header %d is not name=value, percent-encoded", i+1))
			continue
		}
		to.Set(name, value)
	}
	return err
}
