package elasticserver

import (
	"cmp"
	"errors"
	"io"
	"os"
)

// The environment variables that this package reads or names.
const (
	// URLVariable names a running Elasticsearch to use.
	URLVariable = "ELASTICSEARCH_URL"
	// PortVariable is the port of a developer's server.
	PortVariable = "ELASTICSEARCH_PORT"
	// HomeVariable is the folder in which a developer's server keeps its data.
	HomeVariable = "ELASTICSEARCH_HOME"
	// VersionVariable is the version of every server started here.
	VersionVariable = "ELASTICSEARCH_VERSION"
	// HeapVariable is the size of the JVM heap of every server started here.
	HeapVariable = "ELASTICSEARCH_HEAP"
	// TestURLVariable names the server that tests use, where they create and delete
	// indices.
	TestURLVariable = "RISKDEX_TEST_ELASTICSEARCH_URL"
)

const (
	// defaultPort is the usual port of Elasticsearch.
	defaultPort = 9200
	// DefaultHeap is enough for a developer's few thousand documents.
	DefaultHeap = "1g"
	// TestHeap is enough for tests.
	TestHeap = "1g"
)

// ErrPortTaken is wrapped by the error of [Start] if something else listens on the port.
var ErrPortTaken = errors.New("the port is in use")

// Options configure a server.
type Options struct {
	// Home is the folder for the server's data, configuration and log. It is created if
	// it does not exist, and kept when the server stops, so that a later server with the
	// same Home has the data. Two servers must not share one.
	//
	// If the server runs as another account that cannot reach Home, it uses a folder in
	// /var/tmp instead, always the same one for the same Home.
	Home string

	// Version is [DefaultVersion] or [NextVersion]; "" means that of the variable
	// ELASTICSEARCH_VERSION, or else the default.
	Version string

	// Port is the port of the loopback address on which the server listens; 0 means any
	// free one.
	Port int

	// Heap is the size of the JVM heap, as in "512m"; "" means [DefaultHeap]. The
	// variable ELASTICSEARCH_HEAP overrides it.
	Heap string

	// FastStart halves the CPU time of a start, by compiling less thoroughly. The server
	// stays slower than it could be, which is right for tests and wrong for measurements.
	FastStart bool

	// Security, if not nil, turns security on. [Server.SetSecurity] changes it while the
	// server runs.
	Security *Security

	// Settings are added to elasticsearch.yml. They override the defaults, but not ports,
	// paths and the address.
	Settings map[string]string

	// Log receives a line for each step of the start; nil means none. It is not the
	// server's log, which is in Home.
	Log io.Writer
}

func (o Options) heap() string {
	return cmp.Or(os.Getenv(HeapVariable), o.Heap, DefaultHeap)
}
