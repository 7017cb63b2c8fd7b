package push

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func folder(names ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, name := range names {
		fsys[name] = &fstest.MapFile{Data: []byte(`"` + name + `"`)}
	}
	return fsys
}

func TestFromDirOrder(t *testing.T) {
	requests, err := FromDir(folder(
		"special-reports/9.delete", "cities/LON.json", "cities/130.delete", "advisories.10.json", "advisories.2.json", "advisories.json",
		"cities.json", "advisories/a%2Fb.json", "advisories/São Paulo.json", "cities/LON.delete", "special-reports.json",
	))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range requests {
		got = append(got, r.Method+" "+r.Path+" "+string(r.Body))
		if r.What == "" {
			t.Errorf("%s %s does not say what it is", r.Method, r.Path)
		}
	}
	want := []string{
		`POST /cities "cities.json"`, `POST /advisories "advisories.json"`, `POST /advisories "advisories.2.json"`,
		`POST /advisories "advisories.10.json"`, `POST /special-reports "special-reports.json"`,
		`PUT /cities/LON "cities/LON.json"`, `PUT /advisories/S%C3%A3o%20Paulo "advisories/São Paulo.json"`, `PUT /advisories/a%2Fb "advisories/a%2Fb.json"`,
		`DELETE /cities/130 `, `DELETE /cities/LON `, `DELETE /special-reports/9 `,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFromDirNamesWhatItDoesNotKnow(t *testing.T) {
	for _, name := range []string{
		"countries.json", "README.md", "cities.yaml", "cities.delete", "cities.1.json", "cities.02.json", "cities.x.json", ".DS_Store",
		"cities/LON.txt", "cities/LON", "cities/.json", "cities/%zz.json", "cities/%FF.json", "countries/GB.json", "cities/uk/LON.json",
		"cities/" + strings.Repeat("x", 513) + ".json",
	} {
		_, err := FromDir(folder("cities.json", name))
		if err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		inside := strings.SplitN(name, "/", 3)
		if !strings.Contains(err.Error(), inside[0]) || !strings.Contains(err.Error(), "cities/ID.json") {
			t.Errorf("%s: the error does not name it and what is expected: %v", name, err)
		}
	}
	if _, err := FromDir(fstest.MapFS{}); err == nil {
		t.Error("an empty folder was taken")
	}
}

func TestWriteDirIsTheReverse(t *testing.T) {
	want := []Request{
		{Method: "POST", Path: "/cities", Body: []byte(`{"cities":[]}`)},
		{Method: "POST", Path: "/advisories", Body: []byte(`[1]`)},
		{Method: "POST", Path: "/advisories", Body: []byte(`[2]`)},
		{Method: "PUT", Path: Path("cities", "LON"), Body: []byte(`{"id":130}`)},
		{Method: "PUT", Path: Path("advisories", "a/b ü.json"), Body: []byte(`{}`)},
		{Method: "DELETE", Path: Path("cities", "LON")},
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := WriteDir(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := FromDir(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i].What = ""
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := WriteDir(dir, want); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder with files in it was written to: %v", err)
	}
}

func TestWriteDirRefusesWhatAFolderCannotHold(t *testing.T) {
	post := Request{Method: "POST", Path: "/cities", Body: []byte(`{}`)}
	put := Request{Method: "PUT", Path: "/cities/LON", Body: []byte(`{}`)}
	for name, requests := range map[string][]Request{
		"a PUT before a POST": {put, post},
		"two PUTs of one":     {put, put},
		"another method":      {{Method: "PATCH", Path: "/cities/LON", Body: []byte(`{}`)}},
		"a way out":           {{Method: "PUT", Path: "/cities/../../LON", Body: []byte(`{}`)}},
		"a wrong collection":  {{Method: "PUT", Path: "/../LON", Body: []byte(`{}`)}},
		"another encoding":    {{Method: "PUT", Path: "/cities/%4CON", Body: []byte(`{}`)}},
		"a POST of one":       {{Method: "POST", Path: "/cities/LON", Body: []byte(`{}`)}},
	} {
		parent := t.TempDir()
		if err := WriteDir(filepath.Join(parent, "in", "ner"), requests); err == nil {
			t.Errorf("%s was written", name)
		}
		if _, err := os.Stat(filepath.Join(parent, "LON.json")); err == nil {
			t.Errorf("%s was written outside the folder", name)
		}
	}
}
