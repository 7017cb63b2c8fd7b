// Package prometheustest gives tests a real Prometheus.
package prometheustest

import (
	"testing"

	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/prometheus"
)

// Need skips the test if no Prometheus is installed. [Start] does so itself.
func Need(t testing.TB) {
	t.Helper()
	needs.Program(t, "prometheus", prometheus.ErrMissing.Error())
}

// Start starts a server for one test.
func Start(t testing.TB, o prometheus.Options) *prometheus.Server {
	t.Helper()
	Need(t)
	s, err := prometheus.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}
