package elastic_test

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/internal/testkit/certificates"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// secured puts TLS in front of the real server. If clients is not nil, it requires a
// client certificate of that authority.
func secured(t *testing.T, server certificates.Pair, clients *certificates.Authority) string {
	t.Helper()
	target, err := url.Parse(elastictest.URL(t))
	require.NoError(t, err)
	proxy := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(target))
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	proxy.TLS = &tls.Config{Certificates: []tls.Certificate{server.TLS}}
	if clients != nil {
		proxy.TLS.ClientAuth, proxy.TLS.ClientCAs = tls.RequireAndVerifyClientCert, clients.Pool
	}
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// reaches reports whether a request with c gets an answer.
func reaches(t *testing.T, c elastic.Connection) error {
	t.Helper()
	client, err := elastic.NewClient(c)
	require.NoError(t, err)
	res, err := esapi.ClusterHealthRequest{}.Do(t.Context(), client)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.IsError() {
		t.Fatalf("the answer is %s, want 200", res.Status())
	}
	return nil
}

// TestClientTrustsOnlyWhatIsStated tests authorities and fingerprints.
func TestClientTrustsOnlyWhatIsStated(t *testing.T) {
	ours, other := certificates.New(t), certificates.New(t)
	server, client := ours.Issue(t, "elasticsearch"), ours.Issue(t, "riskdex")
	open, closed := secured(t, server, nil), secured(t, server, ours)
	colons := strings.ToUpper(ours.Fingerprint[:2]) + ":" + ours.Fingerprint[2:]
	for name, c := range map[string]struct {
		connection elastic.Connection
		works      bool
	}{
		"its authority":                        {elastic.Connection{URL: open, CA: ours.PEM}, true},
		"its authority among others":           {elastic.Connection{URL: open, CA: append(other.PEM, ours.PEM...)}, true},
		"the fingerprint of its authority":     {elastic.Connection{URL: open, Fingerprint: colons}, true},
		"a certificate of ours":                {elastic.Connection{URL: closed, CA: ours.PEM, ClientCertificate: client.Certificate, ClientKey: client.Key}, true},
		"nothing but the system's authorities": {elastic.Connection{URL: open}, false},
		"another authority":                    {elastic.Connection{URL: open, CA: other.PEM}, false},
		"another fingerprint":                  {elastic.Connection{URL: open, Fingerprint: other.Fingerprint}, false},
		"no certificate of ours":               {elastic.Connection{URL: closed, CA: ours.PEM}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := reaches(t, c.connection); (err == nil) != c.works {
				t.Errorf("the error is %v, want one that names the certificate", err)
			}
		})
	}
}

// TestFingerprintIsNotEnough: a chain that contains the authority is not trusted if the
// authority did not sign the server's certificate.
func TestFingerprintIsNotEnough(t *testing.T) {
	ours, other := certificates.New(t), certificates.New(t)
	forged := other.Issue(t, "elasticsearch")
	forged.TLS.Certificate = append(forged.TLS.Certificate[:1:1], ours.Issue(t, "x").TLS.Certificate[1])
	if err := reaches(t, elastic.Connection{URL: secured(t, forged, nil), Fingerprint: ours.Fingerprint}); err == nil {
		t.Error("a certificate that the authority did not sign was trusted")
	}
}

func TestConnectionSaysWhatIsWrong(t *testing.T) {
	pair := certificates.New(t).Issue(t, "x")
	fingerprint := strings.Repeat("ab", 32)
	for want, c := range map[string]elastic.Connection{
		"http:// or https":  {URL: "elasticsearch:9200"},
		"more than one":     {URL: "http://a:b@e", APIKey: "k"},
		"More than one":     {URL: "http://e", User: "u", Password: "p", APIKey: "k"},
		"without a user":    {URL: "http://e", Password: "p"},
		"without its key":   {URL: "https://e", ClientCertificate: pair.Certificate},
		"not both":          {URL: "https://e", CA: pair.Certificate, Fingerprint: fingerprint},
		"none in PEM":       {URL: "https://e", CA: []byte("x")},
		"64 hexadecimal":    {URL: "https://e", Fingerprint: "ab"},
		"write https":       {URL: "http://e", Fingerprint: fingerprint},
		"the client certif": {URL: "https://e", ClientCertificate: pair.Key, ClientKey: pair.Key},
	} {
		_, err := elastic.NewClient(c)
		if err == nil || !strings.Contains(err.Error(), strings.ToLower(want[:1])+want[1:]) && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v", want, err)
		}
	}
}

// TestAPIKeyIsSent only checks the header, because the tests' server lacks the module
// that stores API keys.
func TestAPIKeyIsSent(t *testing.T) {
	var sent atomic.Value
	real, err := url.Parse(elastictest.URL(t))
	require.NoError(t, err)
	next := httputil.NewSingleHostReverseProxy(real)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Authorization"))
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	require.NoError(t, reaches(t, elastic.Connection{URL: proxy.URL, APIKey: "a2V5"}))
	if got := sent.Load().(string); !strings.EqualFold(got, "ApiKey a2V5") {
		t.Errorf("sent %q", got)
	}
}
