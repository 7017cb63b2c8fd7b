package receiver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// TestCausesOfNotDurable: each cause has a message, a level and a counter of its
// own, and is logged at most once per second or minute, however many deliveries it
// affects.
func TestCausesOfNotDurable(t *testing.T) {
	var out bytes.Buffer
	j, reg := &recorder{}, prometheus.NewRegistry()
	now := time.Unix(1_800_000_000, 0)
	r, err := New(DefaultConfig(), j, func() time.Time { return now }, reg, slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	d := &endpoint{recorder: j, t: t, reg: reg}
	send := func() {
		for n := range 100 {
			w := httptest.NewRecorder()
			r.ServeHTTP(w, httptest.NewRequest(http.MethodPut, fmt.Sprintf("/cities/%d", n), strings.NewReader(`{"t":1}`)))
			if w.Code != http.StatusServiceUnavailable {
				t.Fatalf("answered %d: %s", w.Code, w.Body)
			}
		}
	}
	for _, c := range []struct {
		cause, level, says string
		every              time.Duration
		err                error
	}{
		{"sender_left", "INFO", "its sender hung up", time.Second, report.ErrGone},
		{"timeout", "ERROR", "did not make it durable in time", time.Second, context.DeadlineExceeded},
		{"no_room", "WARN", "no room in the journal", time.Minute, report.ErrNoRoom},
		{"journal", "ERROR", "could not make it durable", time.Second, errors.New("the disk is on fire")},
	} {
		out.Reset()
		j.err = fmt.Errorf("append a delivery: %w", c.err)
		send()
		now = now.Add(c.every - 1)
		send()
		now = now.Add(1)
		send()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[1], "others_since=199") {
			t.Errorf("%s: 300 deliveries made %d lines: %.300s", c.cause, len(lines), out.String())
		}
		for _, line := range lines {
			if !strings.Contains(line, "level="+c.level+" ") || !strings.Contains(line, c.says) {
				t.Errorf("%s: the line has another level or message: %s", c.cause, line)
			}
		}
		if n := d.counted("riskdex_deliveries_not_durable_total", "kind", "cities", "cause", c.cause); n != 300 {
			t.Errorf("%s is counted %g times, want 300", c.cause, n)
		}
	}
	if n := d.counted("riskdex_deliveries_not_durable_total"); n != 1200 {
		t.Errorf("%g failures are counted in all", n)
	}
}
