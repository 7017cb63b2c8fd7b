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
	with := func(keep time.Duration, bytes int64, age time.Duration) *HistoryStatus {
		entries := 0
		if bytes > 0 {
			entries = 7
		}
		return historyStatus(report.Stats{
			Kinds:   map[report.Kind]report.KindStats{report.Cities: {History: entries, HistoryBytes: bytes}},
			History: report.HistoryBounds{Keep: keep, MaxBytes: 1000, Since: now.Add(-age)},
		}, now)
	}
	const day = 24 * time.Hour
	if h := with(0, 0, 0); h != nil {
		t.Errorf("without history it is %+v", h)
	}
	if h := with(0, 10, day); h == nil || h.KeepSeconds != 0 || h.Note != "" {
		t.Errorf("when it was switched off it is %+v", h)
	}
	for _, h := range []*HistoryStatus{with(90*day, 10, day), with(90*day, 1000, 91*day)} {
		if h == nil || h.Note != "" || h.Entries != 7 {
			t.Errorf("a history that is not full is %+v", h)
		}
	}
	if h := with(90*day, 990, day); h == nil || !strings.Contains(h.Note, "begins at 2026-11-22T12:00:00Z, although --history is 90d") {
		t.Errorf("a full history is %+v", h)
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
