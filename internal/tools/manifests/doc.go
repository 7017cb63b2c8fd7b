// Package manifests is the root of a module with the tests of files for other software:
// Kubernetes, Compose, Prometheus, Grafana, OpenTelemetry, CycloneDX. They need packages of
// that software, which the program's module must not require.
//
// No test needs a container engine, a Kubernetes cluster or Grafana. Instead:
//
//   - Compose files are read as Compose reads them, and compared with the program, what they
//     mount and the limits of each service. HAProxy's configuration and the set-up of a secured
//     Elasticsearch run here as in their images. Images are pinned by version and by the digest
//     that others have published, where that is known; none is pulled here.
//   - Of the Dockerfile, the instructions and the files that its build gets are checked.
//   - Folders for Kubernetes are built as by kubectl and decoded as strictly as by the API
//     server; settings, probes, secrets and network are compared with the program.
//   - Grafana's data sources and dashboard are decoded; every query runs in a real Prometheus
//     that scrapes riskdex.
//   - Packages are installed, upgraded and removed on a copy of this machine; what only a running
//     systemd does is checked by systemd-analyze.
//   - Programs for arm64 and macOS are built, not run. The clients in Swift and Kotlin are not
//     compiled: their text is searched for what they must send.
package manifests
