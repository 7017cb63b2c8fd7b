package elasticserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// startTimeout bounds a start, generously for slow, busy machines.
	startTimeout = 3 * time.Minute
	// recoveryTimeout bounds how long an answering server may take to open its existing
	// indices. If it cannot open them all, it counts as started all the same.
	recoveryTimeout = "10s"
	pollPause       = 50 * time.Millisecond
)

// awaitReady returns the server's port once it answers.
func (s *Server) awaitReady(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("no answer within %v", startTimeout))
	defer cancel()
	for {
		port, err := s.listeningPort()
		if err != nil {
			return 0, err
		}
		if port != 0 && healthy(ctx, "http://"+address(port)) {
			return port, nil
		}
		select {
		case <-s.process.Done():
			return 0, s.Err()
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for Elasticsearch: %w; its log is %s and ends:\n%s", context.Cause(ctx), s.home.console(), s.output.tail())
		case <-time.After(pollPause):
		}
	}
}

// listeningPort reads the file that the server writes when it listens. It returns 0 until
// then.
func (s *Server) listeningPort() (int, error) {
	content, err := os.ReadFile(s.home.portsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find the port of Elasticsearch: %w", err)
	}
	line, _, complete := strings.Cut(string(content), "\n")
	if !complete {
		return 0, nil
	}
	_, number, err := net.SplitHostPort(line)
	if err != nil {
		return 0, fmt.Errorf("find the port of Elasticsearch in %s: %w", s.home.portsFile(), err)
	}
	port, err := strconv.Atoi(number)
	if err != nil {
		return 0, fmt.Errorf("find the port of Elasticsearch in %s: %w", s.home.portsFile(), err)
	}
	return port, nil
}

// healthy reports whether the server at url answers and has opened its indices, or has
// tried for long enough. A server that asks for credentials is up as well.
func healthy(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/_cluster/health?wait_for_status=yellow&timeout="+recoveryTimeout, nil)
	if err != nil {
		return false
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return false
	}
	switch res.StatusCode {
	case http.StatusOK, http.StatusRequestTimeout, http.StatusUnauthorized, http.StatusForbidden:
		return true
	default:
		return false
	}
}
