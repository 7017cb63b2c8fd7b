package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/freeport"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/needs"
)

// devRole makes this program act as dev, for tests that send it signals.
const devRole = "RISKDEX_TEST_IS_DEV"

func TestMain(m *testing.M) {
	if os.Getenv(devRole) == "" {
		os.Exit(m.Run())
	}
	main()
}

// process is a running dev.
type process struct {
	*exec.Cmd
	lines *bufio.Reader
	t     *testing.T
}

func startDev(t *testing.T, env []string, args ...string) process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(append(os.Environ(), devRole+"=1", elasticserver.HeapVariable+"="+elasticserver.TestHeap), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if the test failed before it ended
	return process{cmd, bufio.NewReader(out), t}
}

// await reads up to the line that contains text, and returns that line.
func (p process) await(text string) string {
	p.t.Helper()
	for {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			p.t.Fatalf("no %q before the output ended: %v", text, err)
		}
		p.t.Log(strings.TrimSpace(line))
		if strings.Contains(line, text) {
			return line
		}
	}
}

// signal sends a signal to dev alone and returns its exit status.
func (p process) signal(sig syscall.Signal) (status int, rest string) {
	p.t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
	all, err := io.ReadAll(p.lines)
	if err != nil {
		p.t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.ProcessState.ExitCode(), string(all)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func answers(url string) bool {
	res, err := http.Get(url + "/_cluster/health")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// temporary returns environment variables that put a developer's server into a folder of
// the test, on a free port.
func temporary(t *testing.T) (url string, env []string) {
	t.Helper()
	home := elastictest.Home(t)
	free, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free)
	return "http://127.0.0.1:" + port, []string{elasticserver.PortVariable + "=" + port, elasticserver.HomeVariable + "=" + home}
}

func TestElasticsearchRunsUntilInterrupted(t *testing.T) {
	url, env := temporary(t)
	dev := startDev(t, env, "elasticsearch")
	dev.await("ready at " + url)
	dev.await("Ctrl-C")
	if !answers(url) {
		t.Error("the server does not answer")
	}
	if status, rest := dev.signal(syscall.SIGINT); status != 0 || !strings.HasSuffix(rest, "stopped\n") {
		t.Errorf("exit status %d after %q", status, rest)
	}
	if answers(url) {
		t.Error("the server answers after it was stopped")
	}
}

func TestElasticsearchIsInterruptedWhileItStarts(t *testing.T) {
	_, env := temporary(t)
	dev := startDev(t, env, "elasticsearch")
	dev.await("starting Elasticsearch")
	if status, rest := dev.signal(syscall.SIGTERM); status != 0 || !strings.Contains(rest, "interrupted") {
		t.Errorf("exit status %d after %q", status, rest)
	}
}

func TestElasticsearchNamesATakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	t.Setenv(elasticserver.PortVariable, port)
	t.Setenv(elasticserver.HomeVariable, t.TempDir())
	status, _, errs := runHere("elasticsearch")
	if status != 1 || !strings.Contains(errs, port) || !strings.Contains(errs, elasticserver.PortVariable) {
		t.Errorf("exit status %d, errors %q", status, errs)
	}
}

func TestWithElasticsearchHandsOnSignalsAndStatus(t *testing.T) {
	needs.FullRun(t, "Elasticsearch")
	dev := startDev(t, nil, "with-elasticsearch", "--", "sh", "-c",
		`trap 'echo told; exit 5' TERM; echo "here: $`+elasticserver.TestURLVariable+`"; while :; do sleep 0.05; done`)
	_, log, _ := strings.Cut(strings.TrimSpace(dev.await("starting Elasticsearch")), "log in ")
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(dev.await("here: "), "here: "))
	if !answers(url) {
		t.Errorf("%s does not answer", url)
	}
	if status, rest := dev.signal(syscall.SIGTERM); status != 5 || !strings.Contains(rest, "told") {
		t.Errorf("exit status %d after %q", status, rest)
	}
	if answers(url) {
		t.Error("the server answers after the command has ended")
	}
	if home := filepath.Dir(filepath.Dir(log)); exists(home) {
		t.Errorf("%s is left behind", home)
	}
}

func TestWithElasticsearchIsInterruptedWhileItStarts(t *testing.T) {
	needs.FullRun(t, "Elasticsearch")
	dev := startDev(t, nil, "with-elasticsearch", "--", "echo", "not reached")
	dev.await("starting Elasticsearch")
	if status, rest := dev.signal(syscall.SIGINT); status != 130 || strings.Contains(rest, "not reached") {
		t.Errorf("exit status %d after %q", status, rest)
	}
}

func runHere(args ...string) (status int, out, errs string) {
	var o, e logtest.Buffer // several processes may write at the same time
	status = run(context.Background(), args, streams{strings.NewReader(""), &o, &e})
	return status, o.String(), e.String()
}

func TestMistakesStartNothing(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "expected one of"},
		{[]string{"no-such-thing"}, "no-such-thing"},
		{[]string{"with-elasticsearch", "--"}, "command"},
		{[]string{"with-elasticsearch", "--", "no-such-command"}, "no-such-command"},
	} {
		status, _, errs := runHere(c.args...)
		if status == 0 || !strings.Contains(errs, c.want) || strings.Contains(errs, "starting") {
			t.Errorf("%q: exit status %d, errors %q", c.args, status, errs)
		}
	}
}

func TestHelp(t *testing.T) {
	status, out, _ := runHere("elasticsearch", "--help")
	if status != 0 || !strings.Contains(out, elasticserver.PortVariable) {
		t.Errorf("exit status %d: %s", status, out)
	}
}

func TestStatusOfACommand(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 143} {
		err := statusOf(exec.Command("sh", "-c", script).Run())
		var status exitStatus
		if errors.As(err, &status); int(status) != want {
			t.Errorf("%s: %v, want %d", script, err, want)
		}
	}
	if other := fmt.Errorf("not started"); statusOf(other) != other {
		t.Error("another error got lost")
	}
}
