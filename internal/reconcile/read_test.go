package reconcile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"riskdex/internal/exportline"
	"riskdex/internal/push"
	"riskdex/receiver"
	"riskdex/report"
)

func payloads(t testing.TB) *receiver.Reader {
	t.Helper()
	r, err := receiver.NewReader(receiver.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names returns the names of a list, those that are certain ids with an equals sign.
func (l *List) names() string {
	var all []string
	for _, e := range l.entries {
		switch {
		case e.also:
			all = append(all, "("+e.name+")")
		case e.exact:
			all = append(all, "="+e.name)
		default:
			all = append(all, e.name)
		}
	}
	return strings.Join(all, " ")
}

func TestEveryFormOfAList(t *testing.T) {
	for name, c := range map[string]struct {
		in      string
		want    string
		records bool
	}{
		"ids":                          {"130\nLON\na/b c\n", "130 LON a/b c", false},
		"ids with a mark and CRLF":     {"\xef\xbb\xbf130\r\n  131\t\r\n", "130 131", false},
		"ids without an end":           {"130\n131", "130 131", false},
		"an id as a number would be":   {"1.30e2\n-7\n", "1.30e2 -7", false},
		"an array of ids":              {`[130, "131", 132.0, 1.33e2, 9007199254740993, "LON"]`, "130 131 132 133 9007199254740993 LON", false},
		"an array with a mark":         {"\xef\xbb\xbf [\"a\\u00e9\"]\r\n", "aé", false},
		"ids as lines of JSON":         {"\"130\"\n\"131\"\n", "130 131", false},
		"an array of records":          {`[{"id":130,"code":"LON"}, {"id":"131"}]`, "=130 =131", true},
		"an envelope":                  {`{"data":{"cities":[{"id":130},{"code":"PAR"}]},"meta":{"total":2}}`, "=130 PAR", true},
		"lines":                        {"{\"id\":130}\n{\"id\":131}\n", "=130 =131", true},
		"envelopes in lines":           {"{\"cities\":[{\"id\":1},{\"id\":2}]}\n{\"city\":{\"id\":3}}\n[{\"id\":4}]\n", "=1 =2 =3 =4", true},
		"records over several lines":   {"{\n\"id\": 130\n}\n\n{\n\"id\": 131}\n", "=130 =131", true},
		"one record":                   {`{"id":130}`, "=130", true},
		"an export":                    {`{"kind":"advisories","id":"7","record":{"id":7}}` + "\n" + `{"kind":"cities","id":"130","code":"LON","record":{"id":131}}` + "\n", "=130", true},
		"a record with a kind":         {`{"kind":"cities","id":"130"}`, "=130", true},
		"the last of several counts":   {"1\n2\n1\n", "1 2", false},
		"a code in other letters":      {"lon\nLON\n", "lon", false},
		"a code that is an id as well": {`[{"id":"LON"},{"code":"LON"}]`, "LON", true},
	} {
		for by, in := range map[string]io.Reader{"": strings.NewReader(c.in), ", byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			l, err := Read(in, report.Cities, payloads(t), nil)
			if err != nil || l.names() != c.want || l.Records != c.records || l.Unread != 0 {
				t.Errorf("%s%s: %v, %+v", name, by, err, l)
			}
		}
	}
}

func TestOtherKindsHaveNoCodes(t *testing.T) {
	l, err := Read(strings.NewReader(`[{"id":"a"},{"id":"LON"}]`), report.Advisories, payloads(t), nil)
	if err != nil || l.names() != "=a =LON" || len(l.byCode)+len(l.stated) != 0 {
		t.Errorf("%v, %+v", err, l)
	}
}

// TestListThatIsNone: whatever is not whole, or no list, is an error, and never a shorter list.
func TestListThatIsNone(t *testing.T) {
	records := make([]string, 3*chunkRecords/2)
	for i := range records {
		records[i] = fmt.Sprintf(`{"id":%d}`, i)
	}
	many := strings.Join(records, ",")
	for in, want := range map[string]string{
		"":              "there are no cities in it",
		" \n\r\n\t":     "the first of 2: line 1: the id is empty",
		"[]":            "there are no cities in it",
		`{"cities":[]}`: "there are no cities in it",
		`{"kind":"advisories","id":"1","record":{}}`: "there are no cities in it",
		`{"title":"no id"}`:                          "no id could be read in it; the first of 1",
		`{"title":"no id","tags":["a"],"data":[]}`:   "no id could be read in it; the first of 1",
		`[{"title":"a"},{"title":"b"}]`:              "the first of 2",
		`[null,true,[]]`:                             "the first of 2: null is not an id",
		`[null,true]`:                                "is not an id",
		`["1",{"id":2}]`:                             "both ids and records",
		"{\"id\":1}\n\"2\"\n":                        "both ids and records",
		`["1","2`:                                    "breaks off",
		`["1","2"`:                                   "breaks off",
		`["1","2",`:                                  "breaks off",
		`[{"id":1},{"id":2}`:                         "breaks off",
		`[{"id":1},{"i`:                              "breaks off",
		`{"data":[{"id":1},{"id":2}]`:                "breaks off",
		"{\"id\":1}\n{\"id\":2":                      "breaks off",
		"[" + many:                                   "breaks off",
		`[{"id":1},]`:                                "invalid",
		`{"data":["1","2"]}`:                         `no id could be read in it`,
		`{"cities":["LON"],"meta":{"total":9}}`:      `no id could be read in it`,
		"{\"data\":[1]}\n{\"data\":[2]}\n":           `no id could be read in it`,
		`["1"]]`:                                     "invalid",
		"{\"id\":1}\n130\nx":                         "both ids and records",
		`[{"id":1,"id":2}]`:                          "twice in the same object",
		"[\"\xff\"]":                                 "no id could be read",
		"[{\"id\":\"\xff\"}]":                        "not valid UTF-8",
		"\x1f\x8b\x08\x00":                           "line 1: the id is not valid UTF-8",
		"\xff\xfe1\x003\x000\x00":                    "line 1: the id is not valid UTF-8",
		"\xff\xfd\n":                                 "line 1: the id is not valid UTF-8",
		strings.Repeat("x", report.MaxIDBytes+1) + "\n":        "line 1: the id is longer",
		strings.Repeat("x", 1<<20) + "\n":                      "line 1: the id is longer",
		`["` + strings.Repeat("x", report.MaxIDBytes+1) + `"]`: "is not an id",
	} {
		l, err := Read(strings.NewReader(in), report.Cities, payloads(t), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %+v; want %q", in, err, l, want)
		}
	}
	broken := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("130\n131\n")))
	if l, err := Read(broken, report.Cities, payloads(t), nil); err == nil {
		t.Errorf("a list that cannot be read is %+v", l)
	}
	endless := io.MultiReader(strings.NewReader(`{"id":"`), repeated{'x'})
	if _, err := read(&source{in: endless, longest: 1 << 20}, report.Cities, payloads(t)); err == nil || !strings.Contains(err.Error(), "longer than 1.0 MiB") {
		t.Errorf("an endless record: %v", err)
	}
}

