package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// memoryLimit is the memory of the container in deploy/kubernetes, of which GOMEMLIMIT is a part.
const (
	memoryLimit  = 1280 << 20
	goMemLimited = "GOMEMLIMIT=768MiB"
)

// takesAnyBulk is an Elasticsearch that answers bulks of large documents without reading them as JSON,
// since it would need gigabytes itself.
func takesAnyBulk(t *testing.T) string {
	t.Helper()
	to, err := url.Parse(elastictest.URL(t))
	require.NoError(t, err)
	forward := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/_bulk") || r.ContentLength < 1<<20 {
			forward.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		// Each document is replaced by an empty one.
		lines := bytes.SplitAfter(body, []byte("\n"))
		var small []byte
		for i := 0; i+1 < len(lines); i += 2 {
			small = append(append(small, lines[i]...), "{}\n"...)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(small)), int64(len(small))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// sections are 60 MB, which the bodies of this test have in common.
func sections() string {
	var b strings.Builder
	b.WriteString(`"sections":[{"text":"start"}`)
	for n := 0; b.Len() < 60e6; n++ {
		fmt.Fprintf(&b, `,{"title":"Section %d","text":"There were reports of theft near the station %d, and of \"strikes\" at the airport.\nTake care."}`, n, n)
	}
	b.WriteString("]}")
	return b.String()
}

// TestMemoryOfLargeBodies: whatever holds large bodies at once, riskdex stays within the memory that
// its container has.
func TestMemoryOfLargeBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const many = 16
	p := newProcess(t, takesAnyBulk(t))
	p.environment = goMemLimited
	p.start()
	check := func(what string) {
		t.Helper()
		got := p.memory("VmHWM")
		t.Logf("%s: %d MiB", what, got>>20)
		if got > memoryLimit && !raceDetector {
			t.Errorf("%s took %d MiB", what, got>>20)
		}
	}
	atOnce := func(n int, one func(i int) (int, error)) {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				for {
					status, err := one(i)
					if err == nil && status == http.StatusServiceUnavailable {
						continue // it has waited
					}
					if err != nil || status >= 300 {
						t.Errorf("%d is answered %d, %v", i, status, err)
					}
					return
				}
			})
		}
		all.Wait()
	}
	large := sections()
	// send sends the body number i.
	send := func(i int, address string) (int, error) {
		title := fmt.Sprintf(`{"title":"Report %d",`, i)
		body := func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(title), strings.NewReader(large))), nil
		}
		req, err := http.NewRequest("PUT", address, nil)
		require.NoError(t, err)
		req.Body, _ = body()
		req.GetBody, req.ContentLength = body, int64(len(title)+len(large))
		return answer(http.DefaultClient, req)
	}
	get := func(address string) (int, error) {
		req, err := http.NewRequest("GET", address, nil)
		require.NoError(t, err)
		return answer(http.DefaultClient, req)
	}
	put := func(i int) (int, error) { return send(i, fmt.Sprintf("http://%s/advisories/%d", p.deliveries, i)) }
	p.indicesReady()
	check("idle")
	atOnce(1, put)
	p.drained()
	check("one")
	atOnce(many, put)
	p.drained()
	check("indexing at once")
	p.terminate()

	to := p.elasticsearch
	p.elasticsearch = "http://127.0.0.1:1"
	p.start()
	atOnce(many, put)
	check("taking")
	p.terminate()
	p.elasticsearch = to
	p.start()
	p.drained()
	check("draining")
	p.terminate()
	p.start()
	atOnce(1, func(i int) (int, error) {
		return get(fmt.Sprintf("http://%s/api/document?kind=advisories&id=%d", p.admin, i))
	})
	check("one document")
	atOnce(8, func(i int) (int, error) {
		return get(fmt.Sprintf("http://%s/api/document?kind=advisories&id=%d", p.admin, i))
	})
	check("documents")
	p.terminate()
	for _, readers := range [][]string{
		{"/api/history?kind=advisories&id=%d&at=2100-01-01T00:00:00Z"},
		{"/api/changes?kind=advisories&limit=%d"},
		{"/api/export?kind=advisories", "/api/changes?kind=advisories&limit=%d", "/api/history?kind=advisories&id=%d&at=2100-01-01T00:00:00Z", "/api/document?kind=advisories&id=%d"},
	} {
		p.start()
		atOnce(8, func(i int) (int, error) {
			path := readers[i%len(readers)]
			switch {
			case strings.Contains(path, "%d"):
				path = fmt.Sprintf(path, i+1)
			case i > 0:
				return http.StatusOK, nil // one export runs at a time
			}
			return get("http://" + p.admin + path)
		})
		check(fmt.Sprint("readers of ", readers))
		p.terminate()
	}
	p.start()
	for i := range 8 {
		p.send("PUT", fmt.Sprintf("/advisories/bad-%d", i), `{"a"`)
	}
	var kept struct{ Items []admin.Refusal }
	require.NoError(t, json.Unmarshal(p.administer("/api/refused"), &kept))
	edit := func(i int) (int, error) {
		return send(i, fmt.Sprintf("http://%s/api/refused/delivery?number=%d", p.admin, kept.Items[i].Number))
	}
	atOnce(8, edit)
	check("edits")
}
