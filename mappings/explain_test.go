package mappings

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

func TestExplain(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct {
		record string
		want   []string // field, value and pointer, after ! if it was left out
	}{
		{`{"title":true,"Name":"Oslo"}`, []string{`title "Oslo" /Name`, `country "NO" `}},
		{`{"title":true}`, []string{`! title true /title`}},
		{`{"title": {"en" : [1, 2]}}`, []string{`! title [1, 2] /title/en`}},
		{`{"country":"Nowhere"}`, []string{`! country "Nowhere" /country`}},
		{`{"country":"Norway"}`, []string{`country "NO" /country`}},
		{`{"country":"Nowhere","country_code":"no"}`, []string{`country "NO" /country_code`}},
		{`{"countries":["fr","FR","be"]}`, []string{`country "FR" /countries/0`, `country "BE" /countries/2`}},
		{`{"risk_level":{"id":9,"name":"dire"}}`, []string{`risk_label "dire" /risk_level/name`, `! risk_level 9 /risk_level/id`, `! risk_level "dire" /risk_level/name`}},
		{`{"airports":[{"code":"OSL"},{"co\u0064e":"Torp"}]}`, []string{`airports "OSL" /airports/0/code`, `! airports "Torp" /airports/1/code`}},
		{`{"airports":"OSL,TRF,Moss"}`, []string{`airports "OSL","TRF" /airports`, `! airports "OSL,TRF,Moss" /airports`}},
		{`{"attributes":{"start_date":"soon","end_date" : "2026-01-02"}}`, []string{`! starts_at "soon" /attributes/start_date`, `ends_at "2026-01-02T23:59:59Z" /attributes/end_date`}},
		{`{"geo":{"lat":91,"lng":0},"a\"b~/c\\":"x"}`, []string{`! location {"lat":91,"lng":0} /geo`}},
		{`{"regions":[{"name":"R"},{"name":"\ud800","geo":{"lat":1,"lng":"x"}}]}`,
			[]string{`places.name "R" /regions/0/name`, "places.name \"\ufffd\" /regions/1/name", `! places.location {"lat":1,"lng":"x"} /regions/1/geo`}},
		{`[1,[2]]`, nil},
	} {
		fields, err := s.Explain(report.Cities, []byte(c.record))
		if err != nil {
			t.Fatalf("%s: %v", c.record, err)
		}
		var got []string
		for _, f := range fields {
			if f.Field == "text" {
				continue
			}
			line := fmt.Sprintf("%s %s %s", f.Field, f.Value, f.Pointer)
			if f.Reason != "" {
				line = "! " + line
			}
			got = append(got, line)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s is explained as\n%s\nwant\n%s", c.record, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	if _, err := s.Explain(report.Cities, []byte("{")); err == nil {
		t.Error("no error for invalid JSON")
	}
	if _, err := s.Explain("countries", []byte("{}")); err == nil {
		t.Error("no error for an unknown kind")
	}
}

// TestExplainAgrees: for every published shape, what is explained is what is in the
// document, value by value, and what is explained as left out is what is counted.
func TestExplainAgrees(t *testing.T) {
	s := builtinSet(t)
	records := golden(t)
	records["many misfits"] = change(report.Cities, "1", `{"title":{"a":1},"country":"x","risk_level":9,"airports":"ABCD","cities":[{"name":true}],
		"geo":{"lat":99,"lng":9},"summary":"JVBERi0xLjQ","start_date":"x","end_date":{"b":[]},"published":"x","updated":true}`)
	for name, c := range records {
		doc, unfit, err := s.AppendDocument(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		explained, err := s.Explain(c.Kind, c.Body)
		if err != nil {
			t.Fatal(err)
		}
		var leftOut []string
		in := map[string]bool{}
		for _, f := range explained {
			field, _, _ := strings.Cut(f.Field, ".")
			if f.Reason == "" {
				in[field] = true
				if !bytes.Contains(doc, f.Value) {
					t.Errorf("%s: %s %s is not in the document", name, f.Field, f.Value)
				}
				continue
			}
			if f.Field != "text" && takes(f.Field) == "" {
				t.Errorf("Explain does not say what %s accepts", f.Field)
			}
			if !slices.Contains(leftOut, field) {
				leftOut = append(leftOut, field)
			}
		}
		if !slices.Equal(leftOut, unfit) {
			t.Errorf("%s: left out %v, counted %v", name, leftOut, unfit)
		}
		var fields map[string]jsontext.Value
		if err := json.Unmarshal(doc, &fields); err != nil {
			t.Fatal(err)
		}
		for _, ours := range []string{"id", "kind", "received_at", "version", "source", "country_name", "names_known", "city_names_known", "region_names_known", "codes_known", "country_names_known", "country_alpha3", "whole_country", "prominence"} {
			delete(fields, ours)
		}
		for field := range fields {
			if !in[field] {
				t.Errorf("%s: the source of %s is missing", name, field)
			}
		}
	}
}

// TestLeftOutNamesAreFields: every field that riskdex_fields_left_out_total counts is in
// the index and in docs/search.md.
func TestLeftOutNamesAreFields(t *testing.T) {
	s := builtinSet(t)
	var index struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	mapping, err := json.Marshal(s.index.Mappings)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(mapping, &index); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/search.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, wrong := range []string{`true`, `"\u0001\u0002\u0003\u0004\u0005\u0006"`, `{"x":1}`, `-1`, `"` + strings.Repeat("x ", 1000) + `"`} {
		var body strings.Builder
		for _, name := range []string{"code", "title", "aliases", "country", "risk_level", "risk_label", "airports", "geo", "summary",
			"start_date", "end_date", "published", "updated"} {
			fmt.Fprintf(&body, `"%s":%s,`, name, wrong)
		}
		record := "{" + body.String() + `"cities":[{"name":` + wrong + `,"geo":true}]}`
		_, unfit, err := s.AppendDocument(nil, change(report.Cities, "1", record))
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range unfit {
			all[field] = true
			if index.Properties[field] == nil {
				t.Errorf("%s is not a field of the index", field)
			}
			if !bytes.Contains(page, []byte("`"+field+"`")) {
				t.Errorf("docs/search.md does not have %s", field)
			}
		}
	}
	if len(all) != 14 { // all fields above, and places
		t.Errorf("these fields were left out: %v", all)
	}
}
