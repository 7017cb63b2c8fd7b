package livetest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// ofLine returns the indices as a process sees them whose journal is of that line.
func ofLine(t *testing.T, prefix, line string) *indices.Indices {
	x := plainIndices(t, prefix)
	x.Lineage = line
	return x
}

// owns calls Ensure until it is decided which line owns the index of kind, and reports
// whether that is the line of x.
func owns(t *testing.T, x *indices.Indices, kind report.Kind) bool {
	t.Helper()
	for range 100 {
		_, err := x.Ensure(t.Context(), kind, nothing)
		if errors.Is(err, report.ErrUndecided) {
			continue
		}
		if err != nil && !errors.Is(err, report.ErrAnotherJournal) {
			t.Fatal(err)
		}
		return err == nil
	}
	t.Fatalf("the owner of %s was not decided", x.Alias(kind))
	return false
}

// TestIndexIsLeftToItsJournal: a process with a journal of another line changes nothing and
// resends nothing.
func TestIndexIsLeftToItsJournal(t *testing.T) {
	a := ofLine(t, elastictest.Prefix(t), "A")
	for _, kind := range report.AllKinds() {
		if !owns(t, a, kind) {
			t.Fatalf("the process does not own the new index of %s", a.Alias(kind))
		}
	}
	before := metaOf(t, a, a.Index(report.Cities, 1))
	if !strings.Contains(before, `"line":"A"`) {
		t.Errorf("%s is noted", before)
	}
	b := ofLine(t, a.Prefix, "B")
	b.Client = newClientOver(t, onlyReading{t})
	var again counter
	for _, kind := range report.AllKinds() {
		for range 2 {
			if _, err := b.Ensure(t.Context(), kind, again.resend); !errors.Is(err, report.ErrAnotherJournal) ||
				!strings.Contains(err.Error(), a.Index(kind, 1)) {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if err := b.CheckLineage(t.Context(), kind); !errors.Is(err, report.ErrAnotherJournal) || !b.OwnedByOther(kind) {
			t.Errorf("%s: %v, %v", kind, err, b.OwnedByOther(kind))
		}
		if err := a.CheckLineage(t.Context(), kind); err != nil || a.OwnedByOther(kind) {
			t.Errorf("%s, its own: %v, %v", kind, err, a.OwnedByOther(kind))
		}
	}
	if after := metaOf(t, a, a.Index(report.Cities, 1)); after != before || again != 0 {
		t.Errorf("%s is noted, before %s; everything is sent again %d times", after, before, again)
	}
}

// TestLineComesBeforeAllElse: an index has its line from the request that creates it, even
// if its creator gets no further.
func TestLineComesBeforeAllElse(t *testing.T) {
	a := ofLine(t, elastictest.Prefix(t), "A")
	a.Client = newClientOver(t, unmarkable(503))
	if _, err := a.Ensure(t.Context(), report.Cities, nothing); err == nil {
		t.Fatal("the index was marked, so this test shows nothing")
	}
	if owns(t, ofLine(t, a.Prefix, "B"), report.Cities) {
		t.Error("another journal got the index")
	}
}

// TestOneOfSeveralNewJournalsHasAllKinds: one journal gets all kinds, though all look at
// the same moment, and each at its kinds in another order.
func TestOneOfSeveralNewJournalsHasAllKinds(t *testing.T) {
	for range 5 {
		prefix := elastictest.Prefix(t)
		lines := []string{"A", "B", "C"}
		had := make([]int, len(lines))
		var all sync.WaitGroup
		var ready sync.WaitGroup
		ready.Add(len(lines))
		for i, line := range lines {
			x := ofLine(t, prefix, line)
			all.Go(func() {
				ready.Done()
				ready.Wait()
				var mine sync.WaitGroup
				var mu sync.Mutex
				for _, kind := range report.AllKinds() {
					mine.Go(func() {
						for {
							_, err := x.Ensure(t.Context(), kind, nothing)
							if errors.Is(err, report.ErrUndecided) {
								continue
							}
							if err == nil {
								mu.Lock()
								had[i]++
								mu.Unlock()
							} else if !errors.Is(err, report.ErrAnotherJournal) {
								t.Errorf("%s, %s: %v", line, kind, err)
							}
							return
						}
					})
				}
				mine.Wait()
			})
		}
		all.Wait()
		slices.Sort(had)
		if !slices.Equal(had, []int{0, 0, len(report.AllKinds())}) {
			t.Errorf("of the kinds, the journals have %v", had)
		}
	}
}

// TestOtherKindsWaitForCities: the other kinds wait for cities, whose owner is theirs too,
// and for nothing else.
func TestOtherKindsWaitForCities(t *testing.T) {
	a := ofLine(t, elastictest.Prefix(t), "A")
	if _, err := a.Ensure(t.Context(), report.Advisories, nothing); !errors.Is(err, report.ErrUndecided) {
		t.Errorf("without cities: %v", err)
	}
	if !owns(t, ofLine(t, a.Prefix, "B"), report.Cities) || owns(t, a, report.Advisories) {
		t.Error("the owner of cities does not decide the owner of advisories")
	}
}

// TestIndexWithoutALineIsClaimed: one of the journals that find an index without a line
// claims it, and does not fill it from the beginning.
func TestIndexWithoutALineIsClaimed(t *testing.T) {
	for range 5 {
		x := plainIndices(t, elastictest.Prefix(t))
		index, err := x.Ensure(t.Context(), report.Cities, nothing)
		if err != nil {
			t.Fatal(err)
		}
		a, b := ofLine(t, x.Prefix, "A"), ofLine(t, x.Prefix, "B")
		var again counter
		var first, both sync.WaitGroup
		first.Add(2)
		for _, x := range []*indices.Indices{a, b} {
			both.Go(func() {
				first.Done()
				first.Wait()
				if got, err := x.Ensure(t.Context(), report.Cities, again.resend); err == nil {
					t.Errorf("%s is used before another check", got)
				}
			})
		}
		both.Wait()
		if owns(t, a, report.Cities) == owns(t, b, report.Cities) {
			t.Error("both journals own the index, or none")
		}
		if meta := metaOf(t, x, index); again != 0 || !strings.Contains(meta, `"hash"`) || !strings.Contains(meta, `"uuid"`) {
			t.Errorf("%s is noted; everything is sent again %d times", meta, again)
		}
	}
}

// TestDocumentsWithoutALineAreNotAdopted: an index that has documents and does not say whose they
// are is left alone and told, wherever it comes from, unless this process knows it.
func TestDocumentsWithoutALineAreNotAdopted(t *testing.T) {
	put := func(t *testing.T, x *indices.Indices, index string) {
		must(t, x.Client, esapi.IndexRequest{Index: index, DocumentID: "1", Body: strings.NewReader(`{}`)})
	}
	for name, make := range map[string]func(*testing.T, *indices.Indices) (index string){
		"made by a riskdex without a journal": func(t *testing.T, x *indices.Indices) string {
			index, err := plainIndices(t, x.Prefix).Ensure(t.Context(), report.Cities, nothing)
			if err != nil {
				t.Fatal(err)
			}
			return index
		},
		"behind an alias made by hand": func(t *testing.T, x *indices.Indices) string {
			index := x.Prefix + "by-hand"
			must(t, x.Client, esapi.IndicesCreateRequest{Index: index, Body: strings.NewReader(`{"aliases":{"` + x.Alias(report.Cities) + `":{}}}`)})
			return index
		},
		"under a name and with the mapping of riskdex": func(t *testing.T, x *indices.Indices) string {
			must(t, x.Client, esapi.IndicesCreateRequest{Index: x.Index(report.Cities, 3), Body: strings.NewReader(`{"mappings":{"_meta":{"riskdex":{"hash":"` + x.Set.Hash(report.Cities) + `"}}}}`)})
			return x.Index(report.Cities, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := ofLine(t, elastictest.Prefix(t), "A")
			index := make(t, a)
			put(t, a, index)
			before := metaOf(t, a, index)
			var again counter
			for _, kind := range []report.Kind{report.Cities, report.Advisories} {
				_, err := a.Ensure(t.Context(), kind, again.resend)
				if !errors.Is(err, report.ErrAnotherJournal) || !strings.Contains(err.Error(), index) || !strings.Contains(err.Error(), "does not say") {
					t.Errorf("%s: %v, want an error that says whose the documents of %s are not", kind, err, index)
				}
			}
			if meta := metaOf(t, a, index); meta != before || again != 0 {
				t.Errorf("%s is noted, %s before; everything is sent again %d times", meta, before, again)
			}
		})
	}

	a := ofLine(t, elastictest.Prefix(t), "A")
	for _, what := range []string{"created", "found"} {
		if !owns(t, a, report.Cities) {
			t.Fatalf("the index that was %s is not its own", what)
		}
	}
	index := a.Index(report.Cities, 1)
	put(t, a, index)
	must(t, a.Client, esapi.IndicesPutMappingRequest{Index: []string{index}, Body: strings.NewReader(`{"_meta":{}}`)})
	a.Forget(report.Cities) // as before it is filled again, and where another process manages it
	if !owns(t, a, report.Cities) || !strings.Contains(metaOf(t, a, index), `"line":"A"`) {
		t.Errorf("the process does not know the index any more that it fills: %s is noted", metaOf(t, a, index))
	}
}

// TestIndexOfNobodyIsMadeAgain: once somebody has deleted an index that did not say whose it was, no other
// journal will create it.
func TestIndexOfNobodyIsMadeAgain(t *testing.T) {
	a := ofLine(t, elastictest.Prefix(t), "A")
	index := a.Prefix + "by-hand"
	must(t, a.Client, esapi.IndicesCreateRequest{Index: index, Body: strings.NewReader(`{"aliases":{"` + a.Alias(report.Cities) + `":{}}}`)})
	must(t, a.Client, esapi.IndexRequest{Index: index, DocumentID: "1", Body: strings.NewReader(`{}`)})
	if owns(t, a, report.Cities) {
		t.Fatal("the index is adopted")
	}
	must(t, a.Client, esapi.IndicesDeleteRequest{Index: []string{index}})
	for _, kind := range []report.Kind{report.Cities, report.Advisories} {
		if !owns(t, a, kind) {
			t.Errorf("%s has no index", kind)
		}
	}
}

// TestTakeOver: creating the new index is what takes a kind over. Before that, and for
// other kinds, nothing changes. Once that index is deleted, everything is as it was; once
// it has the alias, the kind belongs to its line.
func TestTakeOver(t *testing.T) {
	a := ofLine(t, elastictest.Prefix(t), "A")
	for _, kind := range report.AllKinds() {
		owns(t, a, kind)
	}
	b := ofLine(t, a.Prefix, "B")
	if owns(t, b, report.Cities) || owns(t, b, report.Probe) {
		t.Fatal("the index was taken over without a command")
	}
	before := metaOf(t, a, a.Index(report.Cities, 1))
	var again counter
	claim := func(x *indices.Indices, n int) string {
		t.Helper()
		index := a.Index(report.Cities, n)
		if err := x.Create(t.Context(), report.Cities, index); err != nil {
			t.Fatal(err)
		}
		return index
	}
	wantClaim := func(x *indices.Indices, index string, stands bool) {
		t.Helper()
		if _, err := x.CheckTakeOver(t.Context(), report.Cities, index); stands && err != nil || !stands && !errors.Is(err, report.ErrAnotherJournal) {
			t.Errorf("the claim %s: %v", index, err)
		}
	}
	second := claim(b, 2)
	wantClaim(b, second, true)
	if owns(t, a, report.Cities) || !owns(t, a, report.Advisories) || owns(t, b, report.Probe) {
		t.Error("the former owner still has the cities, or lost other kinds")
	}
	broken := errors.New("the journal is away")
	if _, err := b.Ensure(t.Context(), report.Cities, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Ensure returned %v, want the error of the journal", err)
	}
	wantClaim(b, second, true)
	if owns(t, b, report.Cities) || again != 0 {
		t.Error("beginning a take-over made the other journal's index its own")
	}
	wantLeftovers(t, a, nil, nil)
	wantClaim(b, second, false)
	if !owns(t, a, report.Cities) || again != 0 || metaOf(t, a, a.Index(report.Cities, 1)) != before {
		t.Error("an abandoned take-over leaves something behind")
	}

	second = claim(b, 2)
	third := claim(a, 3) // its owner takes it back
	wantClaim(b, second, false)
	wantClaim(a, third, true)
	if err := a.CheckLineage(t.Context(), report.Cities); err != nil || owns(t, b, report.Cities) {
		t.Errorf("the former owner does not get the index back: %v", err)
	}
	wantLeftovers(t, a, []string{third}, nil)
	if err := a.Remove(t.Context(), report.Cities, third); err != nil {
		t.Fatal(err)
	}

	second = claim(b, 2)
	if err := b.Swap(t.Context(), report.Cities, a.Index(report.Cities, 1), second); err != nil {
		t.Fatal(err)
	}
	wantClaim(b, second, true)
	if !owns(t, b, report.Cities) || owns(t, a, report.Cities) {
		t.Error("the former owner still has the cities, or the new one does not")
	}
	if !owns(t, b, report.Probe) || owns(t, a, report.Probe) {
		t.Error("the probe does not follow cities")
	}
	wantLeftovers(t, b, nil, []string{a.Index(report.Cities, 1)})
}

// TestLostIndexIsMadeByItsOwner: a process that was waiting beside a lost index does not
// take it unless it is told to. One that starts then finds nothing, and makes it.
func TestLostIndexIsMadeByItsOwner(t *testing.T) {
	a := ofLine(t, elastictest.Prefix(t), "A")
	b := ofLine(t, a.Prefix, "B")
	lose := func() {
		must(t, a.Client, esapi.IndicesDeleteRequest{Index: []string{a.Index(report.Cities, 1)}})
	}
	if !owns(t, a, report.Cities) || owns(t, b, report.Cities) {
		t.Fatal("the first journal does not own its new index, or the second one does")
	}
	lose()
	for range 2 { // not at the first check, and not at a later one
		if owns(t, b, report.Cities) {
			t.Error("another journal recreates the lost index")
		}
	}
	if !owns(t, a, report.Cities) {
		t.Error("its owner does not recreate the lost index")
	}
	lose()
	second := a.Index(report.Cities, 2)
	if err := b.Create(t.Context(), report.Cities, second); err != nil {
		t.Fatal(err)
	}
	if owns(t, a, report.Cities) {
		t.Error("its owner recreates the index although another journal has begun to take over")
	}
	if err := b.Swap(t.Context(), report.Cities, "", second); err != nil || !owns(t, b, report.Cities) {
		t.Errorf("a take-over of the lost index failed: %v", err)
	}
	if err := b.Create(t.Context(), report.Cities, a.Index(report.Cities, 3)); err != nil {
		t.Fatal(err)
	}
	must(t, a.Client, esapi.IndicesUpdateAliasesRequest{Body: strings.NewReader(
		`{"actions":[{"add":{"index":"` + second + `","alias":"` + a.Alias(report.Cities) + `","is_write_index":false}}]}`)})
	if err := b.Swap(t.Context(), report.Cities, "", a.Index(report.Cities, 3)); err == nil || !strings.Contains(err.Error(), second) {
		t.Errorf("the swap returned %v, want that the alias is on another index", err)
	}
	must(t, a.Client, esapi.IndicesDeleteRequest{Index: []string{second, a.Index(report.Cities, 3)}})
	if !owns(t, ofLine(t, a.Prefix, "C"), report.Cities) {
		t.Error("a starting process does not recreate the lost index")
	}
}

// onlyReading fails the test for every request that changes something.
type onlyReading struct{ t *testing.T }

func (o onlyReading) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		o.t.Errorf("the request %s %s changes something", req.Method, req.URL.Path)
	}
	return http.DefaultTransport.RoundTrip(req)
}
