package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// saidBy returns what a command says, without a running riskdex.
func saidBy(t *testing.T, args ...string) said {
	t.Helper()
	var out, errs bytes.Buffer
	return said{run(t.Context(), args, streams{&out, &errs}), out.String(), errs.String()}
}

// TestAnAddressIsTakenByAllOrByNone: whatever form an address has, check, search and serve
// understand it alike, and do what they do with the usual form.
func TestAnAddressIsTakenByAllOrByNone(t *testing.T) {
	usual := elastictest.URL(t)
	target, err := url.Parse(usual)
	require.NoError(t, err)
	prefixed := httptest.NewServer(http.StripPrefix("/search/eu", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}))
	t.Cleanup(prefixed.Close)
	for name, address := range map[string]string{
		"a slash at its end":         usual + "/",
		"a space":                    " " + usual + "\n",
		"upper case":                 strings.Replace(usual, "http://", "HTTP://", 1),
		"a path prefix with a slash": prefixed.URL + "/search/eu/",
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, address)
			if got := saidBy(t, "check", "--elasticsearch-url", address, "--index-prefix", p.prefix, "--journal", p.journal); got.status != exitDone || !strings.Contains(got.out, "answers") {
				t.Errorf("check: %+v", got)
			}
			p.start()
			p.send("POST", "/cities", `[{"id":1,"title":"Sydney"}]`)
			p.indicesReady()
			p.drained()
			eventually(t, "search finds it", func() bool {
				return saidBy(t, "search", "--elasticsearch-url", address, "--index-prefix", p.prefix, "sydney").status == exitDone
			})
			if got := saidBy(t, "verify", "--admin", "HTTP://"+p.admin+"//"); got.status != exitDone {
				t.Errorf("verify: %+v", got)
			}
			if got := saidBy(t, "push", "--to", " http://"+p.deliveries+"/ ", filepath.Join("testdata", "none.json")); !strings.Contains(got.errs, "none.json") {
				t.Errorf("push: %+v", got)
			}
		})
	}
	for _, address := range []string{
		"127.0.0.1:9200", "http://127.0.0.1:9200?x=1", "http://127.0.0.1:9200/#top", "http://a:9200,http://b:9200", "http://a:9200 http://b:9200",
		"http://127.0.0.1:", "http://127.0.0.1:99999", "http://::1:9200", "ftp://127.0.0.1", "http://", "",
	} {
		for _, args := range [][]string{
			{"serve", "--elasticsearch-url=" + address, "--journal", filepath.Join(t.TempDir(), "j.db")},
			{"check", "--offline", "--elasticsearch-url=" + address, "--journal", filepath.Join(t.TempDir(), "j.db")},
			{"search", "--elasticsearch-url=" + address, "x"}, {"status", "--admin=" + address}, {"healthy", "--admin=" + address},
			{"push", "--to=" + address, "/dev/null"},
		} {
			got := saidBy(t, args...)
			if all := got.out + got.errs; got.status == exitDone || !strings.Contains(all, "http://") || !strings.Contains(all, ": write") && !strings.Contains(all, ": leave") && !strings.Contains(all, ": give one") {
				t.Errorf("%q: %+v", args, got)
			}
		}
	}
}
