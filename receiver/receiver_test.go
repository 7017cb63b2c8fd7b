package receiver

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/receiver/auth"
	"riskdex/report"
)

func TestTheNineCalls(t *testing.T) {
	for _, prefix := range []string{"", "/api/v1"} {
		d := open(t, func(c *Config) { c.Prefix = prefix })
		for _, kind := range report.Kinds() {
			path := prefix + "/" + string(kind)
			for _, call := range []struct{ method, path, body string }{
				{"POST", path, `{"id":130,"title":"x"}`},
				{"PUT", path + "/130", `{"id":130,"title":"y"}`},
				{"DELETE", path + "/130", ""},
			} {
				got := d.send(call.method, call.path, call.body)
				if got.status != 202 || got.Accepted != 1 || got.Refused == nil || len(got.Refused) > 0 {
					t.Errorf("%s %s is answered %+v, want 202 with one accepted", call.method, call.path, got)
				}
			}
		}
		changes := d.changes()
		if len(changes) != 9 {
			t.Fatalf("%d changes, want 9", len(changes))
		}
		for i, c := range changes {
			wantOp, wantBody := report.Index, []string{`{"id":130,"title":"x"}`, `{"id":130,"title":"y"}`, ""}[i%3]
			if i%3 == 2 {
				wantOp = report.Delete
			}
			if c.Kind != report.Kinds()[i/3] || c.ID != "130" || c.Op != wantOp || string(c.Body) != wantBody {
				t.Errorf("change %d: %+v", i, c)
			}
		}
		if n := d.counted("riskdex_deliveries_total", "code", "202"); n != 9 {
			t.Errorf("%v deliveries counted, want 9", n)
		}
	}
}

