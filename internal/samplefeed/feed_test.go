package samplefeed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/push"
	"riskdex/internal/samplefeed/samplefeedtest"
	"riskdex/report"
)

// golden is the digest of all requests. If a change of the feed is intended, set it to what the
// test prints.
const golden = "317a562576f7462861d6ddea02494b5025443cc01a3c664cf463eacbdc8fa336"

func mustFeed(t *testing.T) []push.Request {
	t.Helper()
	requests, err := Feed()
	if err != nil {
		t.Fatal(err)
	}
	return requests
}

func digest(requests []push.Request) string {
	h := sha256.New()
	for _, r := range requests {
		h.Write([]byte(r.Method + " " + r.Path + " " + r.What + "\n"))
		h.Write(append(r.Body, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestFeedIsTheSame(t *testing.T) {
	if got := digest(mustFeed(t)); got != golden {
		t.Errorf("the feed's digest is %s, the golden one %s", got, golden)
	}
}

func TestBodiesAreStrictJSON(t *testing.T) {
	requests := mustFeed(t)
	for _, r := range requests {
		if r.Method == http.MethodDelete {
			if r.Body != nil {
				t.Errorf("%s %s has a body", r.Method, r.Path)
			}
			continue
		}
		if !jsontext.Value(r.Body).IsValid() {
			t.Errorf("%s %s: the body is not strict JSON", r.Method, r.Path)
		}
	}
}

func TestOrderAndSize(t *testing.T) {
	requests, expected := mustFeed(t), samplefeedtest.Read(t)
	first := requests[0]
	if first.Method != http.MethodPost || first.Path != "/cities" {
		t.Errorf("the first request is %s %s", first.Method, first.Path)
	}
	var body struct {
		Cities []json.RawMessage
		Meta   map[string]any
	}
	if err := json.Unmarshal(first.Body, &body); err != nil {
		t.Fatal(err)
	}
	if n := len(body.Cities); n < 255 || n != len(expected.Live[report.Cities]) || body.Meta == nil {
		t.Errorf("the first payload has %d cities, %d are expected", n, len(expected.Live[report.Cities]))
	}
	for i, c := range body.Cities {
		if len(c) < 6_000 || len(c) > 45_000 {
			t.Errorf("the city at %d has %d bytes", i, len(c))
		}
	}
	if n := len(first.Body); n < 2_000_000 || n > 10_000_000 {
		t.Errorf("the first payload has %d bytes", n)
	}
	order := map[string]int{http.MethodPost: 0, http.MethodPut: 1, http.MethodDelete: 2}
	for i := 1; i < len(requests); i++ {
		if order[requests[i].Method] < order[requests[i-1].Method] {
			t.Errorf("%s %s comes too late", requests[i].Method, requests[i].Path)
		}
	}
}

// Every document says that it is sample text, at the beginning of each of its texts.
func TestEveryDocumentSaysThatItIsASample(t *testing.T) {
	least := map[string]int{"/cities": 4, "/advisories": 5, "/special-reports": 3}
	for _, r := range mustFeed(t) {
		if r.Method != http.MethodPost {
			continue
		}
		for i, body := range records(t, r.Body) {
			if n := strings.Count(strings.ToLower(body), "sample text"); n < least[r.Path] {
				t.Errorf("record %d of %s %s says %d times that it is sample text", i, r.Path, r.What, n)
			}
		}
	}
}

// The feed has all shapes; without them it would not test a receiver.
func TestShapes(t *testing.T) {
	requests := mustFeed(t)
	all := string(requests[0].Body)
	for _, r := range requests[1:] {
		all += r.Method + " " + r.Path + "\n" + string(r.Body)
	}
	for _, want := range []string{
		`"id":101,`, `"id":"city-`, `"risk_level":null`, `"risk_level":"Moderate"`, `"name":"Medium"}`, `"geo":{"lat":31.2222`,
		`"lat":"41.0138"`, `"type":"Polygon"`, `"FeatureCollection"`, `<h3 class=`, `&eacute;`, `&nbsp;`, `"airports":"ISL,IST,SAW"`,
		`"airports":["PVG","SHA"]`, `"file":"JVBERi0xLjQ`, `"data":{`, `"attributes":{`, `"tags":[]`, `"subtitle":null`, `"image":""`,
		`PUT /cities/SHA`[:len("PUT /cities/")], `{"city":{`, `{"advisory":{`, "PUT /advisories/ADV%202026%2F", "DELETE /advisories/",
		"DELETE /special-reports/", "Bombay", "Constantinople", "Peking",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nowhere in the feed: %s", want)
		}
	}
}
