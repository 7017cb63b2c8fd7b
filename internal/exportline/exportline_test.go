package exportline

import (
	"bytes"
	"strings"
	"testing"
	"time"

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

func TestLineWithItsVersion(t *testing.T) {
	r := record("130", `{}`)
	r.Code, r.HasCode, r.Version, r.AcceptedAt = "LON", true, 7, time.Date(2026, 11, 23, 10, 0, 0, 5000, time.UTC)
	line := AppendVersion(nil, r)
	if want := `{"kind":"cities","id":"130","code":"LON","version":7,"accepted_at":"2026-11-23T10:00:00.000005Z","record":{}}` + "\n"; string(line) != want {
		t.Errorf("%s, want %s", line, want)
	}
	for _, parse := range []func([]byte) (Line, error){Parse, ParseVersion} {
		if got, err := parse(line); err != nil || got.Version != 7 || !got.AcceptedAt.Equal(r.AcceptedAt) || string(got.Record) != "{}" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	r.Identity = &report.Identity{Place: 6, Naming: report.Naming{Kept: 5, CodeOnly: true}}
	if got, err := ParseVersion(AppendVersion(nil, r)); err != nil || got.Identity == nil || *got.Identity != *r.Identity {
		t.Errorf("the identity became %+v, %v", got.Identity, err)
	}
	r.Body, r.Lost = nil, report.LostDamaged
	line = AppendVersion(nil, r)
	if got, err := ParseVersion(line); err != nil || got.Lost != report.LostDamaged || got.Record != nil || got.Version != 7 {
		t.Errorf("%s became %+v, %v", line, got, err)
	}
	if _, err := Parse(line); err == nil {
		t.Error("a line without a record passes for an export's")
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
