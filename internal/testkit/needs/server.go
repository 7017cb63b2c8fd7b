package needs

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Server is a server that the tests of a package share. It starts when the first of them
// asks for it, so that tests that need no server do not wait.
type Server struct {
	Name     string // for people
	Variable string // the environment variable that names a server to use, which then is not started
	// Start starts a server. stop also removes its data.
	Start func() (url string, stop func() error, err error)

	mu      sync.Mutex
	running bool // the tests
	stop    func() error
	err     error // of Start, which is not tried again
}

// Main runs the tests of a package and returns the exit status. It stops the server
// when they have run. run is what runs the tests, such as m.Run.
func (s *Server) Main(run func() int) int {
	s.running = true
	status := run()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop == nil {
		return status
	}
	if err := s.stop(); err != nil {
		fmt.Fprintf(os.Stderr, "%s for the tests: %v\n", s.Name, err)
		return max(status, 1)
	}
	return status
}

// URL returns the address of the server. The test is skipped in a short run, and fails if
// the server does not start.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	FullRun(t, s.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	// Through the environment, processes that tests start get the address too.
	if url := os.Getenv(s.Variable); url != "" {
		return url
	}
	if !s.running {
		t.Fatalf("no %s: %s is not set, and TestMain does not run the tests by the rig's Main", s.Name, s.Variable)
	}
	if s.err != nil {
		t.Fatalf("%s for the tests: %v", s.Name, s.err)
	}
	var url string
	if url, s.stop, s.err = s.Start(); s.err != nil {
		t.Fatalf("%s for the tests: %v", s.Name, s.err)
	}
	if err := os.Setenv(s.Variable, url); err != nil {
		t.Fatal(err)
	}
	return url
}
