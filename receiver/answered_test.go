package receiver

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/report"
)

// TestEveryAnswerIsObserved compares what the observer is told with the answers.
func TestEveryAnswerIsObserved(t *testing.T) {
	var mu sync.Mutex
	var seen []Answered
	d := open(t, func(c *Config) {
		c.Observe = func(a Answered) { mu.Lock(); defer mu.Unlock(); seen = append(seen, a) }
	})
	at := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		method, path, body string
		broken             error
		want               Answered
	}{
		{"POST", "/cities", `[{"id":1},{"id":2},{"t":"x"}]`, nil, Answered{at, report.Cities, "1", "", "POST", http.StatusAccepted, "", 2, 1}},
		{"DELETE", "/advisories/1", "", nil, Answered{at, report.Advisories, "1", "", "DELETE", http.StatusAccepted, "", 1, 0}},
		{"PUT", "/special-reports/1", "{", nil, Answered{at, report.SpecialReports, "1", "", "PUT", http.StatusBadRequest, reasonJSON, 0, 0}},
		{"POST", "/cities", `[{"t":"x"},{"t":"y"}]`, nil, Answered{at, report.Cities, "", "", "POST", http.StatusUnprocessableEntity, reasonNoID, 0, 2}},
		{"PUT", "/cities/1", `{"t":1}`, errors.New("no disk"), Answered{at, report.Cities, "1", "", "PUT", http.StatusServiceUnavailable, "journal", 0, 0}},
		{"POST", "/cities", `[{"id":"` + strings.Repeat("x", maxIDShown+1) + `"}]`, nil, Answered{at, report.Cities, strings.Repeat("x", maxIDShown) + "…", "", "POST", http.StatusUnprocessableEntity, reasonIDTooLong, 0, 1}},
		{"POST", "/nowhere", `{}`, nil, Answered{at, "", "", "/nowhere", "POST", http.StatusNotFound, reasonPath, 0, 0}},
	} {
		d.err = c.broken
		if got := d.send(c.method, c.path, c.body); got.status != c.want.Status || got.Accepted != c.want.Accepted {
			t.Errorf("%s %s: %+v", c.method, c.path, got)
		}
		mu.Lock()
		if len(seen) != 1 || seen[0] != c.want {
			t.Errorf("%s %s is observed as %+v, want %+v", c.method, c.path, seen, c.want)
		}
		seen = nil
		mu.Unlock()
	}
}
