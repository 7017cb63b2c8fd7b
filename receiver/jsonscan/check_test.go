package jsonscan

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"object":            {`{"a":1,"b":{"a":[]}}`, ""},
		"white space":       {" \r\n\t{} \n", ""},
		"scalar":            {`"text"`, ""},
		"names by case":     {`{"a":1,"A":2}`, ""},
		"half a surrogate":  {`"\ud800"`, ""},
		"deep enough":       {strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), ""},
		"long number":       {"1" + strings.Repeat("0", maxDigits-1), ""},
		"long text":         {`"` + strings.Repeat("0", 2*maxNameBytes) + `"`, ""},
		"empty":             {"", "empty"},
		"only white space":  {" \n", "empty"},
		"cut":               {`{"a":1`, "ends in the middle"},
		"cut in a text":     {`{"a":"x`, "ends in the middle"},
		"trailing value":    {`{} {}`, "more after"},
		"trailing garbage":  {`{}x`, "more after"},
		"trailing bracket":  {`[]]`, "more after"},
		"two scalars":       {`1 2`, "more after"},
		"duplicate":         {`{"a":1,"b":2,"a":3}`, "twice"},
		"duplicate escaped": {`{"a":1,"\u0061":3}`, "twice"},
		"nested duplicate":  {`[{"x":{"a":1,"a":1}}]`, "twice"},
		"single quotes":     {`{'a':1}`, "invalid"},
		"comment":           {`{} // x`, "more after"},
		"NaN":               {`{"a":NaN}`, "invalid"},
		"leading zero":      {`{"a":01}`, "invalid"},
		"control character": {"\"a\nb\"", "invalid"},
		"bad escape":        {`"\x"`, "invalid"},
		"bad UTF-8":         {"{\"a\":\"\xff\"}", "UTF-8, first at byte 6"},
		"bad UTF-8 in name": {"{\"\xc3\":1}", "UTF-8"},
		"too deep":          {strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1), "deeper"},
		"absurdly deep":     {strings.Repeat("[", 100_000), "deeper"},
		"too long a number": {"1" + strings.Repeat("0", maxDigits), "digits"},
		"long fraction":     {"0." + strings.Repeat("1", maxDigits), "digits"},
		"too long a name":   {`{"` + strings.Repeat("n", maxNameBytes+1) + `":1}`, "name is longer"},
		"too long a text":   {`"` + strings.Repeat("n", maxStringBytes+1) + `"`, "text is longer"},
	} {
		err := Check([]byte(c.body))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: refused: %v", name, err)
		case c.want != "" && err == nil:
			t.Errorf("%s: accepted, want an error with %q", name, c.want)
		case c.want != "" && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %q, want an error with %q", name, err, c.want)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	record := `{"id":130,"title":"A city","text":"` + strings.Repeat("Take care at night. ", 190) + `","risk":{"id":"3","name":"Medium"},"geo":{"lat":1.5,"lng":2.5}}`
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Check([]byte(record)); err != nil {
			b.Fatal(err)
		}
	}
}
