package jsondiff

import (
	"fmt"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	long := strings.Repeat("a text of the report. ", 5)
	for _, c := range []struct{ a, b, pointers, words string }{
		{`{"a":1}`, ` { "a" : 1 } `, "", ""},
		{`{"risk_level":2}`, `{"risk_level":4}`, "/risk_level", "risk_level 2 → 4"},
		{`{"a":1,"b":null}`, `{"b":null,"c":2}`, "/a /c", "a removed, c added"},
		{`{"a":null}`, `{"a":0}`, "/a", "a null → 0"},
		{`{"a":{"b/c":[1,{"d~e":2}]}}`, `{"a":{"b/c":[1,{"d~e":3},4]}}`, "/a/b~1c/1/d~0e /a/b~1c/2", "a/b/c/1/d~e 2 → 3, a/b/c/2 added"},
		{`{"a":[1]}`, `{"a":{"0":1}}`, "/a", `a [1] → {"0":1}`},
		{`{"a":[1]}`, `{"a":1}`, "/a", "a [1] → 1"},
		{`{"a":1}`, `{"a":[1]}`, "/a", "a 1 → [1]"},
		{`{"text":"` + long + `"}`, `{"text":"` + long[:10] + "ÄÖÜ" + long[20:] + `"}`, "/text", "text +3 −10"},
		{`1`, `[]`, "", "the record 1 → []"},
		{`{"a":1.0}`, `{"a":1}`, "/a", "a 1.0 → 1"},
		{`{}`, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}`, "/a /b /c /d /e /f /g /h", "a added, b added, c added, d added, e added, f added, and 2 more"},
	} {
		changes, err := Compare([]byte(c.a), []byte(c.b))
		if err != nil {
			t.Fatal(err)
		}
		var pointers []string
		for _, change := range changes {
			pointers = append(pointers, string(change.Pointer))
		}
		if got := strings.Join(pointers, " "); got != c.pointers {
			t.Errorf("%s and %s differ in %q, want %q", c.a, c.b, got, c.pointers)
		}
		if got := Words(changes); got != c.words {
			t.Errorf("%s and %s: %q, want %q", c.a, c.b, got, c.words)
		}
	}
	for _, bad := range []string{"", "{", "1 2"} {
		if changes, err := Compare([]byte(bad), []byte("1")); err == nil {
			t.Errorf("%q: %s", bad, fmt.Sprint(changes))
		}
	}
}
