package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"riskdex/internal/sanitize"
	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/prometheus"
)

type runCommand struct {
	Once bool `help:"Stop after the first search; exit status 0 only if it found what was pushed."`
}

// Help says which files the run leaves behind and how it is configured.
func (runCommand) Help() string {
	return `Elasticsearch is the one at ELASTICSEARCH_URL, or a container, or a local one.
The journal is .local/riskdex.db, the log .local/riskdex.log. Sourcing .local/env has another shell use all this. riskdex reads its usual variables, such as RISKDEX_LISTEN.
Prometheus runs too where it is installed, at port 9090 or the next free one, with its data in .local/prometheus.`
}

// Run brings everything up, pushes the sample feed, searches once, and stays
// until it is interrupted.
func (c runCommand) Run(ctx context.Context, s streams) (err error) {
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	r := &stack{streams: s, once: c.Once, listen: env("RISKDEX_LISTEN", "127.0.0.1:8080"), admin: env("RISKDEX_ADMIN_LISTEN", "127.0.0.1:8081")}
	defer func() {
		cancel() // from here on a signal ends this process at once, and all that it started
		stopped := r.stop()
		if err != nil && ctx.Err() != nil && !c.Once {
			err = nil // an interrupt is the usual end of a run
		}
		err = errors.Join(err, stopped)
	}()
	for _, step := range []func(context.Context) error{
		r.build, r.elasticsearch, r.serveExample, r.serve, r.startPrometheus, r.push, r.settled, r.search, r.watched,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if c.Once {
		return nil
	}
	if err := r.writeEnvironment(); err != nil {
		return err
	}
	r.tellWhatNext()
	for lost := r.lost(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-r.riskdex.Done():
			return r.died()
		case <-lost:
			r.say("no metrics over time any more: Prometheus: %v", r.watching.Err())
			lost = nil
		}
	}
}

// stack is everything that a run starts.
type stack struct {
	streams
	once          bool // the run is a check: anything that is not seen to work is an error
	binary, log   string
	journal       string
	listen, admin string
	page, origin  string // of the page that searches
	url           string // of Elasticsearch
	riskdex       *child.Child
	watching      *prometheus.Server // nil without one
	undo          []func() error
}

// stop ends what was started, in reverse order.
func (r *stack) stop() error {
	var errs []error
	for _, end := range slices.Backward(r.undo) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

func (r *stack) say(format string, args ...any) { fmt.Fprintf(r.out, format+"\n", args...) }

func (r *stack) build(ctx context.Context) error {
	local, err := elasticserver.LocalDir()
	if err != nil {
		return err
	}
	r.binary, r.log = filepath.Join(local, "riskdex"), filepath.Join(local, "riskdex.log")
	r.say("building riskdex")
	if err := r.command(ctx, "go", "build", "-o", r.binary, "./cmd/riskdex").Run(); err != nil {
		return fmt.Errorf("build riskdex: %w", err)
	}
	return r.command(ctx, r.binary, "version").Run()
}

func (r *stack) elasticsearch(ctx context.Context) error {
	url, stop, err := elasticserver.Obtain(ctx, r.out)
	if err != nil {
		return err
	}
	r.url = url
	r.undo = append(r.undo, func() error {
		if os.Getenv(elasticserver.URLVariable) == "" {
			r.say("stopping Elasticsearch")
		}
		return stop()
	})
	return nil
}

// serve starts riskdex and waits until it can accept deliveries.
func (r *stack) serve(ctx context.Context) error {
	log, err := os.Create(r.log)
	if err != nil {
		return fmt.Errorf("make a log for riskdex: %w", err)
	}
	defer log.Close() // the child has its own descriptor
	cmd := exec.Command(r.binary, "serve")
	cmd.Stdout, cmd.Stderr = log, log
	r.journal = env("RISKDEX_JOURNAL", filepath.Join(filepath.Dir(r.binary), "riskdex.db"))
	cmd.Env = append(os.Environ(), "ELASTICSEARCH_URL="+r.url, "RISKDEX_JOURNAL="+r.journal,
		"RISKDEX_SEARCH_LISTEN="+r.searches(), "RISKDEX_SEARCH_ALLOW_ORIGIN="+env("RISKDEX_SEARCH_ALLOW_ORIGIN", "*")+","+r.origin)
	if r.riskdex, err = child.Start(cmd); err != nil {
		return err
	}
	r.undo = append(r.undo, func() error {
		r.say("stopping riskdex")
		if err := r.riskdex.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		<-r.riskdex.Done()
		return nil
	})
	r.say("riskdex takes deliveries at http://%s, its log is %s", r.listen, shown(r.log))
	return r.await(ctx, "riskdex to be ready", func() bool { return r.get("/readyz") == http.StatusOK })
}

// searches is the address of the search API.
func (r *stack) searches() string { return env("RISKDEX_SEARCH_LISTEN", "127.0.0.1:8082") }

// serveExample serves the page that searches, on an origin of its own.
func (r *stack) serveExample(ctx context.Context) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:8084")
	if err != nil {
		listener, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return fmt.Errorf("serve the example of a search page: %w", err)
	}
	r.origin = "http://" + listener.Addr().String()
	r.page = "http://" + listener.Addr().String() + "/?api=http://" + r.searches()
	server := &http.Server{Handler: http.FileServer(http.Dir("examples/search-api")), ReadHeaderTimeout: time.Minute}
	r.undo = append(r.undo, server.Close)
	go func() { _ = server.Serve(listener) }() // until it is closed
	return nil
}

