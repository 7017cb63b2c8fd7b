package receiver

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/receiver/auth"
	"riskdex/report"
)

// A PUT whose path is a known id is for that document, whatever its record says, and the
// difference is logged and counted. The test needs the real journal, which resolves the
// path.
func TestOtherIDInTheRecordIsSaid(t *testing.T) {
	g := guard(t, auth.Config{})
	want := map[report.Kind]float64{}
	put := func(path, body string, kind report.Kind, differs bool) {
		t.Helper()
		if got := g.send("PUT", path, body); got.status != http.StatusAccepted {
			t.Fatalf("PUT %s %s: %+v", path, body, got)
		}
		if differs {
			want[kind]++
		}
		for _, k := range report.Kinds() {
			if n := g.counted("riskdex_id_mismatches_total", "kind", string(k)); n != want[k] {
				t.Errorf("after PUT %s %s: %v are counted of %s, want %v", path, body, n, k, want[k])
			}
		}
	}
	put("/cities/130", `{"id":130,"code":"LON"}`, report.Cities, false)
	put("/cities/130", `{"id":"130"}`, report.Cities, false)
	put("/cities/130", `{"t":1}`, report.Cities, false)
	put("/cities/130", `{"code":"LON"}`, report.Cities, false)            // states no id
	put("/cities/130", `{"id":"lon","code":"LON"}`, report.Cities, false) // nor does this one
	put("/cities/LON", `{"id":130,"code":"LON"}`, report.Cities, false)   // by its code
	put("/cities/PAR", `{"id":131,"code":"PAR"}`, report.Cities, false)   // a new city
	put("/cities/140", `{"id":131}`, report.Cities, false)                // is not a known id
	put("/cities/130", `{"id":{"x":1}}`, report.Cities, false)            // no id at all
	put("/cities/130", `{"id":7,"code":"LON"}`, report.Cities, true)
	put("/cities/130", `{"city":{"id":7}}`, report.Cities, true)
	put("/cities/OSL", `{"title":"Oslo"}`, report.Cities, false)
	put("/cities/OSL", `{"id":75,"code":"OSL"}`, report.Cities, false) // is adopted
	if got := g.send("DELETE", "/cities/75", ""); got.status != http.StatusAccepted || got.Unknown != nil {
		t.Errorf("a DELETE by the id of an adopted city is answered %+v", got)
	}
	put("/advisories/a", `{"id":"a"}`, report.Advisories, false)
	put("/advisories/a", `{"id":"b"}`, report.Advisories, true)
	g.send("POST", "/advisories", `{"id":"c"}`)
	g.send("DELETE", "/advisories/a", `{"id":"c"}`)
	put("/special-reports/new", `{"uuid":"other"}`, report.SpecialReports, true)
	if n := strings.Count(g.log.String(), "states another id"); n != 1 || !strings.Contains(g.log.String(), "id=130 stated=7") {
		t.Errorf("%d lines within a minute, want one:\n%s", n, g.log)
	}
	g.later(time.Minute - time.Second)
	put("/cities/130", `{"id":7}`, report.Cities, true)
	if n := strings.Count(g.log.String(), "states another id"); n != 1 {
		t.Errorf("%d lines before a minute is over, want one", n)
	}
	g.later(time.Second)
	put("/cities/130", `{"id":7}`, report.Cities, true)
	if n := strings.Count(g.log.String(), "states another id"); n != 2 || !strings.Contains(g.log.String(), "others_since=4") {
		t.Errorf("%d lines after a minute, want two:\n%s", n, g.log)
	}
}
