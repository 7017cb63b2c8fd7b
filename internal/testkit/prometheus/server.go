package prometheus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"riskdex/internal/testkit/child"
)

// stopTimeout is how long a stop may take before the server is killed.
const stopTimeout = 20 * time.Second

// Server is a running Prometheus. Its methods may be called from any goroutine,
// and more than once.
type Server struct {
	home    string
	port    int
	target  string
	process *child.Child
}

// URL returns the URL of the server, without a slash at the end.
func (s *Server) URL() string { return "http://" + address(s.port) }

// Log returns the path of the server's log.
func (s *Server) Log() string { return filepath.Join(s.home, "prometheus.log") }

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// Err returns why the server ended by itself, with the last lines of its log. It is nil
// while the server runs and after Stop.
func (s *Server) Err() error {
	how := s.process.Death()
	if how == nil {
		return nil
	}
	return fmt.Errorf("it ended by itself (%w); its log is %s and ends:\n%s", how, s.Log(), s.tail())
}

// Stop asks the server to end and waits until it has. If that takes longer than 20 seconds,
// Stop kills the server and returns an error.
func (s *Server) Stop() error {
	if err := s.process.Stop(stopTimeout); err != nil {
		return fmt.Errorf("stop Prometheus: %w; its log is %s", err, s.Log())
	}
	return nil
}

// tail returns the last lines of the log, without those at level info, which a stop writes and
// which would push out the reasons.
func (s *Server) tail() string {
	log, err := os.ReadFile(s.Log())
	if err != nil {
		return err.Error()
	}
	const most = 10
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(log)), "\n"), func(line string) bool {
		return strings.Contains(strings.ToLower(line), "level=info")
	})
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
