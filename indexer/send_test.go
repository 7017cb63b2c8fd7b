package indexer

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"riskdex/report"
)

// TestSuspectThatWasNotSentIsNotJudged: the one before it spoilt its bulk, and is
// refused, since another was taken. That says nothing of those behind it.
func TestSuspectThatWasNotSentIsNotJudged(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.Header().Set("Content-Type", "application/json")
		if bytes.Contains(body, []byte("venom")) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, id, _ := strings.Cut(string(body), `"_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		fmt.Fprintf(w, `{"items":[{"index":{"_id":%q,"status":201}}]}`, id)
	}))
	defer server.Close()
	x := new(looking).indexer(t)
	var err error
	if x.client, err = NewClient(Connection{URL: server.URL}); err != nil {
		t.Fatal(err)
	}
	var batch []prepared
	for _, id := range []string{"harmless", "venom", "behind"} {
		key := report.Key{Kind: report.Cities, ID: report.ID(id)}
		if id != "harmless" {
			x.patience.suspect(key)
		}
		batch = append(batch, prepared{
			change: report.Change{Key: key, Op: report.Index, Version: 1},
			lines:  fmt.Appendf(nil, `{"index":{"_id":%q}}`+"\n{}\n", id),
		})
	}
	got, _ := x.sendApart(t.Context(), report.Cities, destination{name: "cities"}, batch)
	if got[0].verdict != settled || got[1].verdict != dead || got[2].verdict != retry {
		t.Errorf("%v, %v, %v", got[0].verdict, got[1].verdict, got[2].verdict)
	}
}
