package receiver

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"

	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// Every path has one canonical spelling with the same segments: nothing that is encoded
// can add or remove one.
func FuzzCanonicalPath(f *testing.F) {
	for _, path := range []string{"/cities/a%2Fb", "/c%69ties/%2e%2e", "/cities/%25%00%ff", "//%zz/", "/cities/a;b=c?d"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		escaped := u.EscapedPath()
		canonical, err := canonicalPath(escaped)
		if err != nil {
			t.Fatalf("%q is parsed but has no canonical spelling: %v", path, err)
		}
		if again, err := canonicalPath(canonical); err != nil || again != canonical {
			t.Errorf("%q becomes %q, and that becomes %q, %v", path, canonical, again, err)
		}
		before, after := strings.Split(escaped, "/"), strings.Split(canonical, "/")
		if len(before) != len(after) {
			t.Fatalf("%q has %d segments, %q %d", escaped, len(before), canonical, len(after))
		}
		for i := range before {
			one, _ := url.PathUnescape(before[i])
			two, err := url.PathUnescape(after[i])
			if err != nil || one != two {
				t.Errorf("segment %q of %q becomes %q, %v", one, path, two, err)
			}
		}
	})
}

// FuzzSplit: what passes the check is split into records without loss or panic.
func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"id":130,"a":[1,2.5e3,"x\n",null,true]}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte("\xff"))
	f.Add([]byte(`{"items":[{"id":"1","x":"a"}],"includes":{"E":[{"id":"a","t":1}],"A":[{"id":"1"}]},"m":{"t":{"1":"x","2":"y"}}}`))
	f.Add([]byte(`{"data":{"type":"c","id":"1","r":{"type":"d","id":"1"}},"included":[{"type":"d","id":"1"}]}`))
	s := splitterForTest(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		if jsonscan.Check(body) != nil {
			return
		}
		body = jsonscan.TrimSpace(body)
		one, _ := s.one(body)
		for _, record := range append(slices.Collect(s.list(body)), one) {
			if jsonscan.Check(record.raw) != nil || jsonscan.Check(record.kept()) != nil {
				t.Fatalf("%q was split into %q, kept as %q, which is not JSON", body, record.raw, record.kept())
			}
			s.idIn(record)
			s.codeIn(record)
		}
	})
}

// Whatever pointer an operator configures, and whatever it is applied to, the value found
// is in the body.
func FuzzPointers(f *testing.F) {
	f.Add("/data/0/id", []byte(`{"data":[{"id":1}]}`))
	f.Add("/a~1b/~0/-1/99999999999999999999", []byte(`{"a/b":{"~":[]}}`))
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		pointers, err := parsePointers([]string{text})
		if err != nil || jsonscan.Check(body) != nil {
			return
		}
		if found := jsonscan.Lookup(body, pointers[0]); found != nil && (jsonscan.Check(found) != nil || !bytes.Contains(body, found)) {
			t.Errorf("%q finds %q in %q", text, found, body)
		}
		if jsonscan.HasMembers(body) {
			all, known := jsonscan.Lookup(body, pointers[0]), jsonscan.LookupMember(jsonscan.Members(body), pointers[0])
			if !bytes.Equal(all, known) || (all == nil) != (known == nil) {
				t.Errorf("%q finds %q in %q, and %q in its members", text, all, body, known)
			}
		}
	})
}

// An edited body passes the checks of a delivery: it becomes a change with JSON other
// than null, for the document that it is to replace.
func FuzzEditedBody(f *testing.F) {
	f.Add([]byte(`{"data":{"id":2,"title":"x"}}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Add([]byte(`[null]`))
	s := splitterForTest(f)
	r := &Receiver{parser: bodyParser{report.Cities: s}}
	f.Fuzz(func(t *testing.T, body []byte) {
		key := report.Key{Kind: report.Cities, ID: "1"}
		change, err := r.Replacement(t.Context(), key, body)
		if err == nil && (change.Key != key || jsonscan.Check(change.Body) != nil || jsonscan.FirstByte(change.Body) == 'n') {
			t.Errorf("%q becomes %+v", body, change)
		}
	})
}