// writeEnvironment writes the file that has another shell find what runs here. Only its owner may
// read it, for the address may have a password.
func (r *stack) writeEnvironment() error {
	local := filepath.Dir(r.binary)
	journal := r.journal
	if !strings.Contains(journal, "://") {
		var err error
		if journal, err = filepath.Abs(journal); err != nil {
			return err
		}
	}
	var text strings.Builder
	fmt.Fprintln(&text, "# Made by make run, for the shells beside it.")
	for _, variable := range []struct{ name, value string }{
		{elasticserver.URLVariable, r.url}, {"RISKDEX_LISTEN", r.listen}, {"RISKDEX_ADMIN_LISTEN", r.admin}, {"RISKDEX_JOURNAL", journal},
	} {
		fmt.Fprintf(&text, "export %s=%s\n", variable.name, sanitize.ShellArgument(variable.value))
	}
	fmt.Fprintf(&text, "export PATH=%s:\"$PATH\"\n", sanitize.ShellArgument(local))
	if err := os.WriteFile(filepath.Join(local, "env"), []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("write the environment for other shells: %w", err)
	}
	return nil
}

func (r *stack) tellWhatNext() {
	r.say(`
Try next, in another terminal:
  have it find all   . %[1]s
  search more        riskdex search protest london
  correct a city     curl -X PUT %[2]s/cities/LON -d '{"id":126,"code":"LON","title":"London","body":"Corrected."}'
  remove it          curl -X DELETE %[2]s/cities/LON
  see the metrics    curl -s http://%[3]s/metrics | grep riskdex_
  watch it survive   curl -X POST "$ELASTICSEARCH_URL/cities/_close", deliver, then the same with _open: nothing is lost
  judge the search   http://%[3]s/search
  search as an app   %[5]s
Ctrl-C stops everything. The data stays in %[4]s.`, shown(filepath.Join(filepath.Dir(r.binary), "env")), r.receiver(), r.admin, shown(filepath.Dir(r.binary)), r.page)
}

func (r *stack) receiver() string {
	return strings.TrimRight("http://"+r.listen+"/"+strings.Trim(os.Getenv("RISKDEX_PREFIX"), "/"), "/")
}

// await waits until ok returns true. It fails if riskdex ends, or after two minutes.
func (r *stack) await(ctx context.Context, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for !ok() {
		select {
		case <-r.riskdex.Done():
			return r.died()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; the log is %s", what, ctx.Err(), r.log)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// died returns an error with the reason why riskdex ended by itself, and the end of its log.
func (r *stack) died() error {
	log, err := os.ReadFile(r.log)
	if err != nil {
		return fmt.Errorf("riskdex ended by itself, and its log cannot be read: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return fmt.Errorf("riskdex ended by itself: %w\n%s", r.riskdex.Death(), strings.Join(lines[max(0, len(lines)-10):], "\n"))
}

// command returns a command that runs in the foreground, from the root of the repository.
func (r *stack) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = r.out, r.err
	return cmd
}

// shown returns a path relative to the working directory if it lies below that.
func shown(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
