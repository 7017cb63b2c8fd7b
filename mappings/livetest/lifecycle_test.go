package livetest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// indicesOf returns the indices of cities.
func indicesOf(t *testing.T, x *indices.Indices) []string {
	t.Helper()
	body := must(t, x.Client, esapi.IndicesGetAliasRequest{Index: []string{x.Alias(report.Cities) + "*"}})
	var indices map[string]json.RawMessage
	if err := json.Unmarshal(body, &indices); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(indices))
}

// twoIndices returns the first index of cities, and the second beside it.
func twoIndices(t *testing.T) (x *indices.Indices, old, next string) {
	t.Helper()
	x = plainIndices(t, elastictest.Prefix(t))
	old, err := x.Ensure(t.Context(), report.Cities, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if next, err = x.Next(t.Context(), report.Cities); err != nil || next != x.Index(report.Cities, 2) {
		t.Fatalf("the next index is %s, %v", next, err)
	}
	if err := x.Create(t.Context(), report.Cities, next); err != nil {
		t.Fatal(err)
	}
	return x, old, next
}

func wantLeftovers(t *testing.T, x *indices.Indices, unfinished, old []string) {
	t.Helper()
	a, b, err := x.Leftovers(t.Context(), report.Cities)
	if err != nil || !slices.Equal(a, unfinished) || !slices.Equal(b, old) {
		t.Errorf("leftovers %v, %v, %v; want %v, %v", a, b, err, unfinished, old)
	}
}

func TestSwap(t *testing.T) {
	x, old, next := twoIndices(t)
	wantAlias(t, x, 1)
	wantLeftovers(t, x, []string{next}, nil)
	for range 2 { // repeating it is harmless
		if err := x.Swap(t.Context(), report.Cities, old, next); err != nil {
			t.Fatal(err)
		}
		wantAlias(t, x, 2)
		wantLeftovers(t, x, nil, []string{old})
	}
	// Even a process that has just started knows that it is filled.
	var again counter
	for _, x := range []*indices.Indices{x, plainIndices(t, x.Prefix)} {
		if index, err := x.Ensure(t.Context(), report.Cities, again.resend); err != nil || index != next || again != 0 {
			t.Errorf("got %s, %v; everything is sent again %d times", index, err, again)
		}
	}
	if err := x.Remove(t.Context(), report.Cities, old); err != nil {
		t.Fatal(err)
	}
	if all := indicesOf(t, x); !slices.Equal(all, []string{next}) {
		t.Errorf("%v", all)
	}
}

// TestSwapWhoseAnswerIsLost: riskdex still recognises the index that the swap put there.
func TestSwapWhoseAnswerIsLost(t *testing.T) {
	x, old, next := twoIndices(t)
	if _, err := x.Ensure(t.Context(), report.Cities, nothing); err != nil { // has seen the old one
		t.Fatal(err)
	}
	whole := x.Client
	x.Client = newClientOver(t, lostAnswer{})
	if err := x.Swap(t.Context(), report.Cities, old, next); err == nil {
		t.Fatal("no error")
	}
	x.Client = whole
	wantAlias(t, x, 2)
	var again counter
	if index, err := x.Ensure(t.Context(), report.Cities, again.resend); err != nil || index != next || again != 0 {
		t.Errorf("got %s, %v; everything is sent again %d times", index, err, again)
	}
}

// lostAnswer loses the answers to requests that change aliases.
type lostAnswer struct{}

func (lostAnswer) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && req.URL.Path == "/_aliases" {
		_ = res.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return res, err
}

// TestSwapPutsTheAliasRight: whatever somebody else has done to the alias, the new index has it
// alone afterwards. If the index that was to be replaced is gone, a swap changes nothing.
func TestSwapPutsTheAliasRight(t *testing.T) {
	for _, gone := range []bool{false, true} {
		x, old, next := twoIndices(t)
		other := x.Prefix + "other"
		must(t, x.Client, esapi.IndicesCreateRequest{Index: other})
		must(t, x.Client, esapi.IndicesUpdateAliasesRequest{Body: strings.NewReader(`{"actions":[
			{"remove":{"index":"` + old + `","alias":"` + x.Alias(report.Cities) + `"}},
			{"add":{"index":"` + other + `","alias":"` + x.Alias(report.Cities) + `"}}]}`)})
		if gone {
			must(t, x.Client, esapi.IndicesDeleteRequest{Index: []string{old}})
		}
		if err := x.Swap(t.Context(), report.Cities, old, next); (err != nil) != gone {
			t.Errorf("where the old index is gone (%t): %v", gone, err)
		}
		if !gone {
			wantAlias(t, x, 2)
			wantLeftovers(t, x, nil, []string{old})
		} else if behind := aliasOf(t, x); len(behind) != 1 || !slices.Contains(slices.Collect(maps.Keys(behind)), other) {
			t.Errorf("the alias is on %v", behind)
		}
	}
}

func TestRemoveDeletesNothingThatIsNeeded(t *testing.T) {
	x, old, next := twoIndices(t)
	if err := x.Swap(t.Context(), report.Cities, old, next); err != nil {
		t.Fatal(err)
	}
	spare := x.Index(report.Cities, 8)
	must(t, x.Client, esapi.IndicesCreateRequest{Index: spare})
	// Somebody else uses the old index.
	must(t, x.Client, esapi.IndicesPutAliasRequest{Index: []string{old}, Name: x.Prefix + "kept"})
	for _, index := range []string{old, next, spare, x.Index(report.Cities, 9)} {
		if err := x.Remove(t.Context(), report.Cities, index); err != nil {
			t.Errorf("%s: %v", index, err)
		}
	}
	if all := indicesOf(t, x); !slices.Equal(all, []string{old, next, spare}) {
		t.Errorf("%v", all)
	}
}

// TestEnsureFillsWhatSomebodyElsePutThere: an index that somebody else put behind the alias
// is filled, since nobody knows what it holds.
func TestEnsureFillsWhatSomebodyElsePutThere(t *testing.T) {
	alias := func(x *indices.Indices) string { return x.Alias(report.Cities) }
	for name, put := range map[string]func(t *testing.T, x *indices.Indices, old string) (index string){
		"alias moved, and the index deleted": func(t *testing.T, x *indices.Indices, old string) string {
			other := x.Prefix + "other"
			must(t, x.Client, esapi.IndicesCreateRequest{Index: other})
			must(t, x.Client, esapi.IndicesUpdateAliasesRequest{Body: strings.NewReader(`{"actions":[
				{"remove_index":{"index":"` + old + `"}}, {"add":{"index":"` + other + `","alias":"` + alias(x) + `"}}]}`)})
			return other
		},
		"restored with its aliases": func(t *testing.T, x *indices.Indices, old string) string {
			if _, err := x.Ensure(t.Context(), report.Cities, nothing); err != nil { // has seen it
				t.Fatal(err)
			}
			must(t, x.Client, esapi.IndicesDeleteRequest{Index: []string{old}})
			must(t, x.Client, esapi.IndicesCreateRequest{Index: old, Body: strings.NewReader(`{"aliases":{"` + alias(x) + `":{"is_write_index":true},"` + alias(x) + `-filled":{}}}`)})
			return old
		},
		"aliases moved back": func(t *testing.T, x *indices.Indices, old string) string {
			if err := x.Swap(t.Context(), report.Cities, old, x.Index(report.Cities, 2)); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{alias(x), alias(x) + "-filled"} {
				must(t, x.Client, esapi.IndicesUpdateAliasesRequest{Body: strings.NewReader(`{"actions":[
					{"remove":{"index":"` + x.Index(report.Cities, 2) + `","alias":"` + name + `"}}, {"add":{"index":"` + old + `","alias":"` + name + `"}}]}`)})
			}
			must(t, x.Client, esapi.IndicesDeleteRequest{Index: []string{x.Index(report.Cities, 2)}})
			return old
		},
		"restored with its mark": func(t *testing.T, x *indices.Indices, old string) string {
			meta := metaOf(t, x, old)
			must(t, x.Client, esapi.IndicesDeleteRequest{Index: []string{old}})
			must(t, x.Client, esapi.IndicesCreateRequest{Index: old, Body: strings.NewReader(`{"mappings":{"_meta":` + meta + `},
				"aliases":{"` + alias(x) + `":{"is_write_index":true},"` + alias(x) + `-filled":{}}}`)})
			*x = *plainIndices(t, x.Prefix) // has seen nothing
			return old
		},
		"all aliases removed": func(t *testing.T, x *indices.Indices, old string) string {
			must(t, x.Client, esapi.IndicesDeleteAliasRequest{Index: []string{old}, Name: []string{alias(x) + "*"}})
			return old
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, old, next := twoIndices(t)
			want := put(t, x, old)
			var again counter
			for range 2 {
				got, err := x.Ensure(t.Context(), report.Cities, again.resend)
				if err != nil || got != want || again != 1 {
					t.Errorf("got %s, %v; want %s; everything is sent again %d times, want once", got, err, want, again)
				}
			}
			// A rebuild relied on the index that was there.
			if all := indicesOf(t, x); slices.Contains(all, next) {
				t.Errorf("the unfinished index is left: %v", all)
			}
		})
	}
}

