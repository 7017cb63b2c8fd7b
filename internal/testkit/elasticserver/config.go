package elasticserver

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// firstPort is the first port that servers without a given port try. It is below the
// range for outgoing connections, so that a client that keeps trying to reach a stopped
// server is not assigned its port.
const (
	firstPort = 20000
	lastPort  = 29999
)

// fastCompiler makes a JVM use its quick compiler only.
const fastCompiler = "-XX:TieredStopAtLevel=1"

// home is the folder of one server, with everything that servers must not share.
type home struct{ dir string }

func (h home) data() string      { return filepath.Join(h.dir, "data") }
func (h home) config() string    { return filepath.Join(h.dir, "config") }
func (h home) logs() string      { return filepath.Join(h.dir, "logs") }
func (h home) tmp() string       { return filepath.Join(h.dir, "tmp") }
func (h home) console() string   { return filepath.Join(h.logs(), "console.log") }
func (h home) portsFile() string { return filepath.Join(h.logs(), "http.ports") }

// set creates the folders and the configuration of a server.
func (h home) set(o Options) error {
	files := map[string][]byte{
		"elasticsearch.yml": h.serverConfig(o),
		"jvm.options":       h.jvmConfig(o.heap(), o.FastStart),
		"log4j2.properties": []byte(logConfig),
	}
	// What an earlier server left behind, such as its port, must not count.
	if err := errors.Join(os.RemoveAll(h.portsFile()), os.RemoveAll(h.tmp())); err != nil {
		return fmt.Errorf("prepare the home of Elasticsearch: %w", err)
	}
	for _, dir := range []string{h.data(), h.config(), h.logs(), h.tmp()} {
		if err := makeFolder(dir); err != nil {
			return fmt.Errorf("prepare the home of Elasticsearch: %w", err)
		}
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(h.config(), name), content); err != nil {
			return fmt.Errorf("configure Elasticsearch: %w", err)
		}
	}
	if o.Security != nil {
		return h.setSecurity(*o.Security)
	}
	return nil
}

func (h home) jvmConfig(heap string, fastStart bool) []byte {
	options := []string{
		"-Xms" + heap,
		"-Xmx" + heap,
		"-XX:+ExitOnOutOfMemoryError",
		"-XX:-UseDynamicNumberOfCompilerThreads", // the CPU of a compiler that ends could not be told from the rest
		"-XX:ErrorFile=" + filepath.Join(h.logs(), "jvm-error.log"),
		"-Djava.io.tmpdir=" + h.tmp(),
	}
	if fastStart {
		// The code of a release need not be verified whenever it is loaded.
		options = append(options, "-XX:+UseSerialGC", fastCompiler, "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
	} else {
		options = append(options, "-XX:+UseG1GC")
	}
	return []byte(strings.Join(options, "\n") + "\n")
}

// serverConfig returns elasticsearch.yml for a server that listens on the port, or on any
// port of a range if it is 0. Settings override the defaults, but not where the server
// listens and keeps its data.
func (h home) serverConfig(o Options) []byte {
	all := map[string]string{
		"discovery.type":         "single-node",
		"xpack.security.enabled": strconv.FormatBool(o.Security != nil),
		// the interval at which files, such as those with users and roles, are checked
		"resource.reload.interval.high": "200ms",
		// A developer's nearly full disk must not block writes. The server then takes away
		// such a block, also one that a test sets, whenever it looks at the disks: every 30
		// seconds unless told.
		"cluster.routing.allocation.disk.threshold_enabled": "false",
		"cluster.info.update.interval":                      "1d",
	}
	maps.Copy(all, o.Settings)
	maps.Copy(all, map[string]string{
		"network.host":   "127.0.0.1",
		"http.port":      portSetting(o.Port),
		"transport.port": "0",
		"node.portsfile": "true",
		"path.data":      h.data(),
		"path.logs":      h.logs(),
	})
	var yml bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&yml, "%s: %s\n", name, strconv.Quote(all[name]))
	}
	return yml.Bytes()
}

// portSetting lets the server itself take the first free port of a range, so that nobody
// can take it between a choice by us and its start. Each server's range begins elsewhere,
// so that none takes the port of another that is about to start again.
func portSetting(port int) string {
	if port == 0 {
		return fmt.Sprintf("%d-%d", firstPort+rand.IntN((lastPort-firstPort)/2), lastPort)
	}
	return strconv.Itoa(port)
}

// logConfig sends everything to the console, whose output we keep in a file.
const logConfig = `status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] [%node_name]%marker %m%consoleException%n
appender.header_warning.type = HeaderWarningAppender
appender.header_warning.name = header_warning
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
logger.deprecation.name = org.elasticsearch.deprecation
logger.deprecation.level = warn
logger.deprecation.appenderRef.header_warning.ref = header_warning
`
