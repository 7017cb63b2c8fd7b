package exportline

import (
	"bytes"
	"strings"
	"testing"

	"riskdex/report"
)

func record(id, body string) report.Record {
	return report.Record{Change: report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Body: []byte(body)}}
}

func TestLineKeepsTheRecord(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":1}`: `{"a":1}`,
		"{\r\n  \"a\": 1.50,\n  \"b\": \"\\n <&> \u2028\"\n}": "{    \"a\": 1.50,   \"b\": \"\\n <&> \u2028\" }",
		`{"half":"\ud800","twice":1e400}`:                     `{"half":"\ud800","twice":1e400}`,
	} {
		for _, id := range []string{"130", `a/"b"`, "São\nPaulo\u2028", strings.Repeat("é", 256)} {
			r := record(id, body)
			line := Append([]byte("before"), r)[len("before"):]
			if bytes.Count(line, []byte("\n")) != 1 || !bytes.HasSuffix(line, []byte("}\n")) {
				t.Errorf("%q is not one line", line)
			}
			got, err := Parse(line)
			if err != nil || got.Key != r.Key || string(got.Record) != want {
				t.Errorf("%q became %+v, %v", line, got, err)
			}
			if string(r.Body) != body {
				t.Errorf("the record was changed to %q", r.Body)
			}
		}
	}
}

func TestLineNamesTheCode(t *testing.T) {
	r := record("130", `{}`)
	r.Code = "LON"
	if got := string(Append(nil, r)); got != "{\"kind\":\"cities\",\"id\":\"130\",\"record\":{}}\n" {
		t.Error(got)
	}
	r.HasCode = true
	if got := string(Append(nil, r)); got != "{\"kind\":\"cities\",\"id\":\"130\",\"code\":\"LON\",\"record\":{}}\n" {
		t.Error(got)
	}
	if got, err := Parse(Append(nil, r)); err != nil || got.Code != "LON" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParseSaysWhatIsMissing(t *testing.T) {
	for line, want := range map[string]string{
		``:                                      "not a JSON object of an export",
		`{"kind":"cities","id":"1","record":{}`: "not a JSON object of an export",
		`{"kind":"towns","id":"1","record":{}}`: "no kind is called",
		`{"kind":"cities","record":{}}`:         "no id",
		`{"kind":"cities","id":"","record":{}}`: "id is empty",
		`{"kind":"cities","id":"1"}`:            "no record",
		`{"name":"London"}`:                     "no kind is called",
	} {
		if _, err := Parse([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
