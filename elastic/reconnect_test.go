package elastic_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"riskdex/elastic"
	"riskdex/internal/testkit/networktest"
	"riskdex/internal/testkit/require"
)

// TestNewConnectionsFollowTheAddress: a client keeps its connections, also when the address leads
// elsewhere by then. Those that it opens anew show that, and after Reconnect it uses no earlier one.
func TestNewConnectionsFollowTheAddress(t *testing.T) {
	t.Parallel()
	server := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
			_, _ = w.Write([]byte(`"` + name + `"`))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	first, second := server("first"), server("second")
	balancer, through := networktest.New(t, first)
	client, err := elastic.NewClient(elastic.Connection{URL: through})
	require.NoError(t, err)
	answers := func(c *elastic.Client, want string) {
		t.Helper()
		body, err := c.Ask(t.Context(), elastic.Request{Method: "GET", Path: "/"}, elastic.Readable)
		require.NoError(t, err)
		if string(body) != `"`+want+`"` {
			t.Errorf("%s answers, want %s", body, want)
		}
	}
	answers(client, "first")
	balancer.LeadTo(second, first)
	answers(client.Anew(), "second")
	answers(client, "first")
	answers(client.Anew(), "first")
	answers(client.Anew(), "second")
	balancer.LeadTo(second)
	answers(client, "first")
	client.Reconnect()
	answers(client, "second")
}
