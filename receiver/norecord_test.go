package receiver

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
	"riskdex/receiver/auth"
	"riskdex/report"
)

// A body that is not a report does not replace one, and the sender is told what it is.
func TestNothingReplacesAReport(t *testing.T) {
	g := guard(t, auth.Config{})
	if got := g.send("PUT", "/cities/1", `{"id":1,"text":"the report"}`); got.status != 202 {
		t.Fatal(got)
	}
	for body, says := range map[string]string{
		`{}`:                                  "an empty object",
		` [] `:                                "an empty list",
		`""`:                                  "a text",
		`"all is calm"`:                       "a text",
		`1`:                                   "a number",
		`-1.5e3`:                              "a number",
		`true`:                                "true or false",
		`null`:                                "null",
		`"{\"id\":1,\"text\":\"x\"}"`:         "encoded twice?",
		`"[{\"id\":1}]"`:                      "encoded twice?",
		`"\n {\"id\":1} "`:                    "encoded twice?",
		`"\"{\\\"id\\\":1}\""`:                "encoded twice?",
		`[{}]`:                                "an empty object",
		`[{},{}]`:                             "an empty object",
		`[null,1]`:                            "null",
		`[[{"id":1}]]`:                        "a list",
		`{"city":{}}`:                         "an empty object",
		`{"cities":[]}`:                       "an empty list",
		`{"data":{"cities":[]},"meta":{}}`:    "an empty list",
		`{"data":""}`:                         "",
		`{"data":"{\"id\":1}","meta":{}}`:     "encoded twice?",
		`{"data":null}`:                       "null",
		`{"a":null}`:                          "null",
		`{"payload":[null,null],"count":2}`:   "null",
		`{"city_report":[],"version":"1.00"}`: "an empty list",
	} {
		before := len(g.kept())
		got := g.send("PUT", "/cities/1", body)
		if got.status != 422 || got.Reason != reasonNoRecord || !strings.Contains(got.Detail, says) || !strings.Contains(got.Detail, "DELETE") {
			t.Errorf("PUT %s is answered %+v", body, got)
		}
		if kept := g.kept(); len(kept) != before+1 || kept[0].Bytes != len(body) || kept[0].ID != "1" {
			t.Errorf("PUT %s: kept %+v", body, kept)
		}
	}
	for body, says := range map[string]string{
		`1`: "a number", `"x"`: "a text", `"{\"id\":1}"`: "encoded twice?", `null`: "null", `[[]]`: "an empty list", `[[{"id":1}]]`: "a list", `[true]`: "true or false",
	} {
		if got := g.send("POST", "/cities", body); got.status != 422 || got.Reason != reasonNoRecord || len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Detail, says) {
			t.Errorf("POST %s is answered %+v", body, got)
		}
	}
	if got := g.send("POST", "/cities", `[{"id":2},"{\"id\":3}",{},4]`); got.status != 202 || got.Accepted != 1 || len(got.Refused) != 3 ||
		got.Refused[0].Reason != reasonNoRecord || got.Refused[1].Reason != reasonNoID || got.Refused[2].Reason != reasonNoRecord {
		t.Errorf("beside a record: answered %+v, want one accepted and three refused", got)
	}
	// These have content, whatever it is.
	for _, body := range []string{`[{"a":1},{"b":2}]`, `{"city":"London"}`, `{"items":[1,2]}`, `{"data":"[draft] as of [today]"}`, `{"payload":["{\"id\":1}"]}`, `{"title":"x","cities":[]}`} {
		if got := g.send("PUT", "/cities/9", body); got.status != 202 {
			t.Errorf("PUT %s is answered %+v", body, got)
		}
	}
	changes, err := g.journal.Claim(t.Context(), report.Cities, 100, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.ID == "1" && string(c.Body) != `{"id":1,"text":"the report"}` {
			t.Errorf("the report is now %s", c.Body)
		}
	}
}

