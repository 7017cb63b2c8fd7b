package prometheus_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"riskdex/internal/testkit/child/childtest"
	"riskdex/internal/testkit/prometheus"
	"riskdex/internal/testkit/prometheus/prometheustest"
)

// parentRole makes this program start a server and wait to be killed.
const parentRole = "RISKDEX_PROMETHEUS_TEST_PARENT"

func TestMain(m *testing.M) {
	if home := os.Getenv(parentRole); home != "" {
		os.Exit(startAndWait(home))
	}
	os.Exit(m.Run())
}

func startAndWait(home string) int {
	s, err := prometheus.Start(context.Background(), prometheus.Options{
		Home: home, Config: "../../../dashboards/prometheus.yml", Rules: "../../../dashboards/rules.yml", Target: "127.0.0.1:1",
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(s.URL())
	<-s.Done()
	return 1
}

func TestEndsWithAParentThatIsKilled(t *testing.T) {
	prometheustest.Need(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), parentRole+"="+home)
	parent.Stderr = t.Output()
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var url string
	if _, err := fmt.Fscanln(out, &url); err != nil {
		t.Fatalf("the server did not start: %v, %v", err, parent.Wait())
	}
	if len(childtest.Processes(t, home)) == 0 {
		t.Fatal("the server's process is not found")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	await(t, func() error {
		if left := childtest.Processes(t, home); len(left) > 0 {
			return fmt.Errorf("its parent died, and it runs: %v", left)
		}
		return nil
	})
}

// end kills a process as the kernel does when memory runs out.
func end(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
