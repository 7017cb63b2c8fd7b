package main

import (
	"bytes"
	"encoding/json"
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
		if c.status == exitFailed {
			continue
		}
		var answer struct {
			Healthy bool
			Reason  string
		}
		out.Reset()
		if status := run(t.Context(), []string{"healthy", "--json", "--admin", c.at}, streams{&out, &err}); status != c.status ||
			json.Unmarshal(out.Bytes(), &answer) != nil || answer.Healthy != (status == exitDone) || !answer.Healthy && !strings.Contains(answer.Reason, c.says) {
			t.Errorf("%s, as JSON: status %d, %q", c.name, status, out.String())
		}
	}
}
