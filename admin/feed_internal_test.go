package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// endlessChanges is a journal whose every page has a change.
type endlessChanges struct{ read chan struct{} }

func (c endlessChanges) Feed(context.Context, report.Cursor, int, int) (report.FeedPage, error) {
	c.read <- struct{}{}
	return report.FeedPage{Changes: []report.Record{{Change: report.Change{Key: report.Key{Kind: report.Cities, ID: "1"}, Body: []byte("{}")}}}}, nil
}

func (endlessChanges) Committed() <-chan struct{} { return nil }

// slowWriter is a client that takes nothing until takes is closed.
type slowWriter struct {
	*httptest.ResponseRecorder
	takes chan struct{}
}

func (w slowWriter) Write(p []byte) (int, error) {
	<-w.takes
	return w.ResponseRecorder.Write(p)
}

// TestSlowClientsBoundPagesInMemory: pages that clients do not take are not joined by more and
// more others.
func TestSlowClientsBoundPagesInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := endlessChanges{make(chan struct{}, 2*feedPages)}
		compared := make(chan struct{})
		close(compared)
		f := newFeeds(journal, compared, NewReadMetrics(prometheus.NewRegistry()), nil, slog.New(slog.DiscardHandler))
		takes := make(chan struct{})
		get := func(w http.ResponseWriter) {
			f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/changes", nil))
		}
		for range feedPages {
			go get(slowWriter{httptest.NewRecorder(), takes})
		}
		synctest.Wait()
		if n := len(journal.read); n != feedPages {
			t.Fatalf("%d pages were read, want %d", n, feedPages)
		}
		over := httptest.NewRecorder()
		get(over)
		if n := len(journal.read); n != feedPages || over.Code != http.StatusServiceUnavailable {
			t.Errorf("one more call is answered with %d, and %d pages were read; want %d, and %d", over.Code, n, http.StatusServiceUnavailable, feedPages)
		}
		close(takes)
		synctest.Wait()
		after := httptest.NewRecorder()
		if get(after); after.Code != http.StatusOK {
			t.Errorf("then a call is answered with %d %s", after.Code, after.Body)
		}
	})
}
