package admin_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// A call does nothing if a part of its query cannot be understood, because that part may be
// a filter.
func TestQueryIsUnderstoodAsAWholeOrNotAtAll(t *testing.T) {
	d := openDesk(t)
	d.deliver("POST", "/cities", `[{"id":1,"t":"poison"},{"id":2,"t":"poison"},{"t":"no id"}]`)
	d.index()
	for _, query := range []string{
		"all=true&kind=cities;",
		"all=true&kind=100%",
		"all=true&kind=cities&kind=advisories",
		"all=true&kind=towns",
		"all=true&all=false",
		"all=true&knd=cities",
	} {
		for _, path := range []string{"/api/dead/drop?", "/api/dead/retry?", "/api/refused/drop?", "/api/refused/retry?"} {
			d.call(400, "POST", path+query, "", nil)
		}
	}
	for _, path := range []string{"/api/dead/drop?kind=cities&id=1&", "/api/dead/retry?kind=cities&id=1&", "/api/refused/drop?number=1&", "/api/refused/retry?number=1&"} {
		d.call(400, "POST", path+"all=yes", "", nil)
		d.call(400, "POST", path+"all=1", "", nil)
	}
	for _, more := range []string{"&id=1", "&version=1"} { // one or all?
		d.call(400, "POST", "/api/dead/drop?all=true&kind=cities"+more, "", nil)
		d.call(400, "POST", "/api/dead/retry?all=true&kind=cities"+more, "", nil)
	}
	d.call(400, "POST", "/api/dead/drop?all=true&kind=cities&type=a;b", "", nil)
	d.call(400, "POST", "/api/dead/drop?all=true&type=a&type=b", "", nil)
	d.call(400, "POST", "/api/refused/drop?all=true&number=1", "", nil)
	d.call(400, "POST", "/api/refused/retry?all=true&number=1", "", nil)
	for _, query := range []string{"kind=towns", "kind=cities;", "reason=a&reason=b"} {
		d.call(400, "GET", "/api/refused?"+query, "", nil)
	}
	if got := d.dead(report.Cities, 100, ""); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("dead letters that are left: %v", got)
	}
	if got := d.refused(100, ""); len(got) != 1 {
		t.Errorf("refused deliveries that are left: %d", len(got))
	}
	d.call(200, "POST", "/api/dead/drop?all=true&kind=cities&type=a%3Bb", "", nil)
	if got := d.dead(report.Cities, 100, ""); len(got) != 2 {
		t.Errorf("after a drop of an unused type %d are left", len(got))
	}
}

func TestVerificationIsNotBegunByHalf(t *testing.T) {
	server := serveVerifier(t, func(context.Context, report.Kind, admin.VerifyOptions, func(admin.VerifyEvent)) (report.VerifyReport, error) {
		return report.VerifyReport{}, nil
	})
	for query, want := range map[string]int{
		"":                                 200,
		"repair=true&remove_foreign=false": 200,
		"repair=false":                     200,
		"repair=1":                         400,
		"repair=true&remove_foreign=yes":   400,
		"remove_foreign=true":              400,
		"repair=true&kind=cities;":         400,
		"repair=true&kidn=cities":          400,
		"kind=cities&kind=advisories":      400,
	} {
		res, err := http.Post(server.URL+"/api/verify?"+query, "", nil)
		require.NoError(t, err)
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%q: %d, want %d", query, res.StatusCode, want)
		}
	}
}
