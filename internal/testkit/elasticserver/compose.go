package elasticserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

const (
	// engineTimeout bounds the check for a container engine.
	engineTimeout  = 5 * time.Second
	composeService = "elasticsearch"
)

// composeWorks reports whether a container engine and its compose command answer.
func composeWorks(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	for _, args := range [][]string{{"info"}, {"compose", "version"}} {
		if exec.CommandContext(ctx, "docker", args...).Run() != nil {
			return false
		}
	}
	return true
}

// composeUp starts the Elasticsearch of the compose file. The stop that it returns does
// not stop a container that was running before.
func composeUp(ctx context.Context, log progress) (url string, stop func() error, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", nil, err
	}
	port, err := developerPort()
	if err != nil {
		return "", nil, err
	}
	compose := func(ctx context.Context, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "docker", append([]string{"compose"}, args...)...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				err = fmt.Errorf("%w\n%s", err, bytes.TrimSpace(exit.Stderr))
			}
			return nil, fmt.Errorf("docker compose %v: %w", args, err)
		}
		return bytes.TrimSpace(out), nil
	}

	running, err := compose(ctx, "ps", "--quiet", "--status", "running", composeService)
	if err != nil {
		return "", nil, err
	}
	stop = func() error { return nil }
	if len(running) == 0 {
		log.printf("starting the container %s", composeService)
		stop = func() error {
			_, err := compose(context.Background(), "stop", composeService)
			return err
		}
		if _, err := compose(ctx, "up", "--detach", composeService); err != nil {
			return "", nil, err
		}
	}
	url = "http://" + address(port)
	if err := awaitURL(ctx, url, startTimeout); err != nil {
		return "", nil, errors.Join(err, stop())
	}
	log.printf("using the container %s at %s", composeService, url)
	return url, stop, nil
}
