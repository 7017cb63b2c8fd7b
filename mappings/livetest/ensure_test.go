package livetest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// aliasOf returns the indices behind the alias of cities, and whether each is the write
// index.
func aliasOf(t *testing.T, x *indices.Indices) map[string]bool {
	t.Helper()
	status, body := try(t, x.Client, esapi.IndicesGetAliasRequest{Name: []string{x.Alias(report.Cities)}})
	if status == 404 {
		return nil
	}
	var indices map[string]struct {
		Aliases map[string]struct {
			Write bool `json:"is_write_index"`
		}
	}
	if err := json.Unmarshal(body, &indices); err != nil {
		t.Fatal(err)
	}
	behind := make(map[string]bool)
	for name, index := range indices {
		behind[name] = index.Aliases[x.Alias(report.Cities)].Write
	}
	return behind
}

func wantAlias(t *testing.T, x *indices.Indices, n int) {
	t.Helper()
	behind := aliasOf(t, x)
	if len(behind) != 1 || !behind[x.Index(report.Cities, n)] {
		t.Errorf("the alias %s has %v, want %s to be written to", x.Alias(report.Cities), behind, x.Index(report.Cities, n))
	}
}

// counter counts the calls of its resend.
type counter int

func (c *counter) resend(context.Context) error { *c++; return nil }

func TestEnsureCreatesOnce(t *testing.T) {
	x := plainIndices(t, elastictest.Prefix(t))
	called := 0
	_, err := x.Ensure(t.Context(), report.Cities, func(context.Context) error {
		called++
		if behind := aliasOf(t, x); behind != nil {
			t.Errorf("the documents are marked when the index is there already: %v", behind)
		}
		return nil
	})
	if err != nil || called != 1 {
		t.Fatalf("got %v after %d calls", err, called)
	}
	wantAlias(t, x, 1)

	var again counter
	restarted := plainIndices(t, x.Prefix)
	for _, x := range []*indices.Indices{x, restarted} {
		if _, err := x.Ensure(t.Context(), report.Cities, again.resend); err != nil {
			t.Fatal(err)
		}
	}
	if again != 0 {
		t.Errorf("everything is sent again %d times though the alias is there", again)
	}
	if changed, err := x.MappingChanged(t.Context(), report.Cities); changed || err != nil {
		t.Errorf("the mapping changed: %v, %v", changed, err)
	}
}

func TestEnsureCreatesNothingWhenMarkingFails(t *testing.T) {
	x := plainIndices(t, elastictest.Prefix(t))
	broken := errors.New("the journal is away")
	_, err := x.Ensure(t.Context(), report.Cities, func(context.Context) error { return broken })
	if !errors.Is(err, broken) || aliasOf(t, x) != nil {
		t.Fatalf("got %v, alias %v", err, aliasOf(t, x))
	}
	// The template is there by now: a write to the missing alias creates nothing.
	for _, name := range []string{x.Alias(report.Cities), x.Index(report.Cities, 7)} {
		status, body := try(t, x.Client, esapi.IndexRequest{Index: name, Body: strings.NewReader(`{"any":"thing"}`)})
		if status != 404 || !strings.Contains(string(body), "index_not_found_exception") {
			t.Errorf("a write to the missing %s gets %d %s", name, status, body)
		}
	}
}

func TestEnsureGivesTheLatestIndexItsAlias(t *testing.T) {
	x := plainIndices(t, elastictest.Prefix(t))
	for _, name := range []string{x.Index(report.Cities, 2), x.Index(report.Cities, 10), x.Alias(report.Cities) + "-v11-old"} {
		must(t, x.Client, esapi.IndicesCreateRequest{Index: name, Body: strings.NewReader(`{"mappings":{"_meta":{"riskdex":{"hash":"` + x.Set.Hash(report.Cities) + `"}}}}`)})
	}
	must(t, x.Client, esapi.IndicesCreateRequest{Index: x.Index(report.Cities, 12)}) // of another mapping, such as one that a write has made
	var marked counter
	if _, err := x.Ensure(t.Context(), report.Cities, marked.resend); err != nil {
		t.Fatal(err)
	}
	wantAlias(t, x, 10)
	if marked != 1 {
		t.Errorf("everything is sent again %d times, want once: nobody knows what that index holds", marked)
	}
	must(t, x.Client, esapi.IndicesDeleteRequest{Index: []string{x.Index(report.Cities, 2), x.Index(report.Cities, 10)}})
	if _, err := x.Ensure(t.Context(), report.Cities, marked.resend); err != nil || marked != 2 {
		t.Errorf("error %v; everything is sent again %d times", err, marked)
	}
	wantAlias(t, x, 13)
}

