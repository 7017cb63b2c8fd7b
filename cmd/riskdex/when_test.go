package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestTimesCopiedFromAList reach what was accepted within the second that the list shows.
func TestTimesCopiedFromAList(t *testing.T) {
	accepted := time.Date(2026, 2, 3, 4, 5, 6, 999_999_000, time.UTC)
	for _, form := range []string{time.DateTime, time.RFC3339, "2006-01-02T15:04:05.999999Z07:00"} {
		_, end, err := parsePast(accepted.Format(form))
		require.NoError(t, err)
		if !end.Equal(accepted) {
			t.Errorf("%s is %v, want %v", accepted.Format(form), end, accepted)
		}
	}
	if _, end, err := parsePast("2026-02-03T04:05:06.5Z"); err != nil || end.Nanosecond() != 500_000_000 {
		t.Errorf("a time with a fraction is %v: %v", end, err)
	}
	if _, _, err := parsePast("2100-01-01"); err == nil || !strings.Contains(err.Error(), "in the future") {
		t.Errorf("a time in the future: %v", err)
	}
}

// TestShowSaysThatTheSenderIsNotKept without history, and how to have it kept.
func TestShowSaysThatTheSenderIsNotKept(t *testing.T) {
	for call, kept := range map[string]bool{"": false, "PUT /cities/LON": true} {
		var out bytes.Buffer
		new(showCommand).print(streams{out: &out}, admin.Document{Kind: report.Cities, ID: "130", AcceptedAt: time.Now(), Call: call})
		if strings.Contains(out.String(), "by whom is not kept (riskdex serve --history 90d)") == kept {
			t.Errorf("of a delivery with the call %q is shown\n%s", call, out.String())
		}
	}
}
