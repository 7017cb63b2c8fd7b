package admin

import (
	"strings"
	"testing"
	"time"

	"riskdex/report"
)

// TestHistoryStatus says when history does not reach back as far as it is set to.
func TestHistoryStatus(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	with := func(keep time.Duration, entries int, age, cut time.Duration) *HistoryStatus {
		notes := map[string]string{}
		if cut > 0 {
			notes[report.HistoryCutNote] = report.NoteOfTime(now.Add(-cut))
		}
		return historyStatus(report.Stats{
			Kinds:   map[report.Kind]report.KindStats{report.Cities: {History: entries, HistoryBytes: int64(entries)}}, // it may have been compressed since
			History: report.HistoryBounds{Keep: keep, MaxBytes: 1000, Since: now.Add(-age)}, Notes: notes,
		}, now)
	}
	const day = 24 * time.Hour
	if h := with(0, 0, 0, 0); h != nil {
		t.Errorf("without history it is %+v", h)
	}
	for name, h := range map[string]*HistoryStatus{
		"switched off":                    with(0, 7, day, time.Hour),
		"never too large":                 with(90*day, 7, day, 0),
		"as long as it is kept":           with(90*day, 7, 91*day, time.Hour),
		"dropped, off and on again since": with(90*day, 7, day, 2*day),
	} {
		if h == nil || h.Note != "" || h.Entries != 7 {
			t.Errorf("%s: it is %+v", name, h)
		}
	}
	if h := with(90*day, 7, day, time.Hour); h == nil || !strings.Contains(h.Note, "begins at 2026-11-22T12:00:00Z, although --history is 90d") || !strings.Contains(h.Note, "2026-11-23T11:00:00Z") {
		t.Errorf("a history that was dropped for its size is %+v", h)
	}
}

// TestPastAcrossAGap: of a version from before a gap, only its acceptance is certain.
func TestPastAcrossAGap(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	shown := report.Past{Op: report.Index, AcceptedAt: at, State: report.StateSettled, SearchableAt: at, UntilUnknown: true}
	if p := pastOf(shown); !p.UntilUnknown || p.Searchable() != "from 2026-11-23 12:00:00, until when is not known" {
		t.Errorf("it is %+v, searchable %s", p, p.Searchable())
	}
	gone := report.Past{Op: report.Delete, Gap: true}
	if got := changed(gone, report.Past{Op: report.Index, Body: []byte("{}")}); got != "not known: history was off before" {
		t.Errorf("after a delete and a gap: %s", got)
	}
	if got := changed(gone, report.Past{Op: report.Index, First: true}); got != "created anew" {
		t.Errorf("after a delete and a gap, where there was none: %s", got)
	}
}
