package main

import (
	"testing"
	"time"

	"riskdex/journal"
)

func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": journal.DefaultKeepDeleted, "1d": 24 * time.Hour, "36h": 36 * time.Hour,
		"": 0, "90": 0, "d": 0, "-1d": 0, "23h": 0, "1.5d": 0, "70000d": 0,
	} {
		var s retention
		if err := s.UnmarshalText([]byte(text)); (err != nil) != (want == 0) || time.Duration(s) != want {
			t.Errorf("%q is read as %v, %v", text, time.Duration(s), err)
		}
	}
	if got := serving(t).journalOptions(nil).KeepDeleted; got != journal.DefaultKeepDeleted {
		t.Errorf("the help says 90d, but the value is %v", got)
	}
	if off, gone, kept := serving(t).journalOptions(nil).History, serving(t, "--history=0").journalOptions(nil).History, serving(t, "--history", "1d").journalOptions(nil).History; off != 0 || gone >= 0 || kept != 24*time.Hour {
		t.Errorf("history is kept for %v by default, %v with 0, and %v with 1d", off, gone, kept)
	}
}
