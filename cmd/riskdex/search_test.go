package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

func TestSearchFlags(t *testing.T) {
	p := newSearched(t, elastictest.URL(t))
	p.start()
	p.indicesReady() // a search of all kinds needs the shards of all
	p.send("POST", "/cities", `[{"id":1,"code":"SYD","title":"Sydney","country":"AU","risk_level":2,"geo":{"lat":-33.87,"lng":151.21}},
		{"id":2,"code":"SYR","title":"Syracuse","country":"US","risk_level":3}]`)
	p.send("POST", "/advisories", `[{"id":3,"title":"Harbour closed in Sydney","country":"AU","duration":{"start_date":"2026-02-01","end_date":"2026-02-03"}}]`)
	p.drained()
	p.indexed(report.Cities) // refreshes the index
	p.indexed(report.Advisories)
	for args, want := range map[string]string{
		"sydney":                                      "cities/1 advisories/3",
		"sydney --from 1":                             "advisories/3",
		"sydney --size 1":                             "cities/1",
		"sydney --valid-on 2026-02-03":                "cities/1 advisories/3",
		"sydney --valid-on 2026-02-04":                "cities/1",
		"sydney --valid-on 2026-02-03T23:30:00-05:00": "cities/1",
		"sydney --risk-at-least 2":                    "cities/1",
		"sydney --kind advisories --country au":       "advisories/3",
		"sydney --near=-33.9,151 --within-km 100":     "cities/1",
		"sydney --near=-33.9,151 --within-km 1":       "",
		"--complete sy --country US":                  "cities/2",
		"--complete syd --kind cities":                "cities/1",
		"--complete harb":                             "advisories/3",
		"--complete sidn":                             "cities/1 advisories/3",
		"sydney --near=-33.9,151 --sort nearest":      "cities/1",
		"--near=-33.9,151":                            "cities/1",
		"--country AU":                                "cities/1 advisories/3",
		"--sort risk":                                 "cities/2 cities/1 advisories/3",
		"--sort newest --kind cities --size 1":        "cities/1",
		"sydney --threat crime":                       "",
	} {
		var out, errs bytes.Buffer
		status := run(t.Context(), append([]string{
			"search", "--json", "--elasticsearch-url", p.elasticsearch, "--index-prefix", p.prefix,
		}, strings.Fields(args)...), streams{&out, &errs})
		var hits []string
		for line := range strings.Lines(out.String()) {
			var hit struct {
				Kind, ID, Title string
				Score           float64
			}
			require.NoError(t, json.Unmarshal([]byte(line), &hit))
			if hit.Title == "" || hit.Score <= 0 && !strings.Contains(args, "--sort") && !strings.HasPrefix(args, "--") {
				t.Errorf("search %s: a line without title or score: %s", args, line)
			}
			hits = append(hits, hit.Kind+"/"+hit.ID)
		}
		wantStatus := exitDone
		if want == "" {
			wantStatus = exitNegative
		}
		if strings.Join(hits, " ") != want || status != wantStatus {
			t.Errorf("search %s: status %d, %v, want %s; %s", args, status, hits, want, errs.String())
		}
	}
}

func TestSearchFlagsThatCannotBe(t *testing.T) {
	for args, want := range map[string]string{
		"x --near here":               "51.5,-0.12",
		"x --near 91,0":               "latitude",
		"x --within-km 5":             "near: give",
		"x --near 1,1 --within-km=-5": "above 0",
		"x --valid-on tomorrow":       "2026-07-30",
		"x --country France":          "ISO 3166",
		"x --risk-at-least 9":         "1 to 5",
		"x --sort nearest":            "needs a point",
		"x --sort best":               "newest",
		"--complete":                  "at least one word",
		"x --threat ghosts":           "kidnapping",
		"x --from 20000":              "10000",
	} {
		var out bytes.Buffer
		status := run(t.Context(), append([]string{"search"}, strings.Fields(args)...), streams{&out, &out})
		if status != exitFailed || !strings.Contains(out.String(), want) {
			t.Errorf("search %s: status %d, %q, want %s", args, status, out.String(), want)
		}
	}
}

func TestSearchSaysMore(t *testing.T) {
	p := newSearched(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.send("POST", "/cities", `[{"id":1,"title":"Sydney","country":"AU"}]`)
	p.drained()
	p.indexed(report.Cities)
	var out, errs bytes.Buffer
	status := run(t.Context(), []string{"search", "--facets", "--elasticsearch-url", p.elasticsearch, "--index-prefix", p.prefix, "sydnqy"}, streams{&out, &errs})
	for _, want := range []string{"did you mean: sydney", "country     AU 1", "kind        cities 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("status %d, %q, want %s; %s", status, out.String(), want, errs.String())
		}
	}

	// The page of the admin listener makes the same search, and explains it.
	page := p.page("/search?q=sydnqy&kind=cities&country=au&explain=cities/1")
	for _, want := range []string{
		"1 to 1 of 1 found", ">sydney<", "Why cities", "misspelt name", "title (as it is written): <bdi>sydney</bdi>", "how well known it is",
		"POST /" + p.prefix + "cities,", "&#34;sydnqy&#34;", "ConstantScore",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	if page := p.page("/search?q=sydney&explain=advisories/1"); !strings.Contains(page, "does not find advisories") {
		t.Errorf("a document that is not found: %s", page)
	}
}
