package indexer_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// TestOvertakenDocumentIsSentAfterTheDebounce delivers a document again while it is on
// its way: what changes once is not delayed for as long as what changes all the time.
func TestOvertakenDocumentIsSentAfterTheDebounce(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.DebounceLimit = time.Hour
	r := start(t, cfg)
	r.Append(indexertest.Index(report.Cities, "0", `{"id":0}`))
	r.Drained() // until the index exists
	var held atomic.Bool
	onWay, goOn := make(chan struct{}), make(chan struct{})
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) && held.CompareAndSwap(false, true) {
			close(onWay)
			<-goOn
		}
		next.ServeHTTP(w, req)
	})
	r.Append(indexertest.Index(report.Cities, "1", `{"id":1,"n":1}`))
	<-onWay
	r.Append(indexertest.Index(report.Cities, "1", `{"id":1,"n":2}`))
	close(goOn)
	r.Drained()
	if n := r.Document(report.Cities, "1")["n"]; n != 2.0 {
		t.Errorf("the index has number %v, want the last", n)
	}
}

// TestHotDocumentIsSentRarely delivers a document as fast as the journal accepts it.
// Every bulk is overtaken on its way.
func TestHotDocumentIsSentRarely(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.DebounceLimit = time.Hour
	r := start(t, cfg)
	r.Append(indexertest.Index(report.Cities, "0", `{"id":0}`))
	r.Drained()
	var sent atomic.Int64
	var next atomic.Pointer[chan struct{}] // closed with the next delivery
	next.Store(new(make(chan struct{})))
	r.Fail(func(w http.ResponseWriter, req *http.Request, rest http.Handler) {
		if indexertest.IsBulk(req) {
			sent.Add(1)
			<-*next.Load()
		}
		rest.ServeHTTP(w, req)
	})
	most := int64(2) // the first, and the last once nothing more comes
	before := time.Now()
	for n := range 200 {
		began := time.Now()
		r.Append(indexertest.Index(report.Cities, "1", fmt.Sprintf(`{"id":1,"n":%d}`, n)))
		close(*next.Swap(new(make(chan struct{}))))
		if time.Since(before) >= report.Debounce {
			most++ // the machine was slow, and nothing came meanwhile
		}
		before = began
	}
	over := make(chan struct{})
	close(over)
	close(*next.Swap(&over))
	r.Drained()
	if n := sent.Load(); n > most {
		t.Errorf("200 deliveries of one document took %d bulks, want %d at most", n, most)
	}
	if n := r.Document(report.Cities, "1")["n"]; n != 199.0 {
		t.Errorf("the index has number %v, want the last", n)
	}
}

// TestDebounceEnds: the second delivery is sent once the debounce is over.
func TestDebounceEnds(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.DebounceLimit = 50 * time.Millisecond
	r := start(t, cfg)
	for n := range 200 { // as fast as the journal accepts them
		r.Append(indexertest.Index(report.Cities, "1", strings.Replace(`{"id":1,"n":N}`, "N", string(rune('0'+n%10)), 1)))
	}
	r.Drained()
	if n := r.Document(report.Cities, "1")["n"]; n != 9.0 {
		t.Errorf("the index has number %v, want the last", n)
	}
}