// repeated has one byte without an end.
type repeated struct{ c byte }

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.c
	}
	return len(p), nil
}

// TestListWithDoubts has lists that can be compared, but are no ground for a removal, whatever is
// here: the list by itself is nothing but ids, or nothing but records, each once and whole.
func TestListWithDoubts(t *testing.T) {
	for in, doubt := range map[string]string{
		`["1","2"]`:                              "",
		"1\n2\n":                                 "",
		"\xef\xbb\xbf1\r\n2\r\n":                 "",
		"\"1\"\n\"2\"\n":                         "",
		"{\"id\":1}\n{\"id\":2}\n":               "",
		`{"id":1}`:                               "",
		`[{"id":1,"next":"a record","total":5}]`: "",
		`[{"id":1,"count":5}, {"data":{}, "id":2}]`: "",
		`{"cities":[{"id":1},{"id":2}]}`:            "",
		`{"data": {"cities": [{"id":1} ]}}`:         "",

		`[{"id":1},{"title":"no id"},{"id":2}]`:      "entry without an id",
		`[{"id":1},{"id":""},null]`:                  "entry without an id",
		"1\n\xff\n2\n":                               "line 2: the id is not valid UTF-8",
		"1\n" + strings.Repeat("x", 1<<20) + "\n2\n": "line 2: the id is longer",
		"1\n\n2\n":                     "line 2: the id is empty",
		"\n1\n2\n":                     "line 1: the id is empty",
		"1\n2\n\r\n":                   "line 3: the id is empty",
		"1\n2":                         "the last line of the list has no end",
		"{\"id\":1}\n{\"id\":2}":       "the last line of the list has no end",
		"\"1\"\n\"2\"":                 "the last line of the list has no end",
		`[{"id":1},{"id":2},{"id":1}]`: "the list has 1 twice",
		"1\n2\n1\n":                    "the list has 1 twice",
		"lon\nLON\n":                   "the list has LON twice",
		"[1]\n[2]\n":                   "the list is several lists",
		"[{\"id\":1}]\n{\"id\":2}\n":   "the list is several lists",
		`{"cities":[{"id":1}]}{"cities":[{"id":2}]}`: "the records are in an object",
		`[{"cities":[{"id":1}]},{"id":2}]`:           "the records are in an object",
	} {
		l, err := Read(strings.NewReader(in), report.Cities, payloads(t), nil)
		if err != nil {
			t.Fatalf("%.60q: %v", in, err)
		}
		here := make([]exportline.Line, 0, l.Len())
		for i := range l.entries {
			here = append(here, exportline.Line{Key: report.Key{Kind: report.Cities, ID: report.ID(l.entries[i].name)}, Version: 7})
		}
		l.Records = false
		_, c := found(l, here...)
		if got := strings.Join(c.Doubts(false), "\n"); !strings.Contains(got, doubt) || (got == "") != (doubt == "") {
			t.Errorf("%.60q: the doubts are %q, want %q", in, got, doubt)
		}
	}
}