// TestEnsureMendsAMissingAlias: the mark tells which index it was on, and that lacks nothing.
func TestEnsureMendsAMissingAlias(t *testing.T) {
	x, old, _ := twoIndices(t)
	must(t, x.Client, esapi.IndicesDeleteAliasRequest{Index: []string{old}, Name: []string{x.Alias(report.Cities)}})
	var again counter
	if index, err := x.Ensure(t.Context(), report.Cities, again.resend); index != old || err != nil || again != 0 {
		t.Errorf("got %q, %v; everything is sent again %d times", index, err, again)
	}
	wantAlias(t, x, 1)
}

// TestEnsureTellsAWrongAlias and leaves it alone; the request that it names puts it right. If it is
// not known which index the alias should be on, that one is then filled.
func TestEnsureTellsAWrongAlias(t *testing.T) {
	for _, known := range []bool{true, false} {
		x, old, next := twoIndices(t)
		other, alias, want := x.Index(report.Cities, 7), x.Alias(report.Cities), old
		must(t, x.Client, esapi.IndicesCreateRequest{Index: other})
		must(t, x.Client, esapi.IndicesPutAliasRequest{Index: []string{other}, Name: alias})
		if !known {
			must(t, x.Client, esapi.IndicesDeleteAliasRequest{Index: []string{old}, Name: []string{alias + "-filled"}})
			want = ""
		}
		var again counter
		for _, x := range []*indices.Indices{x, plainIndices(t, x.Prefix)} {
			index, err := x.Ensure(t.Context(), report.Cities, again.resend)
			wrong, is := errors.AsType[*report.WrongAlias](err)
			if index != want || !is || again != 0 || len(aliasOf(t, x)) != 2 {
				t.Fatalf("got %q, %v; everything is sent again %d times", index, err, again)
			}
			if err := x.CheckSearched(t.Context(), report.Cities); err == nil || err.Error() != wrong.Error() {
				t.Errorf("a check says %v, want %v", err, wrong)
			}
			if i, err := x.Inspect(t.Context(), report.Cities); err != nil || i.Wrong == nil || i.Wrong.Remedy != wrong.Remedy {
				t.Errorf("an inspection says %+v, %v", i, err)
			}
			if x.CheckLineage(t.Context(), report.Cities) != nil {
				t.Error("a rebuild would be refused")
			}
		}
		wantLeftovers(t, x, []string{next}, nil)
		_, err := x.Ensure(t.Context(), report.Cities, again.resend)
		_, body, _ := strings.Cut(err.Error(), "-d '")
		body = body[:strings.LastIndex(body, "'")]
		must(t, x.Client, esapi.IndicesUpdateAliasesRequest{Body: strings.NewReader(body)})
		want, times := old, 0
		if !known {
			want, times = other, 1
		}
		if index, err := x.Ensure(t.Context(), report.Cities, again.resend); index != want || err != nil || int(again) != times {
			t.Errorf("got %q, %v; want %q; everything is sent again %d times, want %d", index, err, want, again, times)
		}
		if len(aliasOf(t, x)) != 1 {
			t.Errorf("the alias is on %v", aliasOf(t, x))
		}
	}
}

