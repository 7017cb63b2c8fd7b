package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// forgetDeletes drops all tombstones of a riskdex that does not run, as time does.
func (p *process) forgetDeletes() {
	p.t.Helper()
	j, err := sqlite.Open(p.t.Context(), p.journal, journal.Options{KeepDeleted: time.Nanosecond, Log: slog.New(slog.DiscardHandler)})
	require.NoError(p.t, err)
	n, err := j.DropDeleted(p.t.Context())
	require.NoError(p.t, err)
	if n == 0 {
		p.t.Error("there was no tombstone")
	}
	require.NoError(p.t, j.Close())
}

// TestRebuildToAfterTooLong: deletes are forgotten that came while nobody followed. What they deleted
// does not stay in the other cluster, also if the command is killed at any moment, and searches go on.
func TestRebuildToAfterTooLong(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.fill(5)
	other := p.beside(p.elasticsearch, elastictest.Prefix(t))
	if got := p.rebuildTo(other, "--once").wait(); got.status != exitDone {
		t.Fatalf("exit status %d; output %q %q", got.status, got.out, got.errs)
	}
	p.send("DELETE", "/cities/1", "")
	p.send("PUT", "/cities/2", cityBody(2, "while nobody follows"))
	p.drained()
	p.terminate()
	p.forgetDeletes()
	p.start()
	const says = "its index is made anew"
	killed := p.rebuildTo(other)
	eventually(t, "the command says so", func() bool { return strings.Contains(killed.errs.String(), says) })
	require.NoError(t, killed.cmd.Process.Kill())
	killed.wait()
	got := p.rebuildTo(other, "--once").wait()
	if got.status != exitDone || strings.Contains(got.errs, "may have documents") {
		t.Errorf("exit status %d; output %q %q", got.status, got.out, got.errs)
	}
	p.same(other, report.Cities)
	if n := len(other.whole(report.Cities)); n != 4 {
		t.Errorf("the other cluster has %d cities, want 4", n)
	}
}

// TestRebuildToKnowsWhyTheFeedEnds: what the feed does not tell was deleted after a cursor that is too
// old, and may be the only copy after the journal was set back.
func TestRebuildToKnowsWhyTheFeedEnds(t *testing.T) {
	t.Parallel()
	at := report.Cursor{Kinds: []report.Kind{report.Cities}, Version: 7, Began: 7, Feed: "feed"}
	for reason, want := range map[string]error{
		admin.ReasonCursorTooOld: report.ErrCursorTooOld,
		admin.ReasonOtherFeed:    report.ErrOtherFeed,
		"a newer one":            report.ErrOtherFeed,
	} {
		served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/api/changes" {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusGone)
				_ = json.NewEncoder(w).Encode(admin.Problem{Status: http.StatusGone, Reason: reason, Detail: "why"})
				return
			}
			_ = json.NewEncoder(w).Encode(admin.Status{Line: "one"})
		}))
		client, err := adminSettings{Admin: served.URL}.client(streams{})
		require.NoError(t, err)
		_, err = feedOf{client, "one", &servedDocuments{}, slog.New(slog.DiscardHandler)}.Feed(t.Context(), at, false)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", reason, err, want)
		}
		served.Close()
	}
}
