package follow

import (
	"errors"
	"math/rand/v2"
	"testing"

	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// city returns a delivery for a city, under a name. own is the id that its record states, or nothing.
func city(name, own, code string) report.Change {
	return report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(name)}, OwnID: report.ID(own), Op: report.Index, Code: code, Body: []byte(`{}`)}
}

// reissue has a city sent again under a new version, as repairs and rebuilds do.
func reissue(t *testing.T, j journal.Journal, id report.ID) {
	t.Helper()
	settle(t, j)
	found, err := j.Lookup(t.Context(), report.Cities, []report.ID{id})
	require.NoError(t, err)
	_, err = j.Reissue(t.Context(), []report.Stamp{found[0].Stamp})
	require.NoError(t, err)
}

// settle has a journal note that the index shows all cities.
func settle(t *testing.T, j journal.Journal) {
	t.Helper()
	claimed, err := j.Claim(t.Context(), report.Cities, 100, 1<<20)
	require.NoError(t, err)
	for _, c := range claimed {
		require.NoError(t, j.Settle(t.Context(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: map[report.Op]report.Outcome{report.Index: report.Indexed, report.Delete: report.Deleted}[c.Op]}}))
	}
}

// TestRolesChange: what the follower takes from then on is for the documents for which it would have been
// before.
func TestRolesChange(t *testing.T) {
	tests := map[string]struct {
		before []report.Change
		sent   []report.ID // once more, before it is followed
		after  []report.Change
	}{
		"a city known by its code alone is adopted":    {[]report.Change{city("LON", "", "")}, nil, []report.Change{city("7", "7", "LON")}},
		"under its code, too":                          {[]report.Change{city("LON", "", "LON")}, nil, []report.Change{city("LON", "7", "LON")}},
		"and deleted by its code":                      {[]report.Change{city("LON", "", "")}, nil, []report.Change{city("7", "7", "LON"), drop("LON")}},
		"an id that a record states is more":           {[]report.Change{city("LON", "LON", "")}, nil, []report.Change{city("7", "7", "LON")}},
		"a code that is kept":                          {[]report.Change{city("7", "7", "LON"), city("7", "7", "")}, nil, []report.Change{city("8", "8", "LON"), city("LON", "", "")}},
		"and taken back":                               {[]report.Change{city("7", "7", "LON"), city("7", "7", ""), city("8", "8", "LON")}, nil, []report.Change{city("LON", "", "")}},
		"a code of two":                                {[]report.Change{city("7", "7", "LON"), city("8", "8", "LON")}, nil, []report.Change{drop("7"), city("LON", "", "")}},
		"a city deleted with its code comes back":      {[]report.Change{city("7", "7", "LON"), drop("7")}, nil, []report.Change{city("LON", "", "")}},
		"unless another had kept the code since":       {[]report.Change{city("7", "7", "LON"), drop("7"), city("8", "8", "LON"), city("8", "8", "")}, nil, []report.Change{drop("8"), city("LON", "", "")}},
		"a delete that is repeated removes no other":   {[]report.Change{city("7", "7", "LON"), city("LON", "LON", ""), drop("LON")}, nil, []report.Change{drop("LON")}},
		"nor if the other was sent again since":        {[]report.Change{city("7", "7", "LON"), city("LON", "LON", ""), drop("LON")}, []report.ID{"7"}, []report.Change{drop("LON")}},
		"one that was delivered since can be deleted":  {[]report.Change{city("LON", "LON", ""), drop("LON"), city("7", "7", "LON")}, nil, []report.Change{drop("LON")}},
		"also if the tombstone was sent again since":   {[]report.Change{city("LON", "LON", ""), drop("LON"), city("7", "7", "LON"), city("7", "7", "")}, []report.ID{"LON"}, []report.Change{drop("LON")}},
		"the code of one that was adopted is no id":    {[]report.Change{city("LON", "", ""), city("7", "7", "LON"), drop("7")}, nil, []report.Change{city("LON", "", "")}},
		"a city by its code, which comes back with id": {[]report.Change{city("LON", "", ""), drop("LON")}, nil, []report.Change{city("7", "7", "LON"), city("LON", "", "")}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			from, own, late := open(t), open(t), open(t)
			f := newFollower(sourceOf(from), own)
			for _, c := range test.before {
				deliver(t, from, c)
				f.catchUp(t) // has seen all that happened
			}
			for _, id := range test.sent {
				reissue(t, from, id)
			}
			f.catchUp(t)
			newFollower(sourceOf(from), late).catchUp(t) // and one that has not
			second := open(t)
			newFollower(sourceOf(own), second).catchUp(t)
			for _, c := range test.after {
				_, want := from.Append(t.Context(), report.Delivery{Changes: []report.Change{c}})
				for _, j := range []journal.Journal{own, late, second} {
					if _, err := j.Append(t.Context(), report.Delivery{Changes: []report.Change{c}}); !errors.Is(err, errors.Unwrap(want)) && (err == nil) != (want == nil) {
						t.Errorf("%s is answered with %v, want %v", c.ID, err, want)
					}
				}
			}
			same(t, "one that saw all", from, own)
			same(t, "one that came late", from, late)
			same(t, "one that follows a follower", from, second)
		})
	}
}

func drop(name string) report.Change {
	return report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(name)}, Op: report.Delete}
}

// TestNamesAreThoseOfTheSource, after anything.
func TestNamesAreThoseOfTheSource(t *testing.T) {
	names := []string{"LON", "lon", "PAR", "1", "2", "3"}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		pick := func(of ...string) string { return of[r.IntN(len(of))] }
		from, own := open(t), open(t)
		f := newFollower(sourceOf(from), own)
		for range 40 {
			name := pick(names...)
			c := city(name, "", pick("", "LON", "PAR"))
			switch r.IntN(6) {
			case 0:
				c = drop(name)
			case 1:
				c.NoCode = c.Code == ""
			case 2, 3:
				c.OwnID = c.ID
			case 4:
				c.OwnID = report.ID(pick("1", "2", "3"))
			}
			if _, err := from.Append(t.Context(), report.Delivery{Changes: []report.Change{c}}); !errors.Is(err, report.ErrAmbiguous) {
				require.NoError(t, err)
			}
			if r.IntN(8) == 0 {
				if d, err := from.Document(t.Context(), report.Cities, report.ID(name)); err == nil && d.By.Known() && d.ID == report.ID(name) {
					reissue(t, from, d.ID)
				}
			}
			f.catchUp(t)
			for _, name := range names {
				a, err := from.Document(t.Context(), report.Cities, report.ID(name))
				require.NoError(t, err)
				b, err := own.Document(t.Context(), report.Cities, report.ID(name))
				require.NoError(t, err)
				if a.By != b.By || a.Key != b.Key {
					t.Fatalf("seed %d: %s is %s %v, and of the follower %s %v", seed, name, a.By, a.Key, b.By, b.Key)
				}
			}
		}
	}
}