// TestEnvelopesAreNoList: an object that has anything beside its records may say that it is a
// part, in words that nobody knows. The doubt says how to take the records out.
func TestEnvelopesAreNoList(t *testing.T) {
	for _, in := range []string{
		`{"data":[{"id":1}],"meta":{"total":1}}`,
		`{"data":[{"id":1}],"links":{"next":null}}`,
		`{"data":[{"id":1}],"continuationToken":"x"}`,
		`{"hydra:member":[],"cities":[{"id":1}],"hydra:totalItems":500}`,
		`{"cities":[{"id":1}],"@odata.nextLink":"x"}`,
		`{"cities":[{"id":1}],"remaining":20}`,
		`{"cities":[{"id":1}],"errors":[{"message":"timeout"}]}`,
		`{"cities":[{"id":1}],"errors":[]}`,
		`{"cities":[{"id":1}],"truncated":true}`,
		`{"data":{"cities":[{"id":1}],"count":1}}`,
		`[{"cities":[{"id":1}],"more":true}]`,
		`{"city":{"id":1},"meta":{}}`,
	} {
		for of, read := range map[string]func() (*List, error){
			"a file": func() (*List, error) { return Read(strings.NewReader(in), report.Cities, payloads(t), nil) },
			"a folder": func() (*List, error) {
				return FromRequests([]push.Request{{Method: "POST", Path: "/cities", Body: []byte(in), What: "cities.json"}}, report.Cities, payloads(t))
			},
		} {
			l, err := read()
			switch {
			case err != nil && strings.Contains(err.Error(), "no id could be read"):
			case err != nil:
				t.Errorf("%s in %s: %v", in, of, err)
			case l.Doubt == "" && l.Unread == 0:
				t.Errorf("%s in %s is no doubt", in, of)
			}
		}
	}
	l, err := Read(strings.NewReader(`{"data":{"cities":[{"id":1},{"id":2}]},"next":2}`), report.Cities, payloads(t), nil)
	if err != nil || !strings.Contains(l.Doubt, `jq -s 'map(."data"."cities"[])' PAGES`) {
		t.Errorf("%v, %+v", err, l)
	}
}

