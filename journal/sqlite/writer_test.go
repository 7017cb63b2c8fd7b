package sqlite

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// writer is a process that writes a journal until the test ends.
type writer struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}

	mu   sync.Mutex
	acks []acknowledged
}

func startWriter(t *testing.T, path string, env ...string) *writer {
	t.Helper()
	w := &writer{cmd: exec.Command(os.Args[0], "-test.run=^TestKillChild$"), ended: make(chan struct{})}
	w.cmd.Env = append(append(os.Environ(), childEnv+"="+path, "RISKDEX_TEST_ROUND="+filepath.Base(t.TempDir())), env...)
	w.cmd.Stderr = &w.stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			var a acknowledged
			if _, err := fmt.Sscan(line, &a.id, &a.version, &a.hash); err != nil {
				continue // output of the test program itself
			}
			w.mu.Lock()
			w.acks = append(w.acks, a)
			w.mu.Unlock()
		}
	}()
	t.Cleanup(w.kill)
	return w
}

// kill ends the process. What it acknowledged is complete afterwards.
func (w *writer) kill() {
	_ = w.cmd.Process.Kill()
	<-w.ended
	_ = w.cmd.Wait()
}

func (w *writer) acknowledged() []acknowledged {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clip(w.acks)
}

func (w *writer) waitFor(t *testing.T, n int) []acknowledged {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		if acks := w.acknowledged(); len(acks) >= n {
			return acks
		}
		select {
		case <-w.ended:
			_ = w.cmd.Wait() // which ends what copies its errors
			t.Fatalf("the writer has ended too early: %s", w.stderr.String())
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("the writer acknowledges nothing")
		}
	}
}
