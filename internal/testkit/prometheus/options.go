package prometheus

import (
	"cmp"
	"errors"
	"time"
)

const (
	// defaultPort is the port of Prometheus by default.
	defaultPort = 9090
	// portsTried is how many ports are tried, from the first one on.
	portsTried = 20
	// retention is how long samples are kept.
	retention = "15d"
)

// ErrMissing is wrapped by the error of [Start] if no Prometheus is installed.
var ErrMissing = errors.New("no prometheus on PATH (apt-get install prometheus, or https://prometheus.io/download)")

// Options says how a server runs.
type Options struct {
	// Home is the folder for the server's data, configuration and log. It is created if it does
	// not exist, and kept when the server stops, so that a later server with the same Home has
	// the data. Two servers must not use it at the same time.
	Home string

	// Config is the scrape configuration to start from. Its target with the host riskdex is
	// replaced by Target, and all others are removed.
	Config string

	// Rules is the file with the rules, in place of those that Config names.
	Rules string

	// Target is the host and port of riskdex's admin listener.
	Target string

	// Others are the admin listeners of further riskdexes, as instances of the same job.
	Others []string

	// Port is the first port that is tried; 0 means 9090.
	Port int

	// Interval is the time between scrapes of the target and between evaluations of the rules; 0
	// leaves both to Config and Rules.
	Interval time.Duration

	// NativeHistograms makes the server ask for protobuf and store native histograms, which may
	// still be an experimental feature. It then drops their classic buckets.
	NativeHistograms bool
}

func (o Options) firstPort() int { return cmp.Or(o.Port, defaultPort) }

func (o Options) flags() []string {
	if o.NativeHistograms {
		return []string{"--enable-feature=native-histograms"}
	}
	return nil
}
