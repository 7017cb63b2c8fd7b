package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/push"
	"riskdex/internal/samplefeed"
	"riskdex/internal/samplefeed/samplefeedtest"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

func TestSampleFeedIsFound(t *testing.T) {
	p := newSearched(t, elastictest.URL(t), "--prefix", "/api/v1")
	p.start()
	requests, err := samplefeed.Feed()
	require.NoError(t, err)
	pusher := push.Pusher{URL: "http://" + p.deliveries + "/api/v1"}
	summary, err := pusher.Run(t.Context(), requests)
	require.NoError(t, err)
	if len(summary.Failed)+len(summary.Refused) > 0 {
		t.Fatalf("the sample feed was not accepted: %+v %+v", summary.Failed, summary.Refused)
	}
	p.drained()
	expected := samplefeedtest.Read(t)
	for _, kind := range report.Kinds() {
		found := p.indexed(kind)
		if len(found) != len(expected.Live[kind]) {
			t.Errorf("%s: %d documents, want %d", kind, len(found), len(expected.Live[kind]))
		}
		for _, d := range expected.Live[kind] {
			if !strings.Contains(string(found[d.ID]), d.Mark) {
				t.Errorf("%s/%s is %.200s, want the newest edition, with %s", kind, d.ID, found[d.ID], d.Mark)
			}
		}
		updated := expected.Live[kind][slices.IndexFunc(expected.Live[kind], func(d samplefeedtest.Document) bool { return d.Updated })]
		if hits := p.search(updated.Mark); !slices.Equal(hits, []string{string(kind) + "/" + updated.ID}) {
			t.Errorf("the updated %s/%s is found as %v", kind, updated.ID, hits)
		}
		var stale struct{ Count int }
		p.ask("POST", "/"+p.prefix+string(kind)+"/_count", `{"query":{"query_string":{"query":"`+strings.Join(expected.Stale, " OR ")+`"}}}`, &stale)
		if stale.Count > 0 {
			t.Errorf("%d of %s have a replaced or deleted text", stale.Count, kind)
		}
	}
	var saoPaulo string
	for _, d := range expected.Live[report.Cities] {
		if d.Code == "SAO" {
			saoPaulo = "cities/" + d.ID
		}
	}
	if hits := p.search("sao paulo"); len(hits) == 0 || hits[0] != saoPaulo {
		t.Errorf("sao paulo: %v, want %s first", hits, saoPaulo)
	}
}

func TestSnapshotOf300CitiesIsSearchable(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	var cities []string
	for i := range 300 {
		cities = append(cities, cityBody(i, fmt.Sprintf("marker%d ", i)+strings.Repeat("Take a registered taxi. ", 1700)))
	}
	if status := p.send("POST", "/cities", `{"cities":[`+strings.Join(cities, ",")+`]}`); status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	p.drained()
	if n := len(p.indexed(report.Cities)); n != 300 {
		t.Errorf("%d cities of 300", n)
	}
	for _, i := range []int{0, 137, 299} {
		if hits := p.search(fmt.Sprintf("marker%d", i)); !slices.Contains(hits, fmt.Sprintf("cities/%d", i)) {
			t.Errorf("city %d is not found: %v", i, hits)
		}
	}
}

func TestEveryIDThatACityAnswersTo(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	at := func(want string) {
		t.Helper()
		p.drained()
		found := p.indexed(report.Cities)
		var got []string
		for id, source := range found {
			var body struct{ Title string }
			require.NoError(t, json.Unmarshal(source, &body))
			got = append(got, id+"="+body.Title)
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != want {
			t.Errorf("the index has %q, want %q", s, want)
		}
	}
	send := func(method, path, body string) {
		t.Helper()
		if status := p.send(method, path, body); status != http.StatusAccepted {
			t.Fatalf("%s %s is answered %d", method, path, status)
		}
	}
	send("POST", "/cities", `[{"id":130,"code":"LON","title":"a"},{"id":"131","code":"PAR","title":"b"}]`)
	at("130=a 131=b")
	send("PUT", "/cities/130", `{"id":"130","code":"LON","title":"c"}`)
	at("130=c 131=b")
	send("PUT", "/cities/LON", `{"title":"d"}`)
	at("130=d 131=b")
	send("PUT", "/cities/lon", `{"id":130,"title":"e"}`)
	at("130=e 131=b")
	send("POST", "/cities", `{"id":130.0,"code":"LON","title":"f"}`)
	at("130=f 131=b")
	send("DELETE", "/cities/LON", "")
	at("131=b")
	send("PUT", "/cities/LON", `{"id":130,"code":"LON","title":"g"}`)
	at("130=g 131=b")
	send("DELETE", "/cities/130", "")
	send("DELETE", "/cities/131", "")
	at("")
	// Never seen before: the body says that its path is the code.
	send("PUT", "/cities/ROM", `{"id":132,"code":"ROM","title":"h"}`)
	at("132=h")
	send("DELETE", "/cities/rom", "")
	at("")
	for _, kind := range []report.Kind{report.Advisories, report.SpecialReports} {
		send("POST", "/"+string(kind), `{"id":7,"code":"LON","title":"x"}`)
		send("PUT", "/"+string(kind)+"/LON", `{"title":"another"}`)
		p.drained()
		if n := len(p.indexed(kind)); n != 2 {
			t.Errorf("%d %s, want 2: only cities answer to a code", n, kind)
		}
		send("DELETE", "/"+string(kind)+"/7", "")
		send("DELETE", "/"+string(kind)+"/LON", "")
		p.drained()
		if n := len(p.indexed(kind)); n != 0 {
			t.Errorf("%d %s are left", n, kind)
		}
	}
}
