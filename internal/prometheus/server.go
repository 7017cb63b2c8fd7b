package prometheus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"riskdex/internal/elastic/child"
)

// stopPatience is how long a stop may take before the server is killed.
const stopPatience = 20 * time.Second

// Server is a running Prometheus. Its methods may be called from any goroutine,
// and more than once.
type Server struct {
	home    string
	port    int
	target  string
	process *child.Child

	mu      sync.Mutex
	stopped bool // we ended it, so its end is no failure
}

// URL is where the server answers, without a slash at the end.
func (s *Server) URL() string { return "http://" + address(s.port) }

// Log is the file that the server writes its log to.
func (s *Server) Log() string { return filepath.Join(s.home, "prometheus.log") }

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// Err tells why the server ended by itself, with the last lines of its log. It
// is nil while it runs and after Stop.
func (s *Server) Err() error {
	select {
	case <-s.process.Done():
	default:
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	return s.death()
}

// Stop asks the server to end and waits until it has. One that takes longer than
// 20 seconds is killed, and that is an error.
func (s *Server) Stop() error {
	s.mu.Lock()
	select {
	case <-s.process.Done():
	default:
		s.stopped = true
	}
	s.mu.Unlock()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop Prometheus: %w", err)
	}
	select {
	case <-s.process.Done():
		return nil
	case <-time.After(stopPatience):
		s.kill()
		return fmt.Errorf("stop Prometheus: it did not end within %v and was killed; its log is %s", stopPatience, s.Log())
	}
}

func (s *Server) kill() {
	// The error would be that there is nothing to kill.
	_ = s.process.SignalGroup(syscall.SIGKILL)
	<-s.process.Done()
}

// death describes the end of a server that we did not end.
func (s *Server) death() error {
	how := s.process.Err()
	if how == nil {
		how = errors.New("exit status 0")
	}
	return fmt.Errorf("it ended by itself (%w); its log is %s and ends:\n%s", how, s.Log(), s.tail())
}

// tail returns the last lines of the log, without those of a stop, which would
// leave no room for the reasons.
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