// TestListOfChanges: the feed of changes is a list, of what is not deleted; one that is not whole
// is no ground for a removal.
func TestListOfChanges(t *testing.T) {
	change := func(version int, id, rest string) string {
		return fmt.Sprintf(`{"kind":"cities","id":%q,"version":%d,"accepted_at":"2026-11-23T10:00:00Z",%s}`+"\n", id, version, rest)
	}
	first := change(1, "1", `"record":{"id":1}`) + change(2, "2", `"record":{"id":2}`) + change(3, "3", `"lost":"dropped"`) + change(4, "LON", `"deleted":true`) +
		`{"kind":"advisories","id":"7","version":5,"accepted_at":"2026-11-23T10:00:00Z","record":{}}` + "\n"
	more := `{"after":"","next":"a","more":true}` + "\n"
	second := change(6, "1", `"deleted":true`) + change(7, "130", `"code":"LON","record":{"a":1}`)
	end := `{"after":"a","next":"b","more":false}` + "\n"
	for in, whole := range map[string]bool{
		first + more + second + end:             true,
		first + more + end + second:             false,
		first + more + second:                   false,
		first + more:                            false,
		first + second:                          false,
		first + second + end:                    false,
		first + second + `{"next":"b"}` + "\n":  false,
		first + more + second + end + end + end: true,
	} {
		l, err := Read(strings.NewReader(in), report.Cities, payloads(t), nil)
		if err != nil || !l.Records || (l.Doubt == "") != whole {
			t.Errorf("%s: %v, %+v", in, err, l)
		}
		if whole {
			lost := here("3", "", "")
			lost.Lost = report.LostDropped
			if got, _ := found(l, here("1", "", `{"id":1}`), here("2", "", `{"id":2}`), lost, here("130", "LON", `{"a":1}`)); got != "surplus 1, differs 3" {
				t.Errorf("found %q", got)
			}
		}
	}
}

// TestArrayOfAnyLength reads more than is parsed at once, with a record without an id at each end.
func TestArrayOfAnyLength(t *testing.T) {
	n := 2*chunkRecords + 7
	pr, pw := io.Pipe()
	go func() {
		fmt.Fprint(pw, `[{"title":"no id"}`)
		for i := range n {
			fmt.Fprintf(pw, `,{"id":%d,"text":"%0500d"}`, i, i)
		}
		fmt.Fprint(pw, `,{"title":"no id"}]`)
		pw.Close()
	}()
	var told int64
	l, err := Read(pr, report.Cities, payloads(t), func(bytes int64) { told = bytes })
	if err != nil || l.Len() != n || l.Unread != 2 || told < int64(500*n) {
		t.Fatalf("%v, %d of %d, %d unread, %d bytes", err, l.Len(), n, l.Unread, told)
	}
}

// TestSameContent: order of members, white space and the way in which numbers and letters are
// written do not matter; anything else does.
func TestSameContent(t *testing.T) {
	const record = `{"id":130,"a":[1,{"x":1.5,"y":"é"}],"n":9007199254740993,"half":"\ud800"}`
	for other, want := range map[string]bool{
		record: true,
		"{ \"a\":[1, {\"y\":\"\\u00e9\",\"x\":15e-1}],\r\n\"n\":9007199254740993,\"half\":\"\\ud800\",\"id\":130.0}": true,
		strings.Replace(record, "1.5", "1.6", 1):     false,
		strings.Replace(record, "993", "992", 1):     false,
		strings.Replace(record, `:130`, `:"130"`, 1): false,
		strings.Replace(record, `[1,{`, `[{`, 1):     false,
		strings.Replace(record, `"é"`, `"e"`, 1):     false,
		strings.Replace(record, `"é"`, `"é "`, 1):    false,
		strings.Replace(record, `"id":130,`, ``, 1):  false,
	} {
		if got := digestOf([]byte(record)) == digestOf([]byte(other)); got != want {
			t.Errorf("%s is the same: %v", other, got)
		}
	}
	if list := `[1,2]`; digestOf([]byte(list)) == digestOf([]byte(`[2,1]`)) {
		t.Error("the order of a list does not matter")
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"130\nLON\n", `[1,"2"]`, `{"cities":[{"id":1}]}`, "{\"id\":1}\n{\"id\":2}", `{"kind":"cities","id":"1","record":{}}`} {
		f.Add([]byte(seed))
	}
	r := payloads(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		l, err := Read(strings.NewReader(string(in)), report.Cities, r, nil)
		if err != nil {
			return
		}
		if l.Len() == 0 {
			t.Fatal("a list without documents")
		}
		// A list of JSON that is whole is not whole without its end.
		text := strings.TrimRight(string(in), " \t\r\n")
		if first := strings.TrimLeft(strings.TrimPrefix(text, "\xef\xbb\xbf"), " \t\r\n"); slices.Contains([]byte("[{"), first[0]) {
			if cut, err := Read(strings.NewReader(text[:len(text)-1]), report.Cities, r, nil); err == nil && cut.Doubt == "" {
				t.Fatalf("%q without its last byte is %+v", text, cut)
			}
		}
	})
}
