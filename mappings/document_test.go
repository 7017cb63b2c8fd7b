package mappings

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

var update = flag.Bool("update", false, "write the golden documents")

func builtinSet(t testing.TB) *Set {
	t.Helper()
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// golden returns the records in testdata, by file name, as accepted changes.
func golden(t testing.TB) map[string]report.Change {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	changes := make(map[string]report.Change)
	for _, file := range files {
		if strings.HasSuffix(file, ".want.json") {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range report.Kinds() {
			if strings.HasPrefix(filepath.Base(file), string(kind)) {
				changes[file] = change(kind, filepath.Base(file), string(body))
			}
		}
	}
	if len(changes) < 8 {
		t.Fatalf("only %d records in testdata", len(changes))
	}
	return changes
}

func change(kind report.Kind, id, body string) report.Change {
	return report.Change{
		Key:        report.Key{Kind: kind, ID: report.ID(id)},
		Op:         report.Index,
		Version:    1_795_236_000_000_001,
		AcceptedAt: time.Date(2026, 11, 21, 5, 0, 0, 123_456_789, time.UTC),
		Body:       []byte(body),
	}
}

// TestGolden compares the document of every published shape, and the list of fields that do
// not fit, with what is expected.
func TestGolden(t *testing.T) {
	s := builtinSet(t)
	for file, c := range golden(t) {
		doc, unfit, err := s.AppendDocument(nil, c)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var fields map[string]jsontext.Value
		if err := json.Unmarshal(doc, &fields); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		delete(fields, "source") // see TestSourceIsUntouched
		delete(fields, "names_known")
		delete(fields, "country_names_known")
		delete(fields, "codes_known")
		if unfit != nil {
			fields["(unfit)"], _ = json.Marshal(unfit)
		}
		got, err := json.Marshal(fields, json.Deterministic(true), jsontext.WithIndent("  "))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		wantFile := strings.TrimSuffix(file, ".json") + ".want.json"
		if *update {
			if err := os.WriteFile(wantFile, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(wantFile)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
	}
}

func TestSourceIsUntouched(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct{ body, want string }{
		{" { \"a\" :\t[ 1.0 , 1e400,-0,12345678901234567890 ] }\r\n", `{"a":[1.0,1e400,-0,12345678901234567890]}`},
		{`{"a":"\u00e9 \/ \" \\", "b":"<&>  x\\"}`, `{"a":"\u00e9 \/ \" \\","b":"<&>  x\\"}`},
		{"\"\u2028\"", "\"\u2028\""},
		{" null ", "null"},
	} {
		doc, _, err := s.AppendDocument([]byte("before"), change(report.Cities, "1", c.body))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(doc, []byte("before{")) || !bytes.HasSuffix(doc, []byte(`,"source":`+c.want+"}")) {
			t.Errorf("the document of %s is %s", c.body, doc)
		}
	}
}

func TestDocumentIsRefused(t *testing.T) {
	s := builtinSet(t)
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for name, c := range map[string]report.Change{
		"a delete":       {Key: report.Key{Kind: report.Cities, ID: "1"}, Op: report.Delete},
		"no kind":        change("", "1", "{}"),
		"not JSON":       change(report.Cities, "1", `{"a":}`),
		"two values":     change(report.Cities, "1", `{}{}`),
		"duplicate name": change(report.Cities, "1", `{"a":1,"a":2}`),
		"bad UTF-8":      change(report.Cities, "1", "\"\xff\""),
		"too deep":       change(report.Cities, "1", deep),
		"bad id":         change(report.Cities, "\xff", `{}`),
	} {
		doc, _, err := s.AppendDocument([]byte("before"), c)
		if err == nil || string(doc) != "before" {
			t.Errorf("%s: got %.100s, %v", name, doc, err)
		}
	}
	if _, _, err := s.AppendDocument(nil, change(report.Cities, "1", deep[1:len(deep)-1])); err != nil {
		t.Errorf("999 levels returned %v", err)
	}
	_, _, err := s.AppendDocument(nil, report.Change{Key: report.Key{Kind: report.Cities}, Op: report.Delete})
	if !errors.Is(err, errNoBody) {
		t.Errorf("a delete returned %v, want errNoBody", err)
	}
}

// TestTooManyValues: values beyond the limit are not searchable, and this is reported.
func TestTooManyValues(t *testing.T) {
	body := `{"title":"First","list":[` + strings.Repeat("1,", maxNodes) + `{"name":[1]}],"summary":"Last"}`
	doc, unfit, err := builtinSet(t).AppendDocument(nil, change(report.Cities, "1", body))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(unfit, []string{"text"}) {
		t.Errorf("unfit is %v", unfit)
	}
	if !bytes.Contains(doc, []byte(`"title":"First"`)) || !bytes.HasSuffix(doc, []byte(body+"}")) {
		t.Error("the title or the source is missing")
	}
}

func TestCodeOfTheChangeWins(t *testing.T) {
	c := change(report.Cities, "1", `{"code":"par"}`)
	c.Code = "LON"
	doc, _, err := builtinSet(t).AppendDocument(nil, c)
	if err != nil || !bytes.Contains(doc, []byte(`"code":"LON"`)) || bytes.Contains(doc, []byte(`"text"`)) {
		t.Errorf("got %s, %v", doc, err)
	}
}
