package elasticserver_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
)

// fakeDocker puts a docker first on PATH that records its arguments.
func fakeDocker(t *testing.T, text string) (calls func() string) {
	t.Helper()
	bin := t.TempDir()
	file := filepath.Join(bin, "calls")
	program := "#!/bin/sh\necho \"$@\" >> " + file + "\n" + text
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return func() string {
		all, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
}

func TestObtainTakesTheServerOfTheEnvironment(t *testing.T) {
	t.Setenv(elasticserver.URLVariable, "http://search.example:9200")
	t.Setenv("PATH", t.TempDir()) // nothing to start another server with
	var log bytes.Buffer
	url, stop, err := elasticserver.Obtain(t.Context(), &log)
	if err != nil {
		t.Fatal(err)
	}
	if url != "http://search.example:9200" || !strings.Contains(log.String(), elasticserver.URLVariable) {
		t.Errorf("got %s; log %s", url, &log)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// The container that the fake engine starts is the server of these tests.
func TestObtainUsesTheComposeService(t *testing.T) {
	server := elastictest.URL(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(server, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, running, want string }{
		{"it starts and stops it", "", "compose up --detach elasticsearch\ncompose stop elasticsearch\n"},
		{"it leaves alone what runs", "echo 4711", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(elasticserver.URLVariable, "")
			t.Setenv(elasticserver.PortVariable, port)
			calls := fakeDocker(t, `case "$2" in ps) `+c.running+`;; esac`)
			url, stop, err := elasticserver.Obtain(t.Context(), t.Output())
			if err != nil {
				t.Fatal(err)
			}
			if url != "http://127.0.0.1:"+port {
				t.Errorf("got %s", url)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			want := "info\ncompose version\ncompose ps --quiet --status running elasticsearch\n" + c.want
			if calls() != want {
				t.Errorf("called\n%swant\n%s", calls(), want)
			}
		})
	}
}

func TestObtainShowsWhatComposeSays(t *testing.T) {
	t.Setenv(elasticserver.URLVariable, "")
	fakeDocker(t, `case "$2" in up) echo no space left >&2; exit 1;; esac`)
	if _, _, err := elasticserver.Obtain(t.Context(), t.Output()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

// An engine without compose, or a client without an engine, counts as none.
func TestObtainStartsALocalServerWithoutAnEngine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	t.Setenv(elasticserver.URLVariable, "")
	t.Setenv(elasticserver.PortVariable, fmt.Sprint(port))
	t.Setenv(elasticserver.HomeVariable, elastictest.Home(t))
	t.Setenv(elasticserver.HeapVariable, elasticserver.TestHeap)
	fakeDocker(t, `[ "$1" != compose ]`)

	if _, _, err := elasticserver.Obtain(t.Context(), t.Output()); err == nil || !strings.Contains(err.Error(), elasticserver.PortVariable) {
		t.Errorf("while the port is taken: %v", err)
	}
	l.Close()
	url, stop, err := elasticserver.Obtain(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if url != fmt.Sprintf("http://127.0.0.1:%d", port) {
		t.Errorf("got %s", url)
	}
	res, err := http.Get(url + "/_cluster/health")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if res, err := http.Get(url); err == nil {
		res.Body.Close()
		t.Error("the server answers after stop")
	}
}
