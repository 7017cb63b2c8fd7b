package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// TestVerifyAwaitsIndex verifies in the first moments of a new installation, while the
// index of the last kind is still being created.
func TestVerifyAwaitsIndex(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	target, err := url.Parse(p.elasticsearch)
	require.NoError(t, err)
	real := httputil.NewSingleHostReverseProxy(target)
	made := make(chan struct{})
	release := sync.OnceFunc(func() { close(made) })
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPut && strings.HasPrefix(req.URL.Path, "/"+p.prefix+"special-reports-v1") {
			<-made
		}
		real.ServeHTTP(w, req)
	}))
	t.Cleanup(way.Close)
	t.Cleanup(release)
	p.elasticsearch = way.URL
	p.start()
	verifying := p.begin("verify")
	eventually(t, "the other kinds are verified", func() bool {
		return strings.Contains(p.log.String(), "msg=verified kind=advisories ")
	})
	release()
	if got := verifying.wait(); got.status != exitDone || !strings.Contains(got.out, "special-reports: 0 documents in the journal, 0 in the index") {
		t.Errorf("the command printed %+v, want an empty comparison of special-reports", got)
	}
}
