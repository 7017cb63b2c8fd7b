package livetest

import (
	"fmt"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
)

// TestFieldsAreCounted: Elasticsearch can tell of each field that matters which documents have it.
func TestFieldsAreCounted(t *testing.T) {
	x := plainIndices(t, elastictest.Prefix(t))
	records := []record{{
		kind: report.Cities, id: "whole", code: "LIL", body: `{"title":"Lille","other_names":["Rijsel"],"country":"FR","risk_level":2,"geo":{"lat":50.63,"lng":3.06},"airports":["LIL"],
			"places":[{"name":"Roubaix","lat":50.69,"lng":3.17}],"start_date":"2026-06-01","end_date":"2026-07-01","published_at":"2026-05-01","updated_at":"2026-05-02","body":"Protests are likely in Lille.","threats":["protests"]}`,
	}}
	for i := range 6 {
		records = append(records, record{kind: report.Cities, id: fmt.Sprint(i), body: `{"zq":"Nothing of this is read"}`})
	}
	records = append(records, record{kind: report.SpecialReports, id: "1", body: `{"title":"Measles","text":"Measles in many countries."}`})
	fill(t, x, records)
	for kind, documents := range map[report.Kind]int{report.Cities: 7, report.Advisories: 0, report.SpecialReports: 1} {
		all, err := x.Fields(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		if all.Documents != documents || len(all.Fields) != len(x.Set.Fields(kind)) {
			t.Errorf("%s: %+v", kind, all)
		}
		for _, f := range all.Fields {
			with := 0
			if kind == report.Cities || kind == report.SpecialReports && (f.Field == "title" || f.Field == "threats") {
				with = 1
			}
			if f.Documents != with || f.Missing != (kind == report.Cities && f.Expected > 0) {
				t.Errorf("%s: %+v, want it in %d documents", kind, f, with)
			}
		}
	}
}
