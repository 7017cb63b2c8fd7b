package indexer

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestPlacesByTurns: a place that answers again after another one did, within ten minutes, shows that
// places answer by turns. A move shows nothing, nor does an answer that comes late.
func TestPlacesByTurns(t *testing.T) {
	t.Parallel()
	type answer struct {
		place      string
		sent, came time.Duration
	}
	at := func(place string, minute float64) answer {
		d := time.Duration(minute * float64(time.Minute))
		return answer{place, d, d}
	}
	for name, c := range map[string]struct {
		answers []answer
		want    string
	}{
		"one":                      {[]answer{at("a", 0), at("a", 1), at("a", 60)}, ""},
		"a move":                   {[]answer{at("a", 0), at("a", 60), at("b", 61), at("b", 62), at("b", 90)}, ""},
		"a move, and back later":   {[]answer{at("a", 0), at("b", 1), at("b", 5), at("a", 10.5)}, ""},
		"by turns":                 {[]answer{at("a", 0), at("b", 1), at("a", 9)}, "a b"},
		"by turns, the other last": {[]answer{at("a", 0), at("b", 1), at("a", 9), at("b", 9.5)}, "a b"},
		"three":                    {[]answer{at("a", 0), at("b", 1), at("c", 2), at("a", 3)}, "a b c"},
		"three, of which one left": {[]answer{at("c", 0), at("a", 20), at("b", 21), at("a", 22)}, "a b"},
		"back and forth, slowly":   {[]answer{at("a", 0), at("b", 11), at("a", 22), at("b", 33)}, ""},
		"a late answer":            {[]answer{at("a", 0), at("b", 2), {"a", time.Minute, 3 * time.Minute}, at("b", 4)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var turns turns
			var last []string
			start := time.Now()
			for _, a := range c.answers {
				_, last = turns.note(a.place, start.Add(a.sent), start.Add(a.came))
			}
			if got := strings.Join(last, " "); got != c.want {
				t.Errorf("by turns are %q, want %q", got, c.want)
			}
		})
	}
}

// TestPlacesByTurnsAreNoted, after a restart too, until one place has answered alone for ten minutes.
// Everything is then sent to that one.
func TestPlacesByTurnsAreNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		marked := 0
		s := &checking{mappingKnown: true, place: "a/", notes: map[string]string{}, lockKind: func(context.Context) error { return nil }}
		s.resend = func() error { marked++; return nil }
		client, err := elastic.NewClientOver(nil, "http://unused")
		require.NoError(t, err)
		x := func() *Indexer {
			x, err := New(DefaultConfig(), s, s, s, client, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			return x
		}
		running := x()
		check := func(places ...string) {
			t.Helper()
			s.places = places
			if out := s.checkIndex(t, running, task{known: true}); out.trouble != nil || len(s.places) > 0 {
				t.Errorf("outcome %+v, %d looks too few", out, len(s.places))
			}
			time.Sleep(15 * time.Second)
		}
		is := func(when string, wrong bool, times int) {
			t.Helper()
			for _, kind := range []report.Kind{report.Advisories, report.SpecialReports} { // as their checks do
				s.notes[report.PlaceNote(kind)] = s.notes[report.PlaceNote(report.Cities)]
			}
			if got := report.TurnsIn(s.notes).Wrong(s.notes, time.Now()); got != wrong || marked != times {
				t.Errorf("%s: a trouble %v, everything sent %d times; want %v, %d: %v", when, got, marked, wrong, times, s.notes)
			}
		}
		check("a/", "a/", "a/")
		check("b/", "b/", "b/")
		is("after a move", false, 1)
		check("b/", "a/", "b/")
		is("by turns", true, 2)
		check("a/", "a/", "b/")
		check("a/", "b/", "b/")
		is("by turns, further", true, 2)
		if got := report.TurnsIn(s.notes).Places; !slices.Equal(got, []string{"a/", "b/"}) {
			t.Errorf("the places are %v", got)
		}
		running = x() // a restart
		for range 38 {
			check("b/", "b/", "b/")
		}
		is("soon after", true, 2)
		check("b/", "b/", "b/")
		is("ten minutes after, before a check", true, 2)
		s.resend = func() error { return errors.New("the disk is full") }
		if out := s.checkIndex(t, running, task{known: true}); out.trouble == nil {
			t.Error("the journal could not mark everything, and that is no trouble")
		}
		is("nothing could be marked", true, 2)
		s.resend = func() error { marked++; return nil }
		running = x()
		s.resending = 1
		for range 2 {
			check("b/", "b/", "b/")
			is("it has stayed, and lacks a document", true, 3)
		}
		s.resending = 0
		for range 2 {
			check("b/", "b/", "b/")
			is("it has everything", false, 3)
		}
		s.resending = 1
		check("b/", "b/", "b/")
		is("a document is sent again for another reason", false, 3)
		s.resending = 0
		check("", "", "b/")
		check("", "", "")
		is("the cluster does not tell", false, 3)
		for range 2 {
			check("a/", "a/", "a/")
		}
		is("after another move", false, 4)
	})
}
