// Package manifests is the root of a module with tests of what is written for other
// software: Kubernetes, Compose, Prometheus, Grafana, OpenTelemetry, CycloneDX. They need
// the packages of that software, which the program's module is to stay free of.
package manifests
