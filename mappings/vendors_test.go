package mappings

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// vendorShape is a file of testdata/shapes: a record as a vendor may send it, and the document
// that a person expects of it. The expectations were written before the code that meets them.
type vendorShape struct {
	About   string                    `json:"about"`
	Kind    report.Kind               `json:"kind"`
	ID      *string                   `json:"id"` // if the record states one; for a test of cmd/riskdex
	Record  jsontext.Value            `json:"record"`
	Want    map[string]jsontext.Value `json:"want"`     // values of fields; null for one that is not there
	Unfit   []string                  `json:"unfit"`    // fields that are left out
	Text    []string                  `json:"text"`     // paragraphs of the text
	NotText []string                  `json:"not_text"` // what the text must not have
}

// shapeRecords returns the records of testdata/shapes.
func shapeRecords(t testing.TB) (records [][]byte) {
	t.Helper()
	files, err := filepath.Glob("testdata/shapes/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var shape vendorShape
		if err := json.Unmarshal(text, &shape); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		records = append(records, shape.Record)
	}
	return records
}

// TestVendorShapes makes documents of records whose shapes no mapping file has patterns for.
func TestVendorShapes(t *testing.T) {
	s := builtinSet(t)
	files, err := filepath.Glob("testdata/shapes/*.json")
	if err != nil || len(files) < 14 {
		t.Fatalf("testdata/shapes has %d files (%v), want 14 or more", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var shape vendorShape
		if err := json.Unmarshal(text, &shape, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		doc, unfit, err := s.AppendDocument(nil, change(shape.Kind, "1", string(shape.Record)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var fields map[string]jsontext.Value
		if err := json.Unmarshal(doc, &fields); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name, want := range shape.Want {
			var got, wanted any
			if fields[name] != nil {
				if err := json.Unmarshal(fields[name], &got); err != nil {
					t.Fatal(err)
				}
			}
			if err := json.Unmarshal(want, &wanted); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, wanted) {
				t.Errorf("%s: %s is %s, want %s", file, name, fields[name], want)
			}
		}
		if !slices.Equal(unfit, shape.Unfit) {
			t.Errorf("%s: left out %v, want %v", file, unfit, shape.Unfit)
		}
		var prose string
		if err := json.Unmarshal(fields["text"], &prose); fields["text"] != nil && err != nil {
			t.Fatal(err)
		}
		paragraphs := strings.Split(prose, "\n\n")
		for _, want := range shape.Text {
			if !slices.Contains(paragraphs, want) {
				t.Errorf("%s: the text is %q, without the paragraph %q", file, prose, want)
			}
		}
		for _, not := range shape.NotText {
			if slices.ContainsFunc(paragraphs, func(p string) bool { return p == not || strings.Contains(p, not) && len(not) > 12 }) {
				t.Errorf("%s: the text is %q, with %q, which is no prose", file, prose, not)
			}
		}
	}
}
