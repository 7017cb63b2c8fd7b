package admin_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// failing is a journal that fails to keep notes while err is set.
type failing struct {
	admin.ArrivalsJournal
	err   error
	wrote int
}

func (f *failing) Note(ctx context.Context, name, value string) error {
	if f.err != nil {
		return f.err
	}
	f.wrote++
	return f.ArrivalsJournal.Note(ctx, name, value)
}

// TestArrivalsAreKeptInTheJournal: by several processes, and those that could not be written.
func TestArrivalsAreKeptInTheJournal(t *testing.T) {
	d := openDesk(t)
	log := slog.New(slog.DiscardHandler)
	f := &failing{ArrivalsJournal: d.journal}
	a, b := admin.NewArrivals(f, nil, log), admin.NewArrivals(d.journal, nil, log)
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	note := func(to *admin.Arrivals, after time.Duration, kind report.Kind, status int, sender string) {
		to.Note(report.Answered{At: at.Add(after), Kind: kind, Status: status, Sender: sender})
		to.Write(t.Context())
	}
	of := func(name string) report.Arrivals {
		stats, err := d.journal.Stats(t.Context())
		require.NoError(t, err)
		return report.ArrivalsIn(stats.Notes, name)
	}
	cities, acme := report.ArrivalsNote(report.Cities), report.SenderNote("acme")
	note(a, 0, report.Cities, 401, "")
	note(a, 0, report.Cities, 503, "acme")
	note(a, 0, "", 200, "")
	if f.wrote != 0 || !of(cities).Last.IsZero() {
		t.Error("what was not accepted is noted")
	}
	var want report.Arrivals
	for hour := range 200 { // each sees every second hour, and they write in turn
		after := time.Duration(hour) * time.Hour
		note([]*admin.Arrivals{a, b}[hour%2], after, report.Cities, 202, "acme")
		want = want.After(at.Add(after))
	}
	f.err = errors.New("the disk is full")
	note(a, 200*time.Hour, report.Cities, 200, "acme")
	f.err = nil
	if got := of(cities); got.Note() != want.Note() || of(acme).Note() != want.Note() {
		t.Errorf("%s, want %s", got.Note(), want.Note())
	}
	a.Write(t.Context())
	if got := of(cities); got.Note() != want.After(at.Add(200*time.Hour)).Note() {
		t.Error("what could not be written is lost")
	}
	again := admin.NewArrivals(d.journal, nil, log) // after a restart
	note(again, 201*time.Hour, report.Cities, 202, "acme")
	if got := of(cities); got.LongestPause(report.Running{}) != time.Hour || !got.Last.Equal(at.Add(201*time.Hour)) {
		t.Errorf("after a restart: %v, pauses of %v", got.Last, got.LongestPause(report.Running{}))
	}
}

// TestSendersAreBounded: a certificate may have any name. Those that are expected are always noted, in
// full.
func TestSendersAreBounded(t *testing.T) {
	for name, together := range map[string]bool{"in one write": true, "one by one": false} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			expected := strings.Repeat("é", 120)
			a := admin.NewArrivals(d.journal, admin.Expected{expected: time.Hour}, slog.New(slog.DiscardHandler))
			note := func(sender string) {
				a.Note(report.Answered{At: time.Unix(1_800_000_000, 0), Kind: report.Cities, Status: 202, Sender: sender})
				if !together {
					a.Write(t.Context())
				}
			}
			for n := range 300 {
				note(fmt.Sprint(n) + strings.Repeat("\x00é", n+1))
			}
			note(expected)
			a.Write(t.Context())
			stats, err := d.journal.Stats(t.Context())
			require.NoError(t, err)
			senders := 0
			for name := range stats.Notes {
				if sender, is := report.SenderOf(name); is && sender != expected {
					senders++
					if len(sender) > 200 {
						t.Errorf("%d bytes are kept of a name", len(sender))
					}
				}
			}
			if _, noted := stats.Notes[report.SenderNote(expected)]; senders > 100 || !noted {
				t.Errorf("%d senders are kept, and the expected one: %t", senders, noted)
			}
		})
	}
}

// TestArrivalsAreWrittenAtTheEnd: what came in the last second before a stop.
func TestArrivalsAreWrittenAtTheEnd(t *testing.T) {
	d := openDesk(t)
	a := admin.NewArrivals(d.journal, nil, slog.New(slog.DiscardHandler))
	a.Note(report.Answered{At: time.Unix(1_800_000_000, 0), Kind: report.Cities, Status: 202})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.Run(ctx)
	stats, err := d.journal.Stats(t.Context())
	require.NoError(t, err)
	if report.ArrivalsIn(stats.Notes, report.ArrivalsNote(report.Cities)).Last.IsZero() {
		t.Error("it is lost")
	}
}