// An empty snapshot is a delivery like any other: it is durable, acknowledged and logged,
// and changes nothing.
func TestEmptySnapshot(t *testing.T) {
	for _, signed := range []bool{false, true} {
		cfg := auth.Config{}
		if signed {
			cfg.WebhookFiles = secretFile(t, webhookKey)
		}
		g := guard(t, cfg)
		for id, body := range map[string]string{
			"a": `[]`, "b": `{"advisories":[]}`, "c": `{"data":[],"meta":{"count":0}}`, "d": `{"data":{"advisories":[]}}`, "e": `[{"advisories":[]}]`,
			"f": `{"generated_at":"x","advisories":[]}`, "g": `{"generatedAt":"x","data":{"generated":1,"advisories":[]}}`,
		} {
			for range 2 { // a repeat is answered like the first one
				if got := g.signed("POST", "/advisories", id, body); got.status != 202 || got.Accepted != 0 || got.Refused == nil || len(got.Refused) != 0 {
					t.Errorf("POST %s is answered %+v", body, got)
				}
			}
		}
		if n := g.accepted(); n != 0 || len(g.kept()) != 0 {
			t.Errorf("%d changes and %d refusals, want none", n, len(g.kept()))
		}
		if !strings.Contains(g.log.String(), "holds no records") {
			t.Errorf("the log does not mention the empty snapshot:\n%s", g.log)
		}
		// A body that may be a record is not an empty snapshot.
		for _, body := range []string{`{"title":"x","items":[]}`, `{"advisories":null}`, `{"advisories":{}}`, `{}`, `[{}]`} {
			if got := g.signed("POST", "/advisories", "x"+body[:2], body); got.status != 422 && got.status != 409 {
				t.Errorf("POST %s is answered %+v", body, got)
			}
		}
	}
}

// If the place of records is configured, an empty list there is an empty snapshot as
// well.
func TestEmptySnapshotAtAStatedPlace(t *testing.T) {
	d := open(t, func(c *Config) { c.Records = map[report.Kind][]string{report.Advisories: {"/countries"}} })
	if got := d.send("POST", "/advisories", `{"generated":"today","countries":[]}`); got.status != 202 || got.Accepted != 0 {
		t.Errorf("POST is answered %+v, want 202 with none accepted", got)
	}
	if got := d.send("PUT", "/advisories/1", `{"generated":"today","countries":[]}`); got.status != 422 || got.Reason != reasonNoRecord {
		t.Errorf("PUT is answered %+v, want 422", got)
	}
}

