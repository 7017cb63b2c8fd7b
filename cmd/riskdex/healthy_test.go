package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
)

// TestHealthy asks an admin listener that is ready, one that is not, and an address without
// one.
func TestHealthy(t *testing.T) {
	var trouble error
	server := httptest.NewServer(admin.New(admin.Parts{
		Health: admin.Health{
			CanAccept:       func() error { return trouble },
			ElasticsearchUp: func() bool { return false },
		},
		Metrics: prometheus.NewRegistry(),
	}))
	defer server.Close()
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	for _, c := range []struct {
		name, at string
		trouble  error
		status   int
		says     string
	}{
		{"ready", server.URL, nil, exitDone, "healthy"},
		{"not ready", server.URL, errNegative, exitNegative, errNegative.Error()},
		{"nobody", nobody.URL, nil, exitNegative, "no riskdex answers at"},
		{"no address", "://", nil, exitFailed, "--admin"},
	} {
		trouble = c.trouble
		var out, err bytes.Buffer
		status := run(t.Context(), []string{"healthy", "--admin", c.at}, streams{&out, &err})
		if status != c.status || !strings.Contains(out.String()+err.String(), c.says) {
			t.Errorf("%s: status %d, %q, %q", c.name, status, out.String(), err.String())
		}
	}
}
