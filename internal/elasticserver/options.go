package elasticserver

import (
	"cmp"
	"errors"
	"io"
	"os"
)

// The environment variables that this package reads or names.
const (
	// URLVariable names an Elasticsearch to use in place of one of our own.
	URLVariable = "ELASTICSEARCH_URL"
	// PortVariable is the port of a developer's server.
	PortVariable = "ELASTICSEARCH_PORT"
	// HomeVariable is the folder in which a developer's server keeps its data.
	HomeVariable = "ELASTICSEARCH_HOME"
	// HeapVariable is the size of the JVM heap of every server started here.
	HeapVariable = "ELASTICSEARCH_HEAP"
	// TestURLVariable names the server that tests use: they create and delete
	// indices there.
	TestURLVariable = "RISKDEX_TEST_ELASTICSEARCH_URL"
)

const (
	// DefaultPort is where Elasticsearch listens everywhere.
	DefaultPort = 9200
	// DefaultHeap is enough for a developer's few thousand documents.
	DefaultHeap = "1g"
	// TestHeap is enough for tests.
	TestHeap = "512m"
)

// ErrPortTaken is in the error of [Start] when something else listens on the
// port.
var ErrPortTaken = errors.New("the port is in use")

// Options says how a server runs.
type Options struct {
	// Home holds the server's data, configuration and log. It is made if it does
	// not exist, and stays when the server stops: a later server with the same
	// Home has the data. Two servers cannot share one.
	//
	// If the server runs as another account that cannot reach Home, a folder in
	// /var/tmp stands in for it, always the same one for the same Home.
	Home string

	// Port is where the server listens, on the loopback address only; 0 means
	// any free one.
	Port int

	// Heap is the size of the JVM heap, as in "512m", unless ELASTICSEARCH_HEAP
	// names another; empty means [DefaultHeap].
	Heap string

	// FastStart halves the processor time that a start takes, by compiling less
	// thoroughly. The server is slower at its best: right for tests, wrong for
	// measurements.
	FastStart bool

	// Security, where it is not nil, turns security on. [Server.SetSecurity]
	// changes it while the server runs.
	Security *Security

	// Settings are added to elasticsearch.yml. They win over the defaults, but
	// not over ports, paths and the address.
	Settings map[string]string

	// Log receives a line for each step of the start; nil means none. It is not
	// the server's log, which is in Home.
	Log io.Writer
}

func (o Options) heap() string {
	return cmp.Or(os.Getenv(HeapVariable), o.Heap, DefaultHeap)
}
