package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/networktest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestUnreadLogHoldsUpNothing: whoever reads the log stops, while the pipe to it is small and soon
// full. Deliveries are answered, indexing resumes after an absence of Elasticsearch, and status
// tells of the log. Once it is read again, it says how much was dropped. Then it is not read at
// the end either.
func TestUnreadLogHoldsUpNothing(t *testing.T) {
	t.Parallel()
	network, through := networktest.New(t, elastictest.URL(t))
	p := newProcess(t, through)
	read := p.logsToAPipe()
	p.sender.Timeout = answers
	p.start()
	p.send("PUT", "/cities/before", `{"title":"x"}`)
	p.refuseMany()
	p.drained()

	network.Cut()
	eventually(t, "Elasticsearch is away", func() bool { return p.metrics()["riskdex_elasticsearch_up"] == 0 })
	if status := p.send("PUT", "/cities/meanwhile", `{"title":"x"}`); status != http.StatusAccepted {
		t.Errorf("a delivery is answered %d", status)
	}
	network.Restore()
	p.drained()
	if found := p.indexed(report.Cities); len(found) != 2 {
		t.Errorf("the index has %d documents, not 2", len(found))
	}
	trouble := p.says(admin.TroubleLogUnread)
	if trouble.Severity != admin.Warning || !strings.Contains(trouble.Detail, "the log is not taken as it comes") {
		t.Errorf("the trouble is %+v", trouble)
	}
	m := p.metrics()
	if dropped := m["riskdex_log_lines_dropped_total"]; dropped == 0 || m["riskdex_log_unread_seconds"] == 0 {
		t.Errorf("%v lines were dropped, in %v s", dropped, m["riskdex_log_unread_seconds"])
	}

	lines := bufio.NewScanner(read)
	told := false
	for !told && lines.Scan() {
		told = strings.Contains(lines.Text(), `level=ERROR msg="lines of the log were dropped`) &&
			strings.Contains(lines.Text(), " lines=")
	}
	if !told {
		t.Errorf("the log does not say that lines were dropped")
	}
	stop := make(chan struct{})
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	eventually(t, "status no longer tells of the log", func() bool {
		return !slices.ContainsFunc(p.status().Troubles, func(t admin.Trouble) bool { return t.What == admin.TroubleLogUnread })
	})
	close(stop)
	p.refuseMany()
	<-drained
	p.refuseMany()
	p.mustEnd(exitDone)
}

// TestLogThatFails: nobody has the other end of the log any more, or its disk is full.
func TestLogThatFails(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*process){
		"the reader has gone": func(p *process) { require.NoError(t, p.logsToAPipe().Close()) },
		"the disk is full": func(p *process) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			require.NoError(t, err)
			t.Cleanup(func() { full.Close() })
			p.stderr = full
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, elastictest.URL(t))
			open(p)
			p.start()
			if status := p.send("PUT", "/cities/1", `{"title":"x"}`); status != http.StatusAccepted {
				t.Errorf("a delivery is answered %d", status)
			}
			p.drained()
			p.says(admin.TroubleLogUnread)
			p.mustEnd(exitDone)
		})
	}
}

// TestStartThatFailsWithoutAReader: the process ends, so that its supervisor can start it again.
func TestStartThatFailsWithoutAReader(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t), "--workers", "0")
	p.logsToAPipe()
	_, err := p.stderr.Write(make([]byte, os.Getpagesize())) // it is full
	require.NoError(t, err)
	p.launch()
	p.mustExit(exitFailed)
}

// logsToAPipe has p log to the smallest pipe that there is, and returns the end to read from.
func (p *process) logsToAPipe() (read *os.File) {
	p.t.Helper()
	read, write, err := os.Pipe()
	require.NoError(p.t, err)
	p.t.Cleanup(func() { read.Close(); write.Close() })
	_, err = unix.FcntlInt(write.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize())
	require.NoError(p.t, err)
	p.stderr = write
	return read
}

// refuseMany sends more deliveries that are refused, and logged, than pipe and buffers hold.
func (p *process) refuseMany() {
	p.t.Helper()
	long := strings.Repeat("x", 500)
	for i := range 2_500 {
		if status := p.send("PUT", fmt.Sprint("/cities/", long, i), `{}`); status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
			p.t.Fatalf("delivery %d is answered %d", i, status)
		}
	}
}

// mustEnd checks that SIGTERM ends p in time, with one of some statuses.
func (p *process) mustEnd(statuses ...int) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(unix.SIGTERM))
	p.mustExit(statuses...)
}

func (p *process) mustExit(statuses ...int) {
	p.t.Helper()
	ended := make(chan error, 1)
	cmd := p.cmd
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		if got := cmd.ProcessState.ExitCode(); !slices.Contains(statuses, got) {
			p.t.Errorf("the status is %d (%v), not in %v", got, cmd.ProcessState, statuses)
		}
	case <-time.After(stopWithin):
		p.t.Errorf("it has not ended after %v", stopWithin)
		_ = cmd.Process.Kill()
		<-ended
	}
	p.cmd = nil
}
