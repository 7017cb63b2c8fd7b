package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/prometheus/prometheustest"
)

// aStack returns a stack in a folder of the test, with the repository's dashboards and
// something that has metrics in place of riskdex.
func aStack(t *testing.T, once bool) (r *stack, said *bytes.Buffer) {
	t.Helper()
	dashboards, err := filepath.Abs("../../../dashboards")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Symlink(dashboards, filepath.Join(root, "dashboards")); err != nil {
		t.Fatal(err)
	}
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte("riskdex_elasticsearch_up 1\n"))
	}))
	t.Cleanup(metrics.Close)
	running, err := child.Start(exec.Command("sleep", "600"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Kill)
	said = &bytes.Buffer{}
	r = &stack{
		streams: streams{strings.NewReader(""), said, said}, once: once, riskdex: running,
		binary: filepath.Join(root, ".local", "riskdex"), admin: metrics.Listener.Addr().String(),
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r, said
}

func TestRunWatchesWithPrometheus(t *testing.T) {
	prometheustest.Need(t)
	r, said := aStack(t, true)
	if err := r.startPrometheus(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.watching == nil {
		t.Fatalf("no Prometheus was started: %s", said)
	}
	if err := r.watched(t.Context()); err != nil {
		t.Fatal(err)
	}
	url := r.watching.URL()
	if !strings.Contains(said.String(), url) || !regexp.MustCompile(`its [1-9]\d* rules`).MatchString(said.String()) {
		t.Errorf("the output is %s", said)
	}
	select {
	case <-r.lost():
		t.Error("Prometheus has ended already")
	default:
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	<-r.lost()
	r.undo = nil
	if _, err := http.Get(url); err == nil {
		t.Error("Prometheus answers after everything was stopped")
	}
}

func TestRunGoesOnWithoutPrometheus(t *testing.T) {
	for name, once := range map[string]bool{"run": false, "check": true} {
		t.Run(name, func(t *testing.T) {
			r, said := aStack(t, once)
			t.Setenv("PATH", t.TempDir())
			if err := r.startPrometheus(t.Context()); err != nil {
				t.Error(err)
			}
			if err := r.watched(t.Context()); err != nil {
				t.Error(err)
			}
			if r.lost() != nil {
				t.Error("the run waits for a Prometheus that was not started")
			}
			if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "apt-get install") {
				t.Errorf("the output is %q", text)
			}
		})
	}
}

// A Prometheus that does not start is reported, and fails only a run that is a check.
func TestRunWithAPrometheusThatDoesNotStart(t *testing.T) {
	for name, once := range map[string]bool{"run": false, "check": true} {
		t.Run(name, func(t *testing.T) {
			r, said := aStack(t, once)
			bin := t.TempDir()
			if err := os.WriteFile(filepath.Join(bin, "prometheus"), []byte("#!/bin/sh\necho no disk\nexit 3\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			err := r.startPrometheus(t.Context())
			if once && (err == nil || !strings.Contains(err.Error(), "no disk")) {
				t.Errorf("a check without Prometheus returned %v, want an error", err)
			}
			if !once && (err != nil || !strings.Contains(said.String(), "no disk")) {
				t.Errorf("the run returned %v, and its output is %q", err, said)
			}
		})
	}
}
