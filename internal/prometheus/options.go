package prometheus

import (
	"cmp"
	"errors"
	"time"
)

const (
	// DefaultPort is where Prometheus listens everywhere.
	DefaultPort = 9090
	// portsTried is how many ports are tried from the first one on.
	portsTried = 20
	// retention is how long samples are kept.
	retention = "15d"
)

// ErrMissing is in the error of [Start] when no Prometheus is installed.
var ErrMissing = errors.New("no prometheus on PATH (apt-get install prometheus, or https://prometheus.io/download)")

// Options says how a server runs.
type Options struct {
	// Home holds the server's data, configuration and log. It is made if it does
	// not exist, and stays when the server stops: a later server with the same
	// Home has the data. Two servers cannot share one.
	Home string

	// Config is the scrape configuration to start from. Of its targets only the
	// one that [Service] names is kept, and replaced by Target.
	Config string

	// Rules is the file with the rules, in place of those that Config names.
	Rules string

	// Target is the host and port of riskdex's admin listener.
	Target string

	// Others are those of further riskdexes, as instances of the same job.
	Others []string

	// Port is the first that is tried; 0 means [DefaultPort].
	Port int

	// Interval is how often the target is scraped and the rules are evaluated;
	// 0 leaves that to Config and Rules.
	Interval time.Duration

	// NativeHistograms has the server ask for protobuf and take native histograms,
	// which it may still call an experiment. It then drops their classic buckets.
	NativeHistograms bool
}

func (o Options) firstPort() int { return cmp.Or(o.Port, DefaultPort) }

func (o Options) flags() []string {
	if o.NativeHistograms {
		return []string{"--enable-feature=native-histograms"}
	}
	return nil
}
