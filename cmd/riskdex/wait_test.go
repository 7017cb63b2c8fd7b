package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// waitFor makes a delivery with Prefer: wait, and returns status and number of searchable
// documents in the answer.
func (p *process) waitFor(seconds int, method, path, body string) (status, searchable int, err error) {
	req, err := http.NewRequest(method, "http://"+p.deliveries+path, strings.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Prefer", fmt.Sprintf("wait=%d", seconds))
	res, err := p.sender.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	var answer struct{ Searchable int }
	err = json.NewDecoder(res.Body).Decode(&answer)
	return res.StatusCode, answer.Searchable, err
}

// TestAppsFindWhatThePublisherWaitedFor searches right after each answer: the new content is
// found, what it replaced or deleted is not.
func TestAppsFindWhatThePublisherWaitedFor(t *testing.T) {
	t.Parallel()
	p := newSearched(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	old := ""
	for _, mark := range []string{"bicycle", "hexagonal", "quicksilver", "lighthouse", "marmalade", "windscreen"} { // no two alike
		status, n, err := p.waitFor(60, "PUT", "/cities/1", cityBody(1, mark))
		require.NoError(t, err)
		if status != http.StatusOK || n != 1 {
			t.Fatalf("the PUT of %s got status %d, searchable %d; want 200, 1", mark, status, n)
		}
		if hits := p.search(mark); !slices.Equal(hits, []string{"cities/1"}) {
			t.Errorf("after the answer, a search for %s found %v, want cities/1", mark, hits)
		}
		if old != "" {
			if hits := p.search(old); len(hits) > 0 {
				t.Errorf("after the answer for %s, a search for %s found %v, want nothing", mark, old, hits)
			}
		}
		old = mark
	}
	if status, n, err := p.waitFor(60, "DELETE", "/cities/1", ""); err != nil || status != http.StatusOK || n != 1 {
		t.Fatalf("the DELETE got status %d, searchable %d, error %v; want 200, 1", status, n, err)
	}
	if hits := p.search(old); len(hits) > 0 {
		t.Errorf("after the answer for the DELETE, a search found %v, want nothing", hits)
	}

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cities.json"), []byte(`[`+cityBody(2, "pushed")+`,`+cityBody(3, "pushed")+`]`), 0o600))
	to := []string{"push", dir, "--to", "http://" + p.deliveries}
	p.expect(exitDone, "", append(to, "--wait", "60s"), "2 documents accepted", "2 of 2 documents were searchable within 1m0s")
	if hits := p.search("pushed"); len(hits) != 2 {
		t.Errorf("after push --wait, a search found %v, want two cities", hits)
	}
	p.expect(exitFailed, "", append(to, "--wait", "10ms"), "--wait", "one second")
}

// TestWaitEndsWithTheStop: while Elasticsearch is away, deliveries that wait are answered with 202
// when their time is up, or when riskdex stops.
func TestWaitEndsWithTheStop(t *testing.T) {
	t.Parallel()
	p := newProcess(t, "http://"+freeAddress(t))
	p.start()
	if status, n, err := p.waitFor(1, "PUT", "/cities/1", cityBody(1, "x")); err != nil || status != http.StatusAccepted || n != 0 {
		t.Errorf("while Elasticsearch is away, the PUT got status %d, searchable %d, error %v; want 202, 0", status, n, err)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cities.json"), []byte(cityBody(2, "x")), 0o600))
	p.expect(exitNegative, "", []string{"push", dir, "--to", "http://" + p.deliveries, "--wait", "1s"}, "0 of 1 documents were searchable")

	answered := make(chan error, 1)
	go func() {
		status, _, err := p.waitFor(60, "PUT", "/cities/1", cityBody(1, "y"))
		if err == nil && status != http.StatusAccepted {
			err = fmt.Errorf("status %d", status)
		}
		answered <- err
	}()
	eventually(t, "the delivery is durable", func() bool { return sum(p.metrics(), "riskdex_changes_accepted_total") == 3 })
	began := time.Now()
	if status := p.terminate(); status != exitDone {
		t.Errorf("riskdex ended with status %d, want %d", status, exitDone)
	}
	if err := <-answered; err != nil {
		t.Errorf("the delivery that waited at the stop was not accepted: %v", err)
	}
	if took := time.Since(began); took > stopDeliveries {
		t.Errorf("the stop took %v, want at most %v", took, stopDeliveries)
	}
}

// TestKilledWhileDeliveriesWait: what was durable is found after the next start, and push --wait,
// which got no answer, delivers again and waits on.
func TestKilledWhileDeliveriesWait(t *testing.T) {
	t.Parallel()
	p := newProcess(t, "http://"+freeAddress(t))
	p.start()
	broken := make(chan error, 1)
	go func() {
		status, _, err := p.waitFor(60, "PUT", "/cities/1", cityBody(1, "waited"))
		if err == nil {
			t.Errorf("riskdex was killed, and the delivery that waited got status %d", status)
		}
		broken <- err
	}()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cities.json"), []byte(cityBody(2, "pushed")), 0o600))
	pushing := p.begin("push", dir, "--to", "http://"+p.deliveries, "--wait", "60s")
	eventually(t, "both are durable", func() bool { return sum(p.metrics(), "riskdex_changes_accepted_total") >= 2 })
	p.kill()
	<-broken
	p.elasticsearch = elastictest.URL(t)
	p.start()
	if got := pushing.wait(); got.status != exitDone || !strings.Contains(got.out+got.errs, "1 of 1 documents were searchable") {
		t.Errorf("push --wait: %+v", got)
	}
	if hits := p.search("pushed"); !slices.Equal(hits, []string{"cities/2"}) {
		t.Errorf("after push --wait, a search found %v, want cities/2", hits)
	}
	eventually(t, "the other one is found", func() bool { return slices.Equal(p.search("waited"), []string{"cities/1"}) })
}
