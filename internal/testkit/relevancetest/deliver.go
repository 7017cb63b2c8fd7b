package relevancetest

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/internal/push"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/receiver"
	"riskdex/report"
)

// Answer is the receiver's answer to a request.
type Answer struct {
	Status int
	Body   string
}

// Deliver sends requests through a receiver into a new journal. It returns the answers and
// what an index has to hold in the end.
func Deliver(t testing.TB, cfg receiver.Config, requests []push.Request) ([]Answer, []report.Change) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r, err := receiver.New(cfg, j, time.Now, prometheus.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	var answers []Answer
	for _, d := range requests {
		answer := httptest.NewRecorder()
		r.ServeHTTP(answer, httptest.NewRequest(d.Method, d.Path, bytes.NewReader(d.Body)))
		answers = append(answers, Answer{answer.Code, answer.Body.String()})
	}
	var live []report.Change
	for _, kind := range report.Kinds() {
		for {
			changes, err := j.Claim(t.Context(), kind, 10_000, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			if len(changes) == 0 {
				break
			}
			for _, c := range changes {
				if c.Op == report.Index {
					live = append(live, c)
				}
			}
		}
	}
	return answers, live
}
