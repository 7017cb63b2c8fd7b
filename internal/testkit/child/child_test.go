package child_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/child"
)

// family is a script that prints a line and leaves two generations of processes running, which
// ignore every signal that can be ignored and keep the output open.
const family = `trap '' HUP INT QUIT TERM; sh -c 'sleep 1000 & echo up; wait'`

// parentRole makes this program start the family and wait to be killed.
const parentRole = "RISKDEX_CHILD_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parentRole) == "" {
		os.Exit(m.Run())
	}
	cmd := exec.Command("sh", "-c", family)
	// The output of this process, passed on: it ends when this process and all descendants have.
	cmd.Stdout = os.Stdout
	c, err := child.Start(cmd)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	<-c.Done()
}

func TestFamilyDiesWithTheParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), parentRole+"=1")
	cmd.Stderr = t.Output()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	lines := bufio.NewReader(r)
	if line, err := lines.ReadString('\n'); line != "up\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	// The pipe ends when the last descendant has ended; until then this waits.
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("got %q, %v", rest, err)
	}
}

func TestGroupIsKilled(t *testing.T) {
	c := up(t, family)
	if err := c.Err(); err != nil {
		t.Errorf("while it runs, Err is %v", err)
	}
	if err := c.SignalGroup(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	var exit *exec.ExitError
	if !errors.As(c.Err(), &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the child ended with %v", c.Err())
	}
	if err := errors.Join(c.Signal(syscall.SIGTERM), c.SignalGroup(syscall.SIGTERM)); err != nil {
		t.Errorf("a signal to an ended child returned %v", err)
	}
}

// up starts a child and waits for its first line.
func up(t *testing.T, script string) *child.Child {
	t.Helper()
	r, w := io.Pipe()
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout = w
	c, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	if line, err := bufio.NewReader(r).ReadString('\n'); line != "up\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	return c
}

// generous is longer than any child here takes to end.
const generous = time.Minute

func TestStopIsNoDeath(t *testing.T) {
	c := up(t, `trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done`)
	if err := c.Death(); err != nil {
		t.Errorf("while it runs, Death is %v", err)
	}
	if err := c.Stop(generous); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if !errors.As(c.Err(), &exit) || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v", c.Err())
	}
	if err := errors.Join(c.Stop(generous), c.Death()); err != nil {
		t.Errorf("Death after Stop is %v", err)
	}
}

func TestStopKillsWhatDoesNotEnd(t *testing.T) {
	c := up(t, family)
	if err := c.Stop(time.Millisecond); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("got %v", err)
	}
	select {
	case <-c.Done():
	default:
		t.Error("Stop returned before the child was gone")
	}
	if err := c.Death(); err != nil {
		t.Errorf("a Kill counts as a death: %v", err)
	}
}

func TestDeathIsToldAlsoAfterStop(t *testing.T) {
	for script, want := range map[string]string{"echo up": "exit status 0", "echo up; exit 7": "exit status 7"} {
		c := up(t, script)
		<-c.Done()
		for _, when := range []string{"before", "after"} {
			if err := c.Death(); err == nil || err.Error() != want {
				t.Errorf("%s Stop of %q: %v, want %s", when, script, err, want)
			}
			if err := c.Stop(generous); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestCommandIsWhatItWouldBeWithoutUs(t *testing.T) {
	command := func(out, errs io.Writer) *exec.Cmd {
		cmd := exec.Command("sh", "-c", `cat; echo "$1|$2"; ls /proc/self/fd; exit 7`, "x", "a  b", "")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("in\n"), out, errs
		return cmd
	}
	var want, got, errs bytes.Buffer
	_ = command(&want, &want).Run() // exit status 7
	c, err := child.Start(command(&got, &errs))
	if err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	var exit *exec.ExitError
	if !errors.As(c.Err(), &exit) || exit.ExitCode() != 7 {
		t.Errorf("it ended with %v", c.Err())
	}
	if got.String() != want.String() || errs.Len() > 0 {
		t.Errorf("got %q, want %q; errors %q", &got, &want, &errs)
	}
}

func TestMissingCommandIsNamed(t *testing.T) {
	if _, err := child.Start(exec.Command("no-such-command")); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("got %v", err)
	}
}
