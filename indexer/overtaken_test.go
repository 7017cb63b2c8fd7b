package indexer_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/report"
)

// TestOvertakenDocumentWaits has a document delivered again while it is on its way.
func TestOvertakenDocumentWaits(t *testing.T) {
	cfg := quick()
	cfg.Pause = time.Hour
	r := start(t, cfg)
	r.append(index(report.Cities, "0", `{"id":0}`))
	r.drained() // the index is there
	var held atomic.Bool
	onWay, goOn := make(chan struct{}), make(chan struct{})
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if strings.HasSuffix(req.URL.Path, "/_bulk") && held.CompareAndSwap(false, true) {
			close(onWay)
			<-goOn
		}
		next.ServeHTTP(w, req)
	})
	r.append(index(report.Cities, "1", `{"id":1,"n":1}`))
	<-onWay
	r.append(index(report.Cities, "1", `{"id":1,"n":2}`))
	close(goOn)
	settled := func() uint64 {
		s := r.stats().Kinds[report.Cities].Settled
		return s[report.Indexed] + s[report.Superseded]
	}
	r.eventually("the first delivery came to its end", func() bool { return settled() == 2 })
	// Others go on, and so does one that is delivered again after it has arrived.
	for range 3 {
		r.append(index(report.Cities, "0", `{"id":0}`), index(report.Cities, "2", `{"id":2}`))
		r.eventually("all but the overtaken one are settled", func() bool { return r.stats().Kinds[report.Cities].Pending == 1 })
	}
	if n := r.document(report.Cities, "1")["n"]; n != 1.0 {
		t.Errorf("the index has number %v: the pause was not kept", n)
	}
}

// TestPauseEnds has the second delivery sent once the pause is over.
func TestPauseEnds(t *testing.T) {
	cfg := quick()
	cfg.Pause = 50 * time.Millisecond
	r := start(t, cfg)
	for n := range 200 { // as fast as the journal takes them
		r.append(index(report.Cities, "1", strings.Replace(`{"id":1,"n":N}`, "N", string(rune('0'+n%10)), 1)))
	}
	r.drained()
	if n := r.document(report.Cities, "1")["n"]; n != 9.0 {
		t.Errorf("the index has number %v, want the last", n)
	}
}
