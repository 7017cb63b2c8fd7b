package main

import "github.com/prometheus/client_golang/prometheus"

// buildInfo is the name of the metric that says which build is running.
const buildInfo = "riskdex_build_info"

// registerBuild exposes what the program was built from, so that a change of behaviour can
// be compared with a change of version.
func registerBuild(reg prometheus.Registerer, b build) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: buildInfo,
		Help: "What this riskdex was built from; always 1.",
		ConstLabels: prometheus.Labels{
			"version": b.Version, "revision": b.Commit, "goversion": b.Go,
		},
	})
	g.Set(1)
	reg.MustRegister(g)
}
