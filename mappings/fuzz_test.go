package mappings

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// FuzzAppendDocument: for any record, there is either a document of one line of JSON that
// Elasticsearch accepts, whose source equals the record, or an error because the record
// itself is not such JSON.
func FuzzAppendDocument(f *testing.F) {
	for _, c := range golden(f) {
		f.Add(c.Body, "LON")
	}
	for _, body := range []string{
		`{"title":"a\nb","risk_level":[[]],"geo":{"type":"Polygon","coordinates":[[["1"]]]}}`,
		`{"geo":{"coordinates":[[[170,1],[-170,1],[-170,2],[170,1]]]},"cities":[[],{},"",null,1]}`,
		`{"body":"<p", "text":"&lt;p&gt;a<!--", "summary":"<x></x><script>", "advice":"a\u0000b\u00adc"}`,
		`{"duration":{"end_date":9e99},"starts_at":1e11,"published":"0000-01-01","updated":"9999-12-31"}`,
		`{"Title":1,"title":true,"TITLE":"x","location":"1e400,2","airports":",,;"}`,
		`{"text":"\ud800 half","\udfff":1}`,
		`{"title":"⚠️ flood","text":"ֵ war 1️⃣","headline":"️"}`,
		"{\"file\":\"JVBERi0\",\"\\u0069d\":\"\u2029\"}\n",
	} {
		f.Add([]byte(body), "")
	}
	for _, record := range shapeRecords(f) {
		f.Add(record, "")
	}
	s := builtinSet(f)
	f.Fuzz(func(t *testing.T, body []byte, code string) {
		c := change(report.Kinds()[len(body)%len(report.Kinds())], "1", string(body))
		c.Code = code
		kept := bytes.Clone(body)
		doc, unfit, err := s.AppendDocument(nil, c)
		for _, name := range unfit {
			if !slices.Contains(s.Unfit(c.Kind), name) {
				t.Fatalf("%s is left empty, which Unfit does not list", name)
			}
		}
		if !bytes.Equal(body, kept) {
			t.Fatal("the body was changed")
		}
		valid := utf8.Valid(body) && jsontext.Value(body).IsValid(jsontext.AllowInvalidUTF8(true))
		if err != nil {
			if valid && !bytes.Contains(body, []byte("[[[[")) && code == "" {
				t.Fatalf("valid, but refused: %v", err)
			}
			return
		}
		if !valid {
			t.Fatal("invalid, but accepted")
		}
		if bytes.ContainsAny(doc, "\n\r") || !utf8.Valid(doc) || !jsontext.Value(doc).IsValid(jsontext.AllowInvalidUTF8(true)) {
			t.Fatalf("not one line of valid JSON: %q", doc)
		}
		var got struct{ Source jsontext.Value }
		if err := json.Unmarshal(doc, &got, json.MatchCaseInsensitiveNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
			t.Fatal(err)
		}
		var source, delivered any
		if err := json.Unmarshal(got.Source, &source, jsontext.AllowInvalidUTF8(true)); err != nil {
			return // a number that Go cannot hold
		}
		if err := json.Unmarshal(body, &delivered, jsontext.AllowInvalidUTF8(true)); err != nil || !reflect.DeepEqual(source, delivered) {
			t.Fatalf("source is %s, %v", got.Source, err)
		}
	})
}
