package mappings

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestPatternsFind: what the parts of a pointer lead to.
func TestPatternsFind(t *testing.T) {
	const record = `{
		"levels": {"1": {"label": "Low"}, "2": {"label": "High"}}, "kinds": [{"id": 7, "name": "Flood"}, {"id": 8, "name": "Strike"}], "colours": {"r": "red"},
		"level": 2, "kind": [8, 7], "colour": "r", "none": 9,
		"countries": {"GN": {"weight": 1}, "SL": {}}, "one": {"name": "x"}, "many": [{"name": "x"}, {"name": "y"}], "text": "z",
		"label": {"scheme": "iata", "code": "LON"}, "labels": [{"scheme": "own", "code": "L1"}, {"scheme": "Fish &amp; chips", "code": "L2"}],
		"list": {"en": ["a", "b"], "fr": ["c"]}, "objects": {"en": [{"p": 1}], "fr": [{"p": 2}]}, "{/odd": 1
	}`
	s := builtinSet(t)
	x := s.extractors.Get().(*extractor)
	defer s.extractors.Put(x)
	if err := x.tree.parse([]byte(record)); err != nil {
		t.Fatal(err)
	}
	x.enrich()
	for pointer, want := range map[jsontext.Pointer][]string{
		"/level/{~1levels}/label": {"High"}, "/kind/*/{~1kinds}/name": {"Strike", "Flood"}, "/colour/{~1colours}": {"red"}, "/none/{~1levels}/label": nil,
		"/level/{~1nothing}/label": nil, "/countries/{*}/{name}": {"GN", "SL"}, "/one/*/name": {"x"}, "/many/*/name": {"x", "y"}, "/text/*": {"z"},
		"/label/[scheme=iata]/code": {"LON"}, "/label/[scheme=own]/code": nil, "/labels/[scheme=Fish & chips]/code": {"L2"},
		"/list/*": {"a", "b"}, "/list/fr/*": {"c"}, "/objects/*/p": {"1"}, "/{~1odd": {"1"},
	} {
		p, err := parsePattern(pointer)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range x.tree.find(nil, 0, p.steps) {
			got = append(got, x.tree.scalarText(at))
			_ = x.tree.pointer(at)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pointer, got, want)
		}
	}
}
