package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"riskdex/report"
)

// TestReadAlikeElsewhere: after any deliveries, records are read as a process reads them that was given the
// last note of how, and not otherwise than before where nothing was noted.
func TestReadAlikeElsewhere(t *testing.T) {
	s := builtinSet(t)
	records := unnamed(30)
	rapid.Check(t, func(t *rapid.T) {
		here, elsewhere := s.copied(), s.copied()
		documents := func(of *Set, all []report.Change) (read []string) {
			for _, c := range all {
				doc, _, err := of.AppendDocument(nil, c)
				read = append(read, fmt.Sprint(string(doc), err))
			}
			return read
		}
		var all []report.Change
		for delivery := range rapid.IntRange(1, 4).Draw(t, "deliveries") {
			var changes []report.Change
			for shape := range rapid.IntRange(1, 3).Draw(t, "shapes") {
				names := strings.NewReplacer("zzB", rapid.SampledFrom([]string{"zzB", "qB", "country"}).Draw(t, "b"),
					"zzE", rapid.SampledFrom([]string{"zzE", "qE", "level"}).Draw(t, "e"))
				more := ""
				if rapid.Bool().Draw(t, "more") {
					more = `,"m":` + anyJSON(t, 2)
				}
				for i := range rapid.IntRange(1, 14).Draw(t, "times") {
					body := names.Replace(strings.TrimSuffix(string(records[2*i].Body), "}") + more + "}")
					changes = append(changes, change(report.Cities, fmt.Sprint(delivery, "-", shape, "-", i), body))
				}
			}
			all = append(all, changes...)
			before := documents(here, all)
			told, _ := here.See(report.Cities, changes, true)
			now := documents(here, all)
			if told == "" && !slices.Equal(now, before) {
				t.Fatal("records are read in another way, and nothing is noted of it")
			}
			if err := elsewhere.Use(report.Cities, told); err != nil {
				t.Fatalf("%s is refused: %v", told, err)
			}
			if here.Hash(report.Cities) != elsewhere.Hash(report.Cities) || !slices.Equal(now, documents(elsewhere, all)) {
				t.Fatalf("%s is read in another way elsewhere", told)
			}
		}
	})
}

// TestManyMembersAreReadQuickly: three times as many members of an object take no more than nine times the
// work, for which allocations stand.
func TestManyMembersAreReadQuickly(t *testing.T) {
	s := builtinSet(t)
	work := func(n int) float64 {
		var members []string
		for i := range n {
			members = append(members, fmt.Sprintf(`"k%d":1`, i))
		}
		var all []report.Change
		for i := range 6 {
			all = append(all, change(report.Cities, fmt.Sprint("n", i), `{"title":"x","nnn":{`+strings.Join(members, ",")+`}}`))
		}
		return testing.AllocsPerRun(1, func() { s.copied().See(report.Cities, all, true) })
	}
	if few, many := work(100), work(300); many > 9*few {
		t.Errorf("three times the members are %.0f times the work", many/few)
	}
}
