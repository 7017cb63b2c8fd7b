package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// A feed that is read from its beginning is never refused as another one: no cursor says which
// is meant.
func TestRebuildToTakesNothingOfAnotherJournalAtTheBeginning(t *testing.T) {
	t.Parallel()
	var line atomic.Value
	line.Store("one")
	begin := report.Cursor{Kinds: []report.Kind{report.Cities}}
	next := report.Cursor{Kinds: begin.Kinds, Version: 7, Began: 7, Feed: "feed"}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any = admin.Status{Line: line.Load().(string)}
		if r.URL.Path == "/api/changes" {
			answer = admin.ChangesPage{Items: []json.RawMessage{
				[]byte(`{"kind":"cities","id":"LON","version":7,"acceptedAt":"2026-11-01T00:00:00Z","record":{"id":"LON"}}`),
			}, Next: next.String()}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer served.Close()
	client, err := adminSettings{Admin: served.URL}.client(streams{})
	require.NoError(t, err)
	feed := feedOf{client, "one", &servedDocuments{}, slog.New(slog.DiscardHandler)}

	page, err := feed.Feed(t.Context(), begin, true)
	require.NoError(t, err)
	if len(page.Changes) != 1 {
		t.Fatalf("%d changes of the journal that is followed, not 1", len(page.Changes))
	}
	line.Store("another")
	if page, err = feed.Feed(t.Context(), begin, true); err == nil || len(page.Changes) > 0 {
		t.Errorf("%d changes of another journal are taken, error %v", len(page.Changes), err)
	}
}
