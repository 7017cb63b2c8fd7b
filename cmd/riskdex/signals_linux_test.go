package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// TestSignalsOfServe: SIGHUP rereads and says so; other signals that services get end nothing, and
// neither do a hang-up and a second SIGTERM while riskdex stops.
func TestSignalsOfServe(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens")
	write := func(text string) { require.NoError(t, os.WriteFile(tokens, []byte(text), 0o600)) }
	write(strings.Repeat("a", 16))
	p := newProcess(t, elastictest.URL(t), "--bearer-file", tokens)
	p.launch()
	eventually(t, "riskdex serves", func() bool { return strings.Contains(p.log.String(), "riskdex serves") })
	eventually(t, "it is ready", func() bool { return p.readiness() == http.StatusOK })
	hangUp := func(says string) {
		t.Helper()
		require.NoError(t, p.cmd.Process.Signal(unix.SIGHUP))
		eventually(t, says, func() bool {
			return strings.Contains(p.log.String(), `msg="SIGHUP: secrets and certificates were reread" `+says)
		})
	}
	hangUp(`unchanged="bearer tokens"`)
	write(strings.Repeat("b", 16))
	hangUp(`changed="bearer tokens"`)
	write("")
	hangUp(`failed="bearer tokens"`)
	write(strings.Repeat("b", 16))
	for _, other := range []unix.Signal{unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM, unix.SIGWINCH, unix.SIGTSTP, unix.SIGCONT} {
		require.NoError(t, p.cmd.Process.Signal(other))
	}
	eventually(t, "it is ready after all of them", func() bool { return p.readiness() == http.StatusOK })
	require.NoError(t, p.cmd.Process.Signal(unix.SIGTERM))
	require.NoError(t, p.cmd.Process.Signal(unix.SIGHUP))
	p.mustEnd(exitDone)
}

// TestHangupEndsCommands: a terminal that is closed ends a command as Ctrl-C does.
func TestHangupEndsCommands(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	for i := range 3 {
		p.send("PUT", fmt.Sprint("/cities/", i), `{"title":"x"}`)
	}
	following := p.begin("changes", "--follow")
	eventually(t, "it follows", func() bool { return strings.Count(following.out.String(), "\n") >= 3 })
	require.NoError(t, following.cmd.Process.Signal(unix.SIGHUP))
	if got := following.wait(); got.status != exitDone {
		t.Errorf("exit status %d; said %q", got.status, got.errs)
	}
}

// TestUnitOfThePackage: systemd sends the signal that rereads, and starts riskdex again also where
// it takes the end for a clean one.
func TestUnitOfThePackage(t *testing.T) {
	unit, err := os.ReadFile("../../deploy/packages/riskdex.service")
	require.NoError(t, err)
	for _, line := range []string{"ExecReload=/bin/kill -HUP $MAINPID", "Restart=always"} {
		if !strings.Contains(string(unit), "\n"+line+"\n") {
			t.Errorf("the unit lacks %s", line)
		}
	}
}
