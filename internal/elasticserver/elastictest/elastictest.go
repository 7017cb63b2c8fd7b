// Package elastictest gives tests a real Elasticsearch.
//
// A package whose tests need one has
//
//	func TestMain(m *testing.M) { os.Exit(elastictest.Main(m)) }
//
// and its tests call [URL] and [Prefix]. Without a server the tests fail: they
// are never skipped.
package elastictest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"riskdex/internal/elasticserver"
)

// Main runs the tests of a package with an Elasticsearch and returns the exit
// status. It uses the server that RISKDEX_TEST_ELASTICSEARCH_URL names, or else
// starts one for the package, and stops it when the tests have run.
func Main(m *testing.M) int {
	if os.Getenv(elasticserver.TestURLVariable) != "" {
		return m.Run()
	}
	status := 1
	err := withServer(func(url string) error {
		// The environment carries the address to the tests, and to the processes
		// that they start.
		if err := os.Setenv(elasticserver.TestURLVariable, url); err != nil {
			return err
		}
		status = m.Run()
		return os.Unsetenv(elasticserver.TestURLVariable)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "Elasticsearch for the tests:", err)
		return max(status, 1)
	}
	return status
}

// withServer calls use while a server with a home of its own runs.
func withServer(use func(url string) error) (err error) {
	home, remove, err := elasticserver.TempHome()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	server, err := elasticserver.Start(context.Background(), elasticserver.Options{Home: home, Heap: elasticserver.TestHeap, FastStart: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return use(server.URL())
}

// URL is the address of the server that [Main] provides. Other tests use it at
// the same time: create nothing without a name from [Prefix], and change no
// setting of the cluster.
func URL(t testing.TB) string {
	t.Helper()
	url := os.Getenv(elasticserver.TestURLVariable)
	if url == "" {
		t.Fatalf("no Elasticsearch: %s is not set, and TestMain does not call elastictest.Main", elasticserver.TestURLVariable)
	}
	return url
}

// Home makes a folder for the data of a server that a test starts itself. It is
// removed when the test ends, so stop the server in a later Cleanup.
func Home(t testing.TB) string {
	t.Helper()
	home, remove, err := elasticserver.TempHome()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return home
}

// Start starts a server for one test, to be stopped, killed and started again at
// will, and stops it when the test ends. It starts
// fast, and where o has no Home or Heap, they are those of a test.
func Start(t testing.TB, o elasticserver.Options) *elasticserver.Server {
	t.Helper()
	if o.Home == "" {
		o.Home = Home(t)
	}
	if o.Heap == "" {
		o.Heap = elasticserver.TestHeap
	}
	o.FastStart = true
	server, err := elasticserver.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}
