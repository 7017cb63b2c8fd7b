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

	"riskdex/internal/elasticserver/elastictest"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// ofLine returns the indices as a process sees them whose journal is of that line.
func ofLine(t *testing.T, prefix, line string) *indices.Indices {
	x := newIndices(t, prefix)
	x.Line = line
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
	t.Fatalf("whose %s is was not decided", x.Alias(kind))
	return false
}

// TestIndexIsLeftToItsJournal: a process with a journal of another line changes nothing and
// resends nothing.
func TestIndexIsLeftToItsJournal(t *testing.T) {
	a := ofLine(t, elastictest.Prefix(t), "A")
	for _, kind := range report.AllKinds() {
		if !owns(t, a, kind) {
			t.Fatalf("a new %s is not its own", a.Alias(kind))
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
		if err := b.CheckLine(t.Context(), kind); !errors.Is(err, report.ErrAnotherJournal) || !b.Foreign(kind) {
			t.Errorf("%s: %v, %v", kind, err, b.Foreign(kind))
		}
		if err := a.CheckLine(t.Context(), kind); err != nil || a.Foreign(kind) {
			t.Errorf("%s, its own: %v, %v", kind, err, a.Foreign(kind))
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
		t.Fatal("it was marked")
	}
	if owns(t, ofLine(t, a.Prefix, "B"), report.Cities) {
		t.Error("another journal has the index")
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
		var look sync.WaitGroup
		look.Add(len(lines))
		for i, line := range lines {
			x := ofLine(t, prefix, line)
			all.Go(func() {
				look.Done()
				look.Wait()
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
		t.Error("whose cities are not does not say whose advisories are")
	}
}

// TestIndexWithoutALineIsClaimed: one of the journals that find an index without a line
// claims it, and does not fill it from the beginning.
func TestIndexWithoutALineIsClaimed(t *testing.T) {
	for range 5 {
		x := newIndices(t, elastictest.Prefix(t))
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
					t.Errorf("%s is used before another look", got)
				}
			})
		}
		both.Wait()
		if owns(t, a, report.Cities) == owns(t, b, report.Cities) {
			t.Error("both have it, or none")
		}
		if meta := metaOf(t, x, index); again != 0 || !strings.Contains(meta, `"hash"`) || !strings.Contains(meta, `"uuid"`) {
			t.Errorf("%s is noted; everything is sent again %d times", meta, again)
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
		t.Fatal("untold")
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
		if _, err := x.CheckClaim(t.Context(), report.Cities, index); stands && err != nil || !stands && !errors.Is(err, report.ErrAnotherJournal) {
			t.Errorf("the claim %s: %v", index, err)
		}
	}
	second := claim(b, 2)
	wantClaim(b, second, true)
	if owns(t, a, report.Cities) || !owns(t, a, report.Advisories) || owns(t, b, report.Probe) {
		t.Error("its owner has the cities still, or what was not taken from it no longer")
	}
	broken := errors.New("the journal is away")
	if _, err := b.Ensure(t.Context(), report.Cities, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("undone before the journal has marked what was written there: %v", err)
	}
	wantClaim(b, second, true)
	if owns(t, b, report.Cities) || again != 0 {
		t.Error("the index of another journal is its own, because it has begun to take over")
	}
	wantLeftovers(t, a, nil, nil)
	wantClaim(b, second, false)
	if !owns(t, a, report.Cities) || again != 0 || metaOf(t, a, a.Index(report.Cities, 1)) != before {
		t.Error("a take-over that nobody goes on with leaves something behind")
	}

	second = claim(b, 2)
	third := claim(a, 3) // its owner takes it back
	wantClaim(b, second, false)
	wantClaim(a, third, true)
	if err := a.CheckLine(t.Context(), report.Cities); err != nil || owns(t, b, report.Cities) {
		t.Errorf("it does not get it back: %v", err)
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
		t.Error("its owner has the cities still, or the other one does not")
	}
	if !owns(t, b, report.Probe) || owns(t, a, report.Probe) {
		t.Error("the probe does not go along with cities")
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
		t.Fatal("not as wanted")
	}
	lose()
	for range 2 { // not at the first look, and not at a later one
		if owns(t, b, report.Cities) {
			t.Error("another journal makes the index anew")
		}
	}
	if !owns(t, a, report.Cities) {
		t.Error("its owner does not")
	}
	lose()
	second := a.Index(report.Cities, 2)
	if err := b.Create(t.Context(), report.Cities, second); err != nil {
		t.Fatal(err)
	}
	if owns(t, a, report.Cities) {
		t.Error("its owner makes it, though another journal has begun to take over")
	}
	if err := b.Swap(t.Context(), report.Cities, "", second); err != nil || !owns(t, b, report.Cities) {
		t.Errorf("not even when told: %v", err)
	}
	if err := b.Create(t.Context(), report.Cities, a.Index(report.Cities, 3)); err != nil {
		t.Fatal(err)
	}
	must(t, a.Client, esapi.IndicesUpdateAliasesRequest{Body: strings.NewReader(
		`{"actions":[{"add":{"index":"` + second + `","alias":"` + a.Alias(report.Cities) + `","is_write_index":false}}]}`)})
	if err := b.Swap(t.Context(), report.Cities, "", a.Index(report.Cities, 3)); err == nil || !strings.Contains(err.Error(), second) {
		t.Errorf("the alias is put on a second index: %v", err)
	}
	must(t, a.Client, esapi.IndicesDeleteRequest{Index: []string{second, a.Index(report.Cities, 3)}})
	if !owns(t, ofLine(t, a.Prefix, "C"), report.Cities) {
		t.Error("nor at a start")
	}
}

// onlyReading fails the test for every request that changes something.
type onlyReading struct{ t *testing.T }

func (o onlyReading) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		o.t.Errorf("%s %s", req.Method, req.URL.Path)
	}
	return http.DefaultTransport.RoundTrip(req)
}
