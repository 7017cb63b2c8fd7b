package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/networktest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestCommandsSayThatElasticsearchIsAway: verify and rebuild say that they wait, for what and why,
// and when they go on. So they do where nothing is refused, and nothing answers.
func TestCommandsSayThatElasticsearchIsAway(t *testing.T) {
	t.Parallel()
	network, through := networktest.New(t, elastictest.URL(t))
	p := newProcess(t, through, "--probe-every", "0")
	p.start()
	p.indicesReady()
	p.send("PUT", "/cities/1", cityBody(1, "x"))
	p.drained()
	says := func(r *running, text string) { t.Helper(); r.says(t, text) }

	network.Cut()
	const away = "Elasticsearch does not answer: "
	verifying, machine, rebuilding := p.begin("verify", "cities"), p.begin("verify", "advisories", "--json"), p.begin("rebuild", "cities")
	for _, r := range []*running{verifying, machine, rebuilding} {
		says(r, away)
		says(r, through+": ")
		says(r, "connection refused")
	}
	says(verifying, "cities: has waited for ")
	says(rebuilding, "cities: starting, has waited for ")
	eventually(t, "a program is told", func() bool {
		return strings.Contains(machine.out.String(), `{"waiting":{"kind":"advisories","index":"`+p.prefix+`advisories","held":false,"reason":"unreachable"`)
	})
	leaving := p.begin("rebuild", "cities")
	says(leaving, away)
	require.NoError(t, leaving.cmd.Process.Signal(syscall.SIGINT))
	if got := leaving.wait(); got.status != exitNegative || !strings.Contains(got.errs, "the rebuild goes on") {
		t.Errorf("interrupted, the command says %+v", got)
	}
	network.Restore()
	for _, r := range []*running{verifying, machine, rebuilding} {
		got := r.wait()
		if got.status != exitDone || !strings.Contains(got.errs, "Elasticsearch answers again after ") {
			t.Errorf("once Elasticsearch is back, the command says %+v", got)
		}
	}

	network.Swallow()
	silent := []*running{p.begin("verify", "cities"), p.begin("rebuild", "cities")}
	for _, r := range silent {
		r.says(t, away+through+": no answer yet")
	}
	network.Heal()
	for _, r := range silent {
		if got := r.wait(); got.status != exitDone {
			t.Errorf("once Elasticsearch is back, the command says %+v", got)
		}
	}
}

// TestCommandsSayThatTheJournalIsAway: so they do where every process of its server has stopped.
func TestCommandsSayThatTheJournalIsAway(t *testing.T) {
	t.Parallel()
	network, through := networktest.New(t, elastictest.URL(t))
	server := postgrestest.Start(t)
	t.Cleanup(func() { _ = server.Resume() })
	p := newProcess(t, through, "--probe-every", "0")
	p.journal = server.URL()
	p.start()
	p.indicesReady()
	p.send("PUT", "/cities/1", cityBody(1, "x"))
	p.drained()

	network.Swallow()
	rebuilding := p.begin("rebuild", "cities")
	rebuilding.says(t, "Elasticsearch does not answer: ")
	require.NoError(t, server.Suspend())
	network.Heal()
	const away = "the journal does not answer: "
	rebuilding.says(t, away+"no answer yet")
	verifying, late := p.begin("verify", "cities"), p.begin("rebuild", "advisories")
	verifying.says(t, away+"no answer yet")
	late.says(t, away)
	if got := late.wait(); got.status != exitFailed {
		t.Errorf("a rebuild that cannot begin says %+v", got)
	}
	require.NoError(t, server.Resume())
	const again = "the journal answers again after "
	if got := rebuilding.wait(); got.status != exitDone || !strings.Contains(got.errs, again) {
		t.Errorf("once the journal is back, the rebuild says %+v", got)
	}
	// It may have been given up by then: a new connection to the server has a time-out.
	if got := verifying.wait(); !strings.Contains(got.errs, again) && (got.status != exitFailed || !strings.Contains(got.errs, "lock cities for a verification: ")) {
		t.Errorf("once the journal is back, the verification says %+v", got)
	}
}

// says waits until the command has said something.
func (r *running) says(t *testing.T, text string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("it says %q", r.errs.String())
		}
	}()
	require.Eventually(t, 30*time.Second, "the command says "+text, func() bool { return strings.Contains(r.errs.String(), text) })
}

// givingUp is an admin.Verifier that finds Elasticsearch away.
type givingUp struct{}

func (givingUp) Verify(context.Context, report.Kind, admin.VerifyOptions, func(admin.VerifyEvent)) (report.VerifyReport, error) {
	return report.VerifyReport{}, fmt.Errorf("%w: for 2 minutes", report.ErrAway)
}

// TestVerifyGivesUpOnce: that Elasticsearch is away keeps every kind from being compared, so it is
// not waited for with each.
func TestVerifyGivesUpOnce(t *testing.T) {
	var log bytes.Buffer
	server := httptest.NewServer(admin.New(admin.Parts{Verifier: givingUp{}, Log: slog.New(slog.NewTextHandler(&log, nil))}))
	defer server.Close()
	var out, errs bytes.Buffer
	status := run(t.Context(), words("verify --admin "+server.URL), streams{&out, &errs})
	if status != exitFailed || strings.Count(errs.String(), "for 2 minutes") != 1 ||
		!strings.Contains(errs.String(), "special-reports is not compared: no answer of Elasticsearch") {
		t.Errorf("status %d, output %q %q", status, out.String(), errs.String())
	}
	if n := strings.Count(log.String(), "verification failed"); n != 1 {
		t.Errorf("%d kinds were tried: %s", n, log.String())
	}
}
