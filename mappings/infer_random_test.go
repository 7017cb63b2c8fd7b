package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"riskdex/report"
)

// anyJSON draws a value whose names and texts may be taken for what patterns are written with.
func anyJSON(t *rapid.T, depth int) string {
	texts := []string{
		"", "~", "~1", "/", "*", "{*}", "{name}", "{/}", "{/~}", "{/a}", "{/a/b}", "[a=b]", "[=]", "[id=1]", "x#", "#", "x1", "x2", "x1a", "x2a", "12x", "id", "type", "sys", "en", "fr", "en-US", "fields",
		"name", "title", "country", "lat", "lon", "level", "risk", "Low", "High", "FR", "Paris", "Lyon", "2026-07-30", "30/07/2026", "3 May 2026", "1,2", "48.85, 2.35", "48°51'N 2°21'E", "Crime", "A", "B", "C", "\u00e4", "\u0000", "\\", "\"", "a_b", "a-b", "Ab",
	}
	quoted := func() string {
		if rapid.IntRange(0, 20).Draw(t, "half") == 0 {
			return `"\ud800"`
		}
		text, err := json.Marshal(rapid.SampledFrom(texts).Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0, 1:
		return quoted()
	case 2:
		return fmt.Sprint(rapid.IntRange(-3, 12).Draw(t, "number"))
	case 3:
		return rapid.SampledFrom([]string{"null", "true", "0.5", "1e400", "-0", "48.8", "1785369600"}).Draw(t, "other")
	case 4, 5:
		var all []string
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			all = append(all, anyJSON(t, depth-1))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	var all, names []string
	for range rapid.IntRange(0, 6).Draw(t, "members") {
		if name := quoted(); !slices.Contains(names, name) {
			names = append(names, name)
			all = append(all, name+":"+anyJSON(t, depth-1))
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

// TestInferOfAnything: whatever the records have, they are read without a panic, and in whatever order they
// come, they tell the same.
func TestInferOfAnything(t *testing.T) {
	s := builtinSet(t)
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(report.Kinds()).Draw(t, "of")
		var records [][]byte
		for range rapid.IntRange(0, 4).Draw(t, "shapes") {
			record := anyJSON(t, 5)
			for i := range rapid.IntRange(1, 15).Draw(t, "times") {
				records = append(records, []byte(strings.ReplaceAll(record, "Paris", []string{"Paris", "Lyon", "Rome", "Oslo"}[i%4])))
			}
		}
		records = append(records, []byte("{\"a\":\"\xff\"}"), []byte("{"), nil)
		told := func() string {
			of, _, err := s.Infer(kind, records)
			if err != nil {
				t.Fatal(err)
			}
			for _, record := range records {
				if jsontext.Value(record).IsValid() {
					if _, _, err := of.AppendDocument(nil, report.Change{Key: report.Key{Kind: kind, ID: "1"}, Op: report.Index, Body: record}); err != nil && !strings.Contains(err.Error(), "body") {
						t.Fatal(err)
					}
				}
			}
			return of.Hash(kind)
		}
		first := told()
		records = rapid.Permutation(records).Draw(t, "order")
		if again := told(); again != first {
			t.Fatal("in another order they tell something else")
		}
	})
}

// TestCircles: objects that refer to one another in circles are read once.
func TestCircles(t *testing.T) {
	var all []string
	for i := range 30 {
		var to []string
		for j := range 30 {
			to = append(to, fmt.Sprintf(`"r%c%c":{"data":{"type":"n","id":"%d"}}`, 'a'+j/26, 'a'+j%26, j))
		}
		all = append(all, fmt.Sprintf(`{"type":"n","id":"%d","attributes":{"name":"N"},"relationships":{%s}}`, i, strings.Join(to, ",")))
	}
	record := []byte(`{"data":{"type":"city","id":"1","relationships":{"n":{"data":{"type":"n","id":"0"}}}},"included":[` + strings.Join(all, ",") + `]}`)
	s := builtinSet(t)
	of, _, err := s.Infer(report.Cities, [][]byte{record, record, record, record, record})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := of.AppendDocument(nil, report.Change{Key: report.Key{Kind: report.Cities, ID: "1"}, Op: report.Index, Body: record}); err != nil {
		t.Fatal(err)
	}
}
