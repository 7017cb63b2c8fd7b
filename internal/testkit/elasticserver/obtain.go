package elasticserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Obtain finds an Elasticsearch for development, and reports on log which one:
//
//  1. the one that ELASTICSEARCH_URL names;
//  2. where a container engine answers, the service elasticsearch of the
//     project's compose file;
//  3. otherwise [StartLocal].
//
// It returns when the server answers. stop ends what Obtain started, and nothing
// else; it may be called once.
func Obtain(ctx context.Context, log io.Writer) (url string, stop func() error, err error) {
	p := progress{log}
	if url := os.Getenv(URLVariable); url != "" {
		p.printf("using the Elasticsearch at %s, from %s", url, URLVariable)
		return url, func() error { return nil }, nil
	}
	if composeWorks(ctx) {
		return composeUp(ctx, p)
	}
	p.printf("no container engine answers: running a local Elasticsearch")
	s, err := StartLocal(ctx, log)
	if err != nil {
		return "", nil, err
	}
	return s.URL(), s.Stop, nil
}

// StartLocal starts the developer's server: on ELASTICSEARCH_PORT (9200), with
// its data in ELASTICSEARCH_HOME (.local/elasticsearch-data in the repository, with
// the version at its end if that is not the default).
func StartLocal(ctx context.Context, log io.Writer) (*Server, error) {
	port, err := developerPort()
	if err != nil {
		return nil, err
	}
	home := os.Getenv(HomeVariable)
	if home == "" {
		local, err := LocalDir()
		if err != nil {
			return nil, err
		}
		home = filepath.Join(local, "elasticsearch-data")
		if r, err := releaseOf(""); err == nil && r.version != DefaultVersion {
			home += "-" + r.version // which may not read the data of the other
		}
	}
	return Start(ctx, Options{Home: home, Port: port, Log: log})
}

// LocalDir returns the folder of the repository for what is made on this machine
// and not committed, and makes it if it is not there.
func LocalDir() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".local")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for local data: %w", err)
	}
	return dir, nil
}

func developerPort() (int, error) {
	text := cmp.Or(os.Getenv(PortVariable), strconv.Itoa(defaultPort))
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return 0, fmt.Errorf("%s is %q: make it a port from 1 to 65535", PortVariable, text)
	}
	return port, nil
}

// awaitURL waits until the server at url answers.
func awaitURL(ctx context.Context, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New("no answer"))
	defer cancel()
	for !healthy(ctx, url) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for Elasticsearch at %s: %w", url, context.Cause(ctx))
		case <-time.After(pollPause):
		}
	}
	return nil
}
