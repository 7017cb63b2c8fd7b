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

// TestEveryAnswerIsObserved compares what is reported to the observer with the answers.
func TestEveryAnswerIsObserved(t *testing.T) {
	var mu sync.Mutex
	var seen []report.Answered
	d := open(t, func(c *Config) {
		c.Observe = func(a report.Answered) { mu.Lock(); defer mu.Unlock(); seen = append(seen, a) }
	})
	at := time.Unix(1_800_000_000, 0).UTC()
	for _, c := range []struct {
		method, path, body string
		broken             error
		want               report.Answered
	}{
		{"POST", "/cities", `[{"id":1},{"id":2},{"t":"x"}]`, nil, report.Answered{At: at, Kind: report.Cities, ID: "1", Method: "POST", Status: http.StatusAccepted, Accepted: 2, Refused: 1}},
		{"DELETE", "/advisories/1", "", nil, report.Answered{At: at, Kind: report.Advisories, ID: "1", Method: "DELETE", Status: http.StatusAccepted, Accepted: 1}},
		{"PUT", "/special-reports/1", "{", nil, report.Answered{At: at, Kind: report.SpecialReports, ID: "1", Method: "PUT", Status: http.StatusBadRequest, Reason: reasonJSON}},
		{"POST", "/cities", `[{"t":"x"},{"t":"y"}]`, nil, report.Answered{At: at, Kind: report.Cities, Method: "POST", Status: http.StatusUnprocessableEntity, Reason: reasonNoID, Refused: 2}},
		{"PUT", "/cities/1", `{"t":1}`, errors.New("no disk"), report.Answered{At: at, Kind: report.Cities, ID: "1", Method: "PUT", Status: http.StatusServiceUnavailable, Reason: "journal"}},
		{"POST", "/cities", `[{"id":"` + strings.Repeat("x", maxIDShown+1) + `"}]`, nil, report.Answered{At: at, Kind: report.Cities, ID: strings.Repeat("x", maxIDShown) + "…", Method: "POST", Status: http.StatusUnprocessableEntity, Reason: reasonIDTooLong, Refused: 1}},
		{"POST", "/nowhere", `{}`, nil, report.Answered{At: at, Path: "/nowhere", Method: "POST", Status: http.StatusNotFound, Reason: reasonPath}},
	} {
		d.err = c.broken
		got := d.send(c.method, c.path, c.body)
		if got.status != c.want.Status || got.Accepted != c.want.Accepted || (got.Delivery != "") != (got.Accepted > 0) {
			t.Errorf("%s %s is answered %+v, want %d accepted and status %d", c.method, c.path, got, c.want.Accepted, c.want.Status)
		}
		c.want.Delivery = got.Delivery
		mu.Lock()
		if len(seen) != 1 || seen[0] != c.want {
			t.Errorf("%s %s is observed as %+v, want %+v", c.method, c.path, seen, c.want)
		}
		seen = nil
		mu.Unlock()
	}
}