// TestRolesOfACopy: a copy brings the aliases along that record roles, and none of its roles is
// true. It is neither deleted nor rebuilt, nor does it stand for the index of another journal.
func TestRolesOfACopy(t *testing.T) {
	x := ofLine(t, elastictest.Prefix(t), "A")
	if !owns(t, x, report.Cities) {
		t.Fatal("the index is another journal's")
	}
	alias, old := x.Alias(report.Cities), x.Index(report.Cities, 1)
	meta := strings.Replace(metaOf(t, x, old), `"line":"A"`, `"line":"B"`, 1)
	for n, role := range []string{"-filled", "-rebuilding", "-retired"} {
		must(t, x.Client, esapi.IndicesCreateRequest{Index: x.Index(report.Cities, 7+n), Body: strings.NewReader(
			`{"mappings":{"_meta":` + meta + `},"aliases":{"` + alias + `":{},"` + alias + role + `":{}}}`)})
	}
	wantLeftovers(t, x, nil, nil)
	index, err := x.Ensure(t.Context(), report.Cities, nothing)
	if wrong, is := errors.AsType[*report.WrongAlias](err); index != old || !is || !strings.Contains(wrong.Detail, "cities-v8") {
		t.Errorf("got %q, %v", index, err)
	}
	for n := range 3 {
		if err := x.Remove(t.Context(), report.Cities, x.Index(report.Cities, 7+n)); err != nil {
			t.Error(err)
		}
	}
	if all := indicesOf(t, x); len(all) != 4 {
		t.Errorf("%v are left", all)
	}
}

func TestRefreshCounts(t *testing.T) {
	x, old, _ := twoIndices(t)
	must(t, x.Client, esapi.IndexRequest{Index: old, Body: strings.NewReader(`{}`)})
	if n, err := x.Refresh(t.Context(), old); n != 1 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
	if _, err := x.Refresh(t.Context(), x.Index(report.Cities, 9)); err == nil {
		t.Error("no error for a missing index")
	}
}