func TestAnyEncodedSegmentIsAnID(t *testing.T) {
	d := open(t, nil)
	long := strings.Repeat("x", report.MaxIDBytes)
	for segment, want := range map[string]string{
		"130": "130", "LON": "LON", "a%2Fb": "a/b", "a%2fb%2F": "a/b/", "%2F": "/", "a%20b": "a b", "a+b": "a+b",
		"S%C3%A3o%20Paulo": "São Paulo", "%2E%2E": "..", ".": ".", "%00": "\x00", "a%0Ab": "a\nb", "%25": "%", "%252F": "%2F",
		"a:b*c": "a:b*c", "%3Fx%23": "?x#", `%22%5C`: `"\`, long: long, strings.Repeat("%41", report.MaxIDBytes): strings.Repeat("A", report.MaxIDBytes),
	} {
		for _, method := range []string{"PUT", "DELETE"} {
			before := len(d.changes())
			if got := d.send(method, "/cities/"+segment, `{"t":1}`); got.status != 202 {
				t.Errorf("%s %.40s is answered %d %s, want 202", method, segment, got.status, got.Detail)
				continue
			}
			if got := d.changes()[before].ID; string(got) != want {
				t.Errorf("%s %.40s: id %q, want %q", method, segment, got, want)
			}
		}
	}
	if got := d.send("PUT", "/c%69ties/7", `{"t":1}`); got.status != 202 {
		t.Errorf("another spelling of the same path is answered %d", got.status)
	}
	for segment, reason := range map[string]string{
		strings.Repeat("x", report.MaxIDBytes+1): reasonIDTooLong, "%FF": reasonIDInvalid,
	} {
		if got := d.send("PUT", "/cities/"+segment, `{"t":1}`); got.status != 422 || got.Reason != reason {
			t.Errorf("PUT %.40s is answered %d %s, want 422 %s", segment, got.status, got.Reason, reason)
		}
	}
}

func TestPostTellsWhatWasRefused(t *testing.T) {
	d := open(t, nil)
	tooLong := strings.Repeat("x", report.MaxIDBytes+1)
	got := d.send("POST", "/cities", `{"cities":[{"id":1},{"name":"no id"},{"id":"`+tooLong+`"},{"id":2}]}`)
	if got.status != 202 || got.Accepted != 2 || len(got.Refused) != 2 {
		t.Fatalf("answered %+v, want two accepted and two refused", got)
	}
	if r := got.Refused[0]; r.Position != 1 || r.ID != nil || r.Reason != reasonNoID {
		t.Errorf("first refused: %+v, want position 1 without an id", r)
	}
	if r := got.Refused[1]; r.Position != 2 || r.ID == nil || *r.ID != tooLong || r.Reason != reasonIDTooLong {
		t.Errorf("second refused: %+v, want position 2 with its too long id", r)
	}
	if len(d.deliveries) != 1 {
		t.Errorf("one payload went to the journal in %d deliveries, want one", len(d.deliveries))
	}
	kept := d.refusals()
	if len(kept) != 2 || kept[0].Position != 1 || string(kept[0].Body) != `{"name":"no id"}` || kept[0].Path != "/cities" || kept[0].At.IsZero() {
		t.Errorf("kept %+v, want both refusals with their bodies", kept)
	}
	if n := d.counted("riskdex_changes_refused_total", "kind", "cities"); n != 2 {
		t.Errorf("%v refusals counted, want 2", n)
	}
}

// TestManyRefusalsAreBounded: a compressed body of some hundred bytes causes neither an
// answer of megabytes nor a hundred thousand log lines. All refusals are counted.
func TestManyRefusalsAreBounded(t *testing.T) {
	var log bytes.Buffer
	rec, reg := &recorder{}, prometheus.NewRegistry()
	r, err := New(DefaultConfig(), rec, time.Now, reg, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	long := `{"id":"` + strings.Repeat("x", 600) + `"}`
	for first, want := range map[string]int{`{"id":1}`: http.StatusAccepted, long: http.StatusUnprocessableEntity} {
		log.Reset()
		rec.deliveries = nil
		body := gzipped(t, "["+first+strings.Repeat(",{}", 80_000)+strings.Repeat(","+long, 100)+"]")
		req := httptest.NewRequest("POST", "/cities", strings.NewReader(body))
		req.Header.Set("Content-Encoding", "gzip")
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		var got reply
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		total := 80_100
		if want != http.StatusAccepted {
			total++
		}
		if w.Code != want || w.Body.Len() > 100<<10 || len(got.Refused) != maxListed || got.RefusedTotal != total {
			t.Errorf("answered %d with %d bytes, listing %d of %d refused", w.Code, w.Body.Len(), len(got.Refused), got.RefusedTotal)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "missing_id 80000") || log.Len() > 2000 {
			t.Errorf("the log has %d lines: %.3000s", lines, log.String())
		}
		if d := rec.deliveries[0]; len(d.Refusals) != maxRefusals || len(d.Refusals)+d.MoreRefused != total {
			t.Errorf("%d refusals are passed on, and %d more", len(d.Refusals), d.MoreRefused)
		}
	}
	d := endpoint{t: t, reg: reg}
	if n := d.counted("riskdex_changes_refused_total", "kind", "cities", "reason", reasonNoID); n != 160_000 {
		t.Errorf("%v refusals are counted, want all", n)
	}
}

func TestRefusedDeliveries(t *testing.T) {
	d := open(t, func(c *Config) {
		c.MaxBody = 1000
		c.Records = map[report.Kind][]string{report.SpecialReports: {"/record"}}
	})
	big := `{"id":1,"t":"` + strings.Repeat("x", 1000) + `"}`
	for name, c := range map[string]struct {
		method, path, body string
		header             []string
		status             int
		reason             string
	}{
		"not JSON":            {"POST", "/cities", `{`, nil, 400, reasonJSON},
		"empty":               {"PUT", "/cities/1", ``, nil, 400, reasonJSON},
		"duplicate":           {"PUT", "/cities/1", `{"a":1,"a":2}`, nil, 400, reasonJSON},
		"null":                {"PUT", "/cities/1", `null`, nil, 422, reasonNoRecord},
		"null in an envelope": {"PUT", "/cities/1", `{"city":null,"meta":{}}`, nil, 422, reasonNoRecord},
		"null in a list":      {"PUT", "/cities/1", ` [null] `, nil, 422, reasonNoRecord},
		"null in both":        {"PUT", "/advisories/1", `{"data":{"advisories":[null]}}`, nil, 422, reasonNoRecord},
		"stated null":         {"PUT", "/special-reports/1", `{"record":null,"meta":{}}`, nil, 422, reasonNoRecord},
		"stated list of null": {"PUT", "/special-reports/1", `{"record":[null],"meta":{}}`, nil, 422, reasonNoRecord},
		"POST of null in it":  {"POST", "/special-reports", `{"record":null,"meta":{}}`, nil, 422, reasonNoRecord},
		"no id":               {"POST", "/advisories", `{"title":"x"}`, nil, 422, reasonNoID},
		"null id":             {"POST", "/advisories", `null`, nil, 422, reasonNoRecord},
		"too large":           {"POST", "/cities", big, nil, 413, reasonTooLarge},
		"unknown encoding":    {"POST", "/cities", `{}`, []string{"Content-Encoding", "br"}, 415, reasonEncoding},
		"not gzip":            {"POST", "/cities", `{"id":1,"title":"plain"}`, []string{"Content-Encoding", "gzip"}, 400, reasonGzip},
		"no such path":        {"POST", "/countries", `{"id":1}`, nil, 404, reasonPath},
		"trailing slash":      {"POST", "/cities/", `{"id":1}`, nil, 404, reasonPath},
		"double slash":        {"POST", "//cities", `{"id":1}`, nil, 404, reasonPath},
		"other case":          {"POST", "/Cities", `{"id":1}`, nil, 404, reasonPath},
		"too deep a path":     {"PUT", "/cities/1/2", `{"t":1}`, nil, 404, reasonPath},
		"root":                {"POST", "/", `{"id":1}`, nil, 404, reasonPath},
		"GET of nothing":      {"GET", "/nowhere", ``, nil, 404, reasonPath},
		"PATCH":               {"PATCH", "/cities/1", `{}`, nil, 405, reasonMethod},
		"PUT of a collection": {"PUT", "/cities", `{"t":1}`, nil, 405, reasonMethod},
		"POST of a document":  {"POST", "/cities/1", `{}`, nil, 405, reasonMethod},
		"GET":                 {"GET", "/cities", ``, nil, 405, reasonMethod},
		"OPTIONS":             {"OPTIONS", "/cities", ``, nil, 405, reasonMethod},
	} {
		before, counted := len(d.refusals()), d.counted("riskdex_changes_refused_total", "reason", c.reason)
		got := d.send(c.method, c.path, c.body, c.header...)
		if got.status != c.status || got.Reason != c.reason || got.Detail == "" {
			t.Errorf("%s is answered %d %s %q, want %d %s", name, got.status, got.Reason, got.Detail, c.status, c.reason)
		}
		if ct := got.header.Get("Content-Type"); ct != "application/problem+json" {
			t.Errorf("%s: answered as %s", name, ct)
		}
		if c.status == 405 && got.header.Get("Allow") == "" {
			t.Errorf("%s is answered 405 without Allow", name)
		}
		want := 1
		if c.method == "GET" || c.method == "OPTIONS" {
			want = 0
		}
		if n := d.counted("riskdex_changes_refused_total", "reason", c.reason) - counted; n != float64(want) {
			t.Errorf("%s: counted %v times", name, n)
		}
		if kept := len(d.refusals()) - before; kept != want {
			t.Errorf("%s: %d refusals kept", name, kept)
		}
	}
	if n := len(d.changes()); n != 0 {
		t.Errorf("%d changes accepted from deliveries that were refused", n)
	}
}

func gzipped(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGzip(t *testing.T) {
	d := open(t, func(c *Config) { c.MaxBody = 100_000 })
	zip := []string{"Content-Encoding", "gzip"}
	if got := d.send("POST", "/cities", gzipped(t, `{"id":"é"}`), zip...); got.status != 202 || d.changes()[0].ID != "é" {
		t.Errorf("gzip is answered %+v, want 202", got)
	}
	bomb := gzipped(t, `{"id":1,"t":"`+strings.Repeat("x", 10<<20)+`"}`)
	if got := d.send("POST", "/cities", bomb, zip...); got.status != 413 {
		t.Errorf("%d bytes that inflate to 10 MiB are answered %d", len(bomb), got.status)
	}
	cut := gzipped(t, `{"id":1,"t":"`+strings.Repeat("x", 1000)+`"}`)
	if got := d.send("POST", "/cities", cut[:len(cut)-9], zip...); got.status != 400 {
		t.Errorf("gzip without its end is answered %d", got.status)
	}
	corrupt := []byte(cut)
	corrupt[len(corrupt)-6] ^= 0xff // in the checksum
	if got := d.send("POST", "/cities", string(corrupt), zip...); got.status != 400 || got.Reason != reasonGzip {
		t.Errorf("gzip with a wrong checksum is answered %d %s", got.status, got.Reason)
	}
	if n := len(d.changes()); n != 1 {
		t.Errorf("%d changes, want 1", n)
	}
}

func TestByteOrderMarkIsIgnored(t *testing.T) {
	d := open(t, nil)
	if got := d.send("PUT", "/cities/1", "\xef\xbb\xbf{\"a\":1}"); got.status != 202 || string(d.changes()[0].Body) != `{"a":1}` {
		t.Errorf("a body with a byte order mark is answered %+v, want 202", got)
	}
}

func TestCityNamedByItsCode(t *testing.T) {
	d := open(t, nil)
	d.send("PUT", "/cities/lon", `{"id":130,"code":"LON"}`)
	d.send("PUT", "/cities/131", `{"id":130,"code":"LON"}`)
	d.send("PUT", "/cities/LON", `{"code":"LON"}`)
	d.send("PUT", "/advisories/LON", `{"id":130,"code":"LON"}`)
	d.send("PUT", "/cities/AAA", `{"id":2}`)
	d.send("PUT", "/cities/1", `{"code":null}`)
	d.send("PUT", "/cities/1", `{"iata":""}`)
	for i, want := range []report.Change{
		{Key: report.Key{Kind: report.Cities, ID: "lon"}, Code: "LON", OwnID: "130"},
		{Key: report.Key{Kind: report.Cities, ID: "131"}, Code: "LON", OwnID: "130"},
		{Key: report.Key{Kind: report.Cities, ID: "LON"}, Code: "LON"},
		{Key: report.Key{Kind: report.Advisories, ID: "LON"}},
		{Key: report.Key{Kind: report.Cities, ID: "AAA"}, OwnID: "2"},
		{Key: report.Key{Kind: report.Cities, ID: "1"}, NoCode: true},
		{Key: report.Key{Kind: report.Cities, ID: "1"}, NoCode: true},
	} {
		got := d.changes()[i]
		if got.Key != want.Key || got.Code != want.Code || got.NoCode != want.NoCode || got.OwnID != want.OwnID {
			t.Errorf("change %d: %+v, want %+v", i, got, want)
		}
	}
}

// A record is for the document of its own id, even if that is the code of another city.
func TestRecordIsForItsOwnID(t *testing.T) {
	d := open(t, nil)
	d.send("POST", "/cities", `[{"id":"PER","code":"AUS"},{"id":"ulm"},{"id":"LON","code":"lon"},{"code":"mex"},{"id":null,"iata":"ROM"}]`)
	d.send("POST", "/cities", `{"id":"PER","code":"AUS"}`)
	d.send("PUT", "/cities/PER", `{"id":"PER","code":"AUS"}`)
	for i, want := range []report.Change{
		{Key: report.Key{Kind: report.Cities, ID: "PER"}, Code: "AUS", OwnID: "PER"},
		{Key: report.Key{Kind: report.Cities, ID: "ulm"}, OwnID: "ulm"},
		{Key: report.Key{Kind: report.Cities, ID: "LON"}, Code: "LON", OwnID: "LON"},
		{Key: report.Key{Kind: report.Cities, ID: "mex"}, Code: "MEX"},
		{Key: report.Key{Kind: report.Cities, ID: "ROM"}, Code: "ROM"},
		{Key: report.Key{Kind: report.Cities, ID: "PER"}, Code: "AUS", OwnID: "PER"},
		{Key: report.Key{Kind: report.Cities, ID: "PER"}, Code: "AUS", OwnID: "PER"},
	} {
		got := d.changes()[i]
		if got.Key != want.Key || got.Code != want.Code || got.OwnID != want.OwnID {
			t.Errorf("change %d: %+v, want %+v", i, got, want)
		}
	}
}

// A snapshot whose ids are codes of other cities gives the same cities each time.
func TestSnapshotComesTwice(t *testing.T) {
	g := guard(t, auth.Config{})
	const snapshot = `{"cities":[{"id":"LIM","code":"PER"},{"id":"PER","code":"AUS"},{"id":"MEX","code":"MEX"},{"id":"n1","code":"ULM"},{"id":"ulm"}]}`
	for range 2 {
		if got := g.send("POST", "/cities", snapshot); got.status != 202 || got.Accepted != 5 {
			t.Fatalf("the snapshot is answered %+v, want 5 accepted", got)
		}
	}
	changes, err := g.journal.Claim(t.Context(), report.Cities, 100, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if want := fmt.Sprintf(`{"id":%q`, c.ID); !strings.HasPrefix(string(c.Body), want) {
			t.Errorf("%s has the body %s", c.ID, c.Body)
		}
	}
	if len(changes) != 5 {
		t.Errorf("%d cities are there, want 5", len(changes))
	}
}

func TestNotDurableIsNotAccepted(t *testing.T) {
	d := open(t, nil)
	d.err = errors.New("disk full")
	for _, call := range [][3]string{{"POST", "/cities", `{"id":1}`}, {"PUT", "/cities/1", `{"t":1}`}, {"DELETE", "/cities/1", ``}} {
		got := d.send(call[0], call[1], call[2])
		if got.status != 503 || got.header.Get("Retry-After") == "" || strings.Contains(got.Detail, "disk full") {
			t.Errorf("%s %s is answered %+v, want 503 with Retry-After", call[0], call[1], got)
		}
	}
	// A delivery that is refused while the journal is away is answered as refused.
	if got := d.send("POST", "/cities", `{`); got.status != 400 {
		t.Errorf("an invalid delivery while the journal is away is answered %d", got.status)
	}
}

func TestSnapshotOf300(t *testing.T) {
	d := open(t, nil)
	var body strings.Builder
	body.WriteString(`{"meta":{"count":300},"cities":[`)
	for i := range 300 {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"id":%d,"text":"%s"}`, i, strings.Repeat("x", 40_000))
	}
	body.WriteString(`]}`)
	if got := d.send("POST", "/cities", body.String()); got.status != 202 || got.Accepted != 300 {
		t.Fatalf("the snapshot is answered %+v, want 300 accepted", got)
	}
	if len(d.deliveries) != 1 || len(d.deliveries[0].Changes) != 300 {
		t.Error("the snapshot did not reach the journal as one delivery")
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"pointer without a slash": func(c *Config) { c.IDs = map[report.Kind][]string{report.Cities: {"id"}} },
		"pointer to all":          func(c *Config) { c.Codes = []string{""} },
		"bad escape in a pointer": func(c *Config) { c.Records = map[report.Kind][]string{report.Cities: {"/~2"}} },
		"wildcard prefix":         func(c *Config) { c.Prefix = "/:x" },
		"no body at all":          func(c *Config) { c.MaxBody = 0 },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		if _, err := New(cfg, &recorder{}, time.Now, prometheus.NewRegistry(), slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: the configuration was accepted", name)
		}
	}
}

func TestNeverARedirect(t *testing.T) {
	d := open(t, func(c *Config) { c.Prefix = "/api/" })
	for _, path := range []string{"/api/cities/", "/api//cities", "/API/cities", "/api/../api/cities", "/api", "/api/", "/cities", "/api/cities?x=1", "/api/cities/%2F/"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead} {
			req, err := http.NewRequest(method, d.url+path, strings.NewReader(`{"id":1}`))
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode/100 == 3 {
				t.Errorf("%s %s is answered with the redirect %d", method, path, res.StatusCode)
			}
		}
	}
}