// A form, a page or XML is reported as such, not as broken JSON.
func TestOtherMediaTypes(t *testing.T) {
	d := open(t, nil)
	const form, multipart = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
	for name, c := range map[string]struct {
		kind, body string
		status     int
		reason     string
		says       string
	}{
		"a form":                   {form, `title=London&id=130`, 415, reasonType, form},
		"a file in a form":         {multipart, "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n{\"id\":1}\r\n--x--\r\n", 415, reasonType, "multipart/form-data"},
		"XML":                      {"text/xml; charset=utf-8", `<city id="1"/>`, 415, reasonType, "text/xml"},
		"a type that is none":      {"Form;;", `title=London`, 415, reasonType, `"form"`},
		"a very long type":         {"a/" + strings.Repeat("b", 200), `title=London`, 415, reasonType, "…"},
		"curl -d, and right":       {form, `{"id":1}`, 202, "", ""},
		"curl -d, and broken":      {form, `{"id":1,}`, 400, reasonJSON, "at byte"},
		"curl -d, and empty":       {form, ``, 400, reasonJSON, "empty"},
		"JSON that is none":        {"application/json", `title=London`, 400, reasonJSON, "does not begin like JSON"},
		"problem+json":             {"application/vnd.api+json", `tutle`, 400, reasonJSON, "does not begin like JSON"},
		"text":                     {"text/plain", `title=London`, 400, reasonJSON, "does not begin like JSON"},
		"nothing said":             {"", `title=London`, 400, reasonJSON, "does not begin like JSON"},
		"gzip, not said":           {"application/json", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 400, reasonJSON, "Content-Encoding: gzip"},
		"gzip, said as a type":     {"application/gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 400, reasonJSON, "Content-Encoding: gzip"},
		"XML, called JSON, zipped": {"application/json", `<city/>`, 400, reasonJSON, "does not begin like JSON"},
	} {
		for method, path := range map[string]string{"POST": "/cities", "PUT": "/cities/130"} {
			got := d.send(method, path, c.body, "Content-Type", c.kind)
			if got.status != c.status || got.Reason != c.reason || !strings.Contains(got.Detail, c.says) || strings.Contains(got.Detail, `""`) || strings.Contains(got.Detail, "literal") {
				t.Errorf("%s by %s is answered %+v", name, method, got)
			}
			if c.status == 415 && !strings.Contains(got.Detail, "application/json") {
				t.Errorf("%s: the answer does not say what is wanted: %s", name, got.Detail)
			}
		}
	}
	for _, kept := range d.refusals() {
		if kept.Cut {
			t.Errorf("not everything of the refusal is kept: %+v", kept)
		}
	}
}

// Only a body that breaks off may be complete at the next attempt.
func TestGzipThatIsNone(t *testing.T) {
	d := open(t, func(c *Config) { c.MaxBody = 1 << 20 })
	long := `{"id":1,"t":"` + strings.Repeat("x", 100_000) + `"}`
	whole := gzipped(t, long)
	half := len(long) / 2
	for name, c := range map[string]struct {
		body   string
		status int
		reason string
	}{
		"plain JSON":                  {long, 400, reasonGzip},
		"little plain JSON":           {`{}`, 400, reasonGzip},
		"a byte of it":                {`1`, 400, reasonGzip},
		"followed by a byte":          {whole + "x", 400, reasonGzip},
		"followed by few bytes":       {whole + "\r\n", 400, reasonGzip},
		"followed by many bytes":      {whole + long, 400, reasonGzip},
		"followed by zeros":           {whole + strings.Repeat("\x00", 512), 400, reasonGzip},
		"another method than deflate": {"\x1f\x8b\x07" + whole[3:], 400, reasonGzip},
		"breaks off":                  {whole[:len(whole)-9], 400, reasonTruncated},
		"breaks off in its header":    {whole[:5], 400, reasonTruncated},
		"breaks off after a byte":     {whole[:1], 400, reasonTruncated},
		"a second breaks off":         {whole + whole[:12], 400, reasonTruncated},
		"a second hardly begins":      {whole + whole[:1], 400, reasonTruncated},
		"nothing":                     {"", 400, reasonJSON},
		"two members":                 {gzipped(t, long[:half]) + gzipped(t, long[half:]), 202, ""},
		"with an empty one":           {gzipped(t, "") + whole + gzipped(t, ""), 202, ""},
	} {
		got := d.send("PUT", "/cities/1", c.body, "Content-Encoding", "gzip")
		if got.status != c.status || got.Reason != c.reason || (c.reason == reasonTruncated) != strings.Contains(got.Detail, "send it again") {
			t.Errorf("%s: %d %s %s, want %d %s", name, got.status, got.Reason, got.Detail, c.status, c.reason)
		}
	}
	for _, c := range d.changes() {
		if string(c.Body) != long {
			t.Errorf("a body was accepted with %d of its %d bytes", len(c.Body), len(long))
		}
	}
}

func TestHalfASurrogatePairIsNoID(t *testing.T) {
	g := guard(t, auth.Config{})
	for _, body := range []string{`{"id":"\ud800"}`, `{"code":"\udc00x"}`} {
		got := g.send("POST", "/cities", body)
		if got.status != 422 || got.Reason != reasonIDInvalid || !strings.Contains(got.Detail, "surrogate") || strings.Contains(got.Detail, "holds no number") {
			t.Errorf("%s is answered %+v, want 422 that names the surrogate", body, got)
		}
	}
	if got := g.send("POST", "/cities", `{"id":"\ud83d\ude00\ufffd"}`); got.status != 202 {
		t.Errorf("a complete surrogate pair is answered %+v, want 202", got)
	}
	if kept := g.kept(); len(kept) != 2 || kept[1].ID != "\ufffd" {
		t.Errorf("kept %+v, want both refusals", kept)
	}
}

func TestListIsPointedAt(t *testing.T) {
	d := open(t, nil)
	list := "[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"places":[{},{},{}]},`, 860), ",") + "]"
	for body, says := range map[string]string{
		`{"name":"x","places":` + list + `}`:                          "list of 860 objects at /places: if those are the records, the operator can say so with --records cities=/places.",
		`{"result":{"a/b~":` + list + `},"title":"x"}`:                "--records cities=/result/a~1b~0.",
		`{"title":"x","notes":["a","b"]}`:                             "",
		`{"a":{"b":{"c":{"d":{"e":[{}]}}}}}`:                          "",
		`[{"title":"x","places":[{"name":"y"}]},{"title":"another"}]`: "",
	} {
		got := d.send("POST", "/cities", body)
		if got.status != 422 || got.Reason != reasonNoID || says == "" && strings.Contains(got.Detail, "--records") || !strings.Contains(got.Detail, says) {
			t.Errorf("%.50s is answered %d %s %s", body, got.status, got.Reason, got.Detail)
		}
	}
	// The advice in the answer works.
	d = open(t, func(c *Config) { c.Records = map[report.Kind][]string{report.Cities: {"/places"}} })
	if got := d.send("POST", "/cities", `{"name":"x","places":`+list+`}`); got.status != 202 || got.Accepted != 860 {
		t.Errorf("with the advised --records: %+v, want 860 accepted", got)
	}
}

