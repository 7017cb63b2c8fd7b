// Package prometheus runs the Prometheus that is installed on this machine, for
// development and tests, with the scrape configuration and the rules that the
// repository has for containers.
//
// It listens on the loopback address only, on the first free port from [Options.Port] on,
// so that several can run side by side. It does not outlive the process that started it.
package prometheus
