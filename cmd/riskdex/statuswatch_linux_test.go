package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/require"
)

// TestStatusIsWatched pipes the watch while riskdex gets into trouble and out of it, ends,
// and comes back. The exit status is that of the last line.
func TestStatusIsWatched(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--mappings", narrowMappings(t), "--probe-every", "0")
	p.expect(exitFailed, "", words("status --watch"), "no riskdex answers")
	p.start()
	p.indicesReady()
	watch := func(texts ...string) *statusWatch {
		w := p.watch()
		for _, text := range texts {
			w.says(text)
		}
		return w
	}
	w := watch("all is well; nothing was ever delivered; pending 0, lag none, dead letters 0\n")
	p.send("PUT", "/advisories/1", `{"risk_label":"poison"}`)
	w.says("warning: Dead letters of advisories: 1. ")
	if got := w.interrupt(); got != exitWarning {
		t.Errorf("in trouble the watch ends with %d", got)
	}
	p.expect(exitDone, "", words("dead drop --all --yes"))
	w = watch("all is well")
	p.terminate()
	w.says("no riskdex answers")
	p.start()
	before := strings.Count(w.out.String(), "all is well")
	eventually(t, "it goes on", func() bool { return strings.Count(w.out.String(), "all is well") > before })
	if got := w.interrupt(); got != exitDone {
		t.Errorf("when all is well the watch ends with %d", got)
	}
	w = watch("all is well")
	p.terminate()
	w.says("no riskdex answers")
	if got := w.interrupt(); got != exitFailed {
		t.Errorf("without riskdex the watch ends with %d", got)
	}
	for line := range strings.Lines(w.out.String()) {
		if strings.Contains(line, "\x1b") || !strings.HasSuffix(line, "\n") {
			t.Errorf("no plain line: %q", line)
		}
	}
}

// statusWatch is a running riskdex status --watch.
type statusWatch struct {
	t   *testing.T
	cmd *exec.Cmd
	out *logtest.Buffer
}

func (p *process) watch() *statusWatch {
	p.t.Helper()
	w := &statusWatch{t: p.t, out: new(logtest.Buffer)}
	w.cmd = exec.CommandContext(p.t.Context(), os.Args[0], "status", "--watch", "--interval", "50ms")
	w.cmd.Env = append(os.Environ(), asRiskdex+"=1", "RISKDEX_ADMIN_URL=http://"+p.admin)
	w.cmd.Stdout, w.cmd.Stderr = w.out, p.t.Output()
	require.NoError(p.t, w.cmd.Start())
	return w
}

func (w *statusWatch) says(text string) {
	w.t.Helper()
	eventually(w.t, "it says "+text, func() bool { return strings.Contains(w.out.String(), text) })
}

func (w *statusWatch) interrupt() int {
	w.t.Helper()
	require.NoError(w.t, w.cmd.Process.Signal(os.Interrupt))
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

// TestStatusIsRedrawnInPlace draws on a real terminal: each text replaces the previous one,
// however long its lines are, and what does not fit is left out.
func TestStatusIsRedrawnInPlace(t *testing.T) {
	terminal, screen := openTerminal(t, 20, 6)
	r := redrawer{out: terminal}
	long := "\x1b[1m" + strings.Repeat("x", 45) + "\x1b[0m" // three rows
	for _, c := range []struct{ text, want string }{
		{"one\ntwo\n", "one\r\ntwo\r\n"},
		{long + "\ntwo\n", "\x1b[2A\r\x1b[J" + long + "\r\ntwo\r\n"},
		{"1\n2\n3\n4\n5\n6\n", "\x1b[4A\r\x1b[J1\r\n2\r\n3\r\n4\r\n… the terminal has no room for more\r\n"},
		{"a\n", "\x1b[5A\r\x1b[Ja\r\n"},
	} {
		require.NoError(t, r.draw(c.text))
		got := make([]byte, len(c.want))
		for n := 0; n < len(got); {
			m, err := screen.Read(got[n:])
			require.NoError(t, err)
			n += m
		}
		if string(got) != c.want {
			t.Errorf("%q is drawn as %q, want %q", c.text, got, c.want)
		}
	}
	if f := (&frame{on: terminal}); !isTerminal(f) || terminalWidth(f) != 20 {
		t.Error("a frame does not know its terminal")
	}
}

// openTerminal returns a terminal of that size, and the screen from which its output can be
// read.
func openTerminal(t *testing.T, width, height uint16) (terminal, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { screen.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { terminal.Close() })
	require.NoError(t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}))
	return terminal, screen
}
