package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"riskdex/internal/testkit/child"
)

const (
	// startTimeout bounds a start, generously: the machine may be slow and busy, and the samples
	// of many days have to be read.
	startTimeout = 2 * time.Minute
	pollPause    = 50 * time.Millisecond
)

// errPortLost means that another process took the port before the server did.
var errPortLost = errors.New("the port was taken meanwhile")

// Start starts a server and returns when it is ready. ctx bounds the start only. The server
// runs until Stop or until this process ends, in whatever way.
//
// If the server does not come up, the error has the last lines of its log.
func Start(ctx context.Context, o Options) (*Server, error) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		return nil, fmt.Errorf("start Prometheus: %w", ErrMissing)
	}
	home, err := filepath.Abs(o.Home)
	if err != nil {
		return nil, fmt.Errorf("find the home of Prometheus: %w", err)
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for Prometheus: %w", err)
	}
	config, err := configFor(o)
	if err != nil {
		return nil, fmt.Errorf("configure Prometheus: %w", err)
	}
	if err := os.WriteFile(configFile(home), config, 0o644); err != nil {
		return nil, fmt.Errorf("configure Prometheus: %w", err)
	}
	first := o.firstPort()
	for port := first; port < first+portsTried; port++ {
		if !free(port) {
			continue
		}
		s := &Server{home: home, port: port, target: o.Target}
		err := s.start(ctx, program, o.flags()...)
		if errors.Is(err, errPortLost) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("start Prometheus: %w", err)
		}
		return s, nil
	}
	return nil, fmt.Errorf("start Prometheus: none of the ports %d to %d is free", first, first+portsTried-1)
}

func (s *Server) start(ctx context.Context, program string, flags ...string) error {
	log, err := os.Create(s.Log())
	if err != nil {
		return fmt.Errorf("make its log: %w", err)
	}
	defer log.Close() // the child has its own descriptor
	cmd := exec.Command(program, append(flags,
		"--config.file="+configFile(s.home),
		"--storage.tsdb.path="+filepath.Join(s.home, "data"),
		"--storage.tsdb.retention.time="+retention,
		"--web.listen-address="+address(s.port),
	)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.home, log, log
	if s.process, err = child.Start(cmd); err != nil {
		return err
	}
	if err := s.awaitReady(ctx); err != nil {
		s.process.Kill()
		return err
	}
	return nil
}

// awaitReady returns when the server answers. It does not take another server, which may
// have got the port meanwhile, for this one.
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready within %v", startTimeout))
	defer cancel()
	for {
		if err := s.ready(ctx); err == nil {
			return nil
		}
		select {
		case <-s.process.Done():
			if strings.Contains(s.tail(), "address already in use") {
				return errPortLost
			}
			return s.Err()
		case <-ctx.Done():
			return fmt.Errorf("%w; its log is %s and ends:\n%s", context.Cause(ctx), s.Log(), s.tail())
		case <-time.After(pollPause):
		}
	}
}

// free reports whether nothing listens on the port.
func free(port int) bool {
	l, err := net.Listen("tcp", address(port))
	return err == nil && l.Close() == nil
}

func configFile(home string) string { return filepath.Join(home, "prometheus.yml") }

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