// TestEnsureInARace lets two processes find nothing before either creates an index.
func TestEnsureInARace(t *testing.T) {
	prefix := elastictest.Prefix(t)
	var both, done sync.WaitGroup
	both.Add(2)
	for range 2 {
		x := plainIndices(t, prefix)
		first := true
		done.Go(func() {
			_, err := x.Ensure(t.Context(), report.Cities, func(context.Context) error {
				if first {
					first = false
					both.Done()
					both.Wait()
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	wantAlias(t, plainIndices(t, prefix), 1)
}

// TestEnsureAfterALoss: index and template vanish while the process runs.
func TestEnsureAfterALoss(t *testing.T) {
	x := plainIndices(t, elastictest.Prefix(t))
	var marked counter
	for range 2 {
		if _, err := x.Ensure(t.Context(), report.Cities, marked.resend); err != nil {
			t.Fatal(err)
		}
		wantAlias(t, x, 1)
		must(t, x.Client, esapi.IndicesGetIndexTemplateRequest{Name: x.Template(report.Cities)})
		must(t, x.Client, esapi.IndicesDeleteRequest{Index: []string{x.Index(report.Cities, 1)}})
		must(t, x.Client, esapi.IndicesDeleteIndexTemplateRequest{Name: x.Template(report.Cities)})
	}
	if marked != 2 {
		t.Errorf("everything is sent again %d times, want for each of 2 new indices", marked)
	}
}

func TestEnsureSaysWhatIsInTheWay(t *testing.T) {
	x := plainIndices(t, elastictest.Prefix(t))
	must(t, x.Client, esapi.IndicesCreateRequest{Index: x.Alias(report.Cities)})
	_, err := x.Ensure(t.Context(), report.Cities, nothing)
	wrong, ok := errors.AsType[*report.WrongAlias](err)
	if !ok || wrong.Kind != report.Cities || !strings.Contains(wrong.Remedy, "curl -X DELETE ELASTICSEARCH/"+x.Alias(report.Cities)) {
		t.Errorf("got %v", err)
	}
}

func TestMappingChanged(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	if changed, err := x.MappingChanged(t.Context(), report.Cities); changed || err != nil {
		t.Errorf("without an index: %v, %v", changed, err)
	}
	if _, err := x.Ensure(t.Context(), report.Cities, nothing); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, old, new string
		want           bool
	}{
		"comment":  {"cities.json", "Where the fields", "From where the fields", false},
		"pointer":  {"cities.json", `"/city_code"`, `"/town_code"`, true},
		"mapping":  {"index.json", `"byte"`, `"short"`, true},
		"threats":  {"threats.json", `"tornado, `, `"frog, tornado, `, true},
		"its kind": {"advisories.json", `"/headline"`, `"/heading"`, false},
	} {
		files := make(fstest.MapFS)
		for _, file := range []string{"index.json", "search.json", "complete.json", "countries.json", "threats.json", "cities.json", "advisories.json", "special-reports.json"} {
			data, err := os.ReadFile("../" + file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			if file == c.file {
				if text = strings.Replace(text, c.old, c.new, 1); text == string(data) {
					t.Fatalf("%s has no %s", file, c.old)
				}
			}
			files[file] = &fstest.MapFile{Data: []byte(text)}
		}
		set, err := mappings.Load(files)
		if err != nil {
			t.Fatal(err)
		}
		other := plainIndices(t, x.Prefix)
		other.Set = set
		if changed, err := other.MappingChanged(t.Context(), report.Cities); changed != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, changed, err)
		}
	}
}

// TestNoIndexIsGuessed: while there is no index, a write to its name or to that of the alias fails,
// and no index with guessed fields comes of it.
func TestNoIndexIsGuessed(t *testing.T) {
	x := plainIndices(t, elastictest.Prefix(t))
	if _, err := x.Ensure(t.Context(), report.Cities, nothing); err != nil {
		t.Fatal(err)
	}
	must(t, x.Client, esapi.IndicesDeleteRequest{Index: []string{x.Index(report.Cities, 1)}})
	for _, name := range []string{x.Alias(report.Cities), x.Index(report.Cities, 1), x.Index(report.Cities, 2)} {
		_, err := x.Client.Ask(t.Context(), esapi.IndexRequest{Index: name, Body: strings.NewReader(`{"title": "Rome"}`)}, elastic.Readable)
		if err == nil || !strings.Contains(err.Error(), "index_not_found_exception") {
			t.Errorf("a write to %s: %v", name, err)
		}
	}
}
