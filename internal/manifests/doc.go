// Package manifests is the root of a module with the tests of files for other software:
// Kubernetes, Compose, Prometheus, Grafana, OpenTelemetry, CycloneDX. They need packages of
// that software, which the program's module must not require.
package manifests