func TestUnknownPathSaysWhatWasMeant(t *testing.T) {
	for _, prefix := range []string{"", "/api/v1"} {
		d := open(t, func(c *Config) { c.Prefix = prefix })
		for path, meant := range map[string]string{
			prefix + "/cities/":                     prefix + "/cities",
			prefix + "/cities/130/":                 prefix + "/cities/130",
			prefix + "/city":                        prefix + "/cities",
			prefix + "/city/130":                    prefix + "/cities/130",
			prefix + "/advisory/a%2Fb":              prefix + "/advisories/a%2Fb",
			prefix + "/special-report/1":            prefix + "/special-reports/1",
			prefix + "/special_reports/1":           prefix + "/special-reports/1",
			prefix + "/specialReports":              prefix + "/special-reports",
			prefix + "/Cities":                      prefix + "/cities",
			prefix + "//cities":                     prefix + "/cities",
			prefix + "/countries":                   "",
			prefix + "/cities/1/2":                  "",
			prefix + "/":                            "",
			prefix + "/x" + strings.Repeat("y", 99): "",
		} {
			got := d.send("POST", path, `{"id":1}`)
			if got.status != 404 || got.Reason != reasonPath || !strings.Contains(got.Detail, "special-reports") ||
				strings.Contains(got.Detail, "meant") != (meant != "") || meant != "" && !strings.Contains(got.Detail, " Was "+meant+" meant?") {
				t.Errorf("%s: %d %s %s, want %s", path, got.status, got.Reason, got.Detail, meant)
			}
		}
	}
	// Every path under a wrong prefix gets the same message, so that the log can group
	// them.
	d, said := open(t, func(c *Config) { c.Prefix = "/api" }), map[string]bool{}
	for _, path := range []string{"/cities/1", "/cities", "/advisories/2", "/api/v2/cities/130", "/v1/special-report"} {
		got := d.send("PUT", path, `{"id":1}`)
		if got.status != 404 || !strings.Contains(got.Detail, "What stands before the collection is wrong. Deliveries go to /api/cities") {
			t.Errorf("%s is answered %+v, want 404 that names the prefix", path, got)
		}
		said[got.Detail] = true
	}
	if len(said) != 1 {
		t.Errorf("the messages are %v, want one", said)
	}
}

// Allow has exactly the methods that the path allows.
func TestAllowIsTrue(t *testing.T) {
	d := open(t, nil)
	for path, want := range map[string]string{"/cities": "POST", "/cities/1": "DELETE, PUT"} {
		for _, method := range []string{"OPTIONS", "PATCH", "GET"} {
			got := d.send(method, path, "")
			if got.status != 405 || got.header.Get("Allow") != want || strings.Contains(got.Detail, `takes OPTIONS`) {
				t.Errorf("%s %s: %d, Allow %q, want %q", method, path, got.status, got.header.Get("Allow"), want)
			}
		}
		for method := range strings.SplitSeq(want, ", ") {
			if got := d.send(method, path, `{"id":1}`); got.status != 202 {
				t.Errorf("%s %s is in Allow, but is answered %+v", method, path, got)
			}
		}
	}
}

func TestUnknownPathIsLogged(t *testing.T) {
	g := guard(t, auth.Config{})
	g.send("POST", "/v7/citys%0Ax", `{"id":1}`)
	if log := g.log.String(); !strings.Contains(log, "reason=unknown_path") || !strings.Contains(log, "path=/v7/citys%0Ax") {
		t.Errorf("the log lacks a line:\n%s", log)
	}
}

// TestRefusedBodyIsReadToItsEnd: the answer to a body that is refused at its first byte comes
// after the rest, which is not long, so that the sender finds the answer and not a closed
// connection.
func TestRefusedBodyIsReadToItsEnd(t *testing.T) {
	d := open(t, nil)
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	t.Cleanup(client.CloseIdleConnections)
	for i := range 3 {
		reused := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }})
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, d.url+"/cities/1", strings.NewReader(strings.Repeat("x", 200_000)))
		require.NoError(t, err)
		req.Header.Set("Content-Encoding", "gzip")
		res, err := client.Do(req)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, errors.Join(err, res.Body.Close()))
		if res.StatusCode != http.StatusBadRequest || i > 0 && !reused {
			t.Errorf("request %d: status %d; the connection before it is in use again: %v", i, res.StatusCode, reused)
		}
	}
}
