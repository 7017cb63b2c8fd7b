package elastic_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// TestOnlyElasticsearchIsBelieved: a success from another server does not count, and a
// proxy's error is reported as one.
func TestOnlyElasticsearchIsBelieved(t *testing.T) {
	status := http.StatusOK
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(other.Close)
	client, err := elastic.NewClient(elastic.Connection{URL: other.URL})
	require.NoError(t, err)
	ask := func() error {
		_, err := client.Ask(t.Context(), esapi.ClusterHealthRequest{}, elastic.Readable)
		return err
	}
	if err := ask(); !errors.Is(err, elastic.ErrNotElasticsearch) {
		t.Errorf("200: %v", err)
	}
	for _, status = range []int{http.StatusFound, http.StatusServiceUnavailable} {
		if refused, ok := errors.AsType[*elastic.ResponseError](ask()); !ok || refused.Status != status {
			t.Errorf("answer %d became %v, want a ResponseError with that status", status, refused)
		}
	}
	require.NoError(t, reaches(t, elastic.Connection{URL: elastictest.URL(t)}))
}

// TestAnswerThatBreaksOff: the outcome of the request is unknown.
func TestAnswerThatBreaksOff(t *testing.T) {
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("{"))
	}))
	t.Cleanup(half.Close)
	client, err := elastic.NewClient(elastic.Connection{URL: half.URL})
	require.NoError(t, err)
	_, err = client.Ask(t.Context(), elastic.Request{Method: "POST", Path: "/_search", Body: []byte("{}")}, elastic.Searched)
	if _, refused := errors.AsType[*elastic.ResponseError](err); err == nil || refused || !strings.Contains(err.Error(), "broke off") {
		t.Errorf("got %v", err)
	}
}
