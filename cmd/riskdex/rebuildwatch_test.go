package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"riskdex/report"
)

// TestEndOfARebuildIsTold: what apps find meanwhile, and what to do.
func TestEndOfARebuildIsTold(t *testing.T) {
	t.Parallel()
	const old = "the old index, which stays up to date"
	for name, c := range map[string]struct {
		end    report.Rebuild
		says   string
		denies string
		asked  bool // somebody has asked for this end
	}{
		"it failed":              {report.Rebuild{Phase: report.PhaseFailed, Reason: "a reason"}, "a reason|" + old + "|rebuild again", "take-over", false},
		"somebody stopped it":    {report.Rebuild{Phase: report.PhaseStopped}, "stopped", "take-over", true},
		"a take-over is stopped": {report.Rebuild{Phase: report.PhaseStopped, Foreign: true}, "stopped", old, true},
		"a take-over failed":     {report.Rebuild{Phase: report.PhaseFailed, Foreign: true, Reason: "a reason"}, "a reason|another journal fills|rebuild --take-over", old, false},
		"another took over":      {report.Rebuild{Phase: report.PhaseStopped, Foreign: true, Reason: "a reason"}, "a reason|another journal fills|waits in it|rebuild --take-over", old, false},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			began := time.Now()
			w := &rebuildWatch{client: &adminClient{io: streams{&out, &out}}, progress: newProgress(&out), started: map[report.Kind]time.Time{report.Cities: began}}
			c.end.Kind, c.end.StartedAt = report.Cities, began
			w.look([]report.Rebuild{c.end})
			err := w.verdict()
			if len(w.started) > 0 || errors.Is(err, errNegative) != c.asked {
				t.Errorf("%d are watched, the error is %v", len(w.started), err)
			}
			said := out.String() + err.Error()
			for text := range strings.SplitSeq(c.says, "|") {
				if !strings.Contains(said, text) {
					t.Errorf("it says %q, not %q", said, text)
				}
			}
			if strings.Contains(said, c.denies) {
				t.Errorf("it says %q", said)
			}
		})
	}
}
