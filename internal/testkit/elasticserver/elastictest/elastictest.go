// Package elastictest gives tests a real Elasticsearch.
//
// A package whose tests need one has
//
//	func TestMain(m *testing.M) { os.Exit(elastictest.Main(m)) }
//
// and its tests call [URL] and [Prefix]. Without a server the tests fail: only a
// short run skips them.
package elastictest

import (
	"context"
	"errors"
	"testing"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/needs"
)

var server = needs.Server{Name: "Elasticsearch", Variable: elasticserver.TestURLVariable, Start: start}

// Main runs the tests of a package and returns the exit status. It stops the server
// that [URL] has started when the tests have run.
func Main(m *testing.M) int { return server.Main(m.Run) }

// start starts a server with a home of its own.
func start() (url string, stop func() error, err error) {
	home, remove, err := elasticserver.TempHome()
	if err != nil {
		return "", nil, err
	}
	s, err := elasticserver.Start(context.Background(), elasticserver.Options{Home: home, Heap: elasticserver.TestHeap, FastStart: true})
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return s.URL(), func() error { return errors.Join(s.Stop(), remove()) }, nil
}

// URL returns the address of the server that the tests share: that of
// RISKDEX_TEST_ELASTICSEARCH_URL, or one that starts when the first test asks. Other
// tests use it at the same time: create nothing without a name from [Prefix], and change
// no setting of the cluster.
func URL(t testing.TB) string {
	t.Helper()
	return server.URL(t)
}

// Home makes a folder for the data of a server that a test starts itself. It is removed
// when the test ends, so stop the server in a later Cleanup.
func Home(t testing.TB) string {
	t.Helper()
	needs.FullRun(t, "Elasticsearch")
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

// Start starts a server for one test, which may stop it, kill it and start it again, and
// stops it when the test ends. The server starts fast. If o has no Home or Heap, those of
// a test are used.
func Start(t testing.TB, o elasticserver.Options) *elasticserver.Server {
	t.Helper()
	needs.FullRun(t, "Elasticsearch")
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
