package mappings

import (
	"strings"
	"testing"

	"riskdex/report"
)

// TestEveryExpectedFieldIsCounted: also where a file says that its feed is without it, which changes no
// document, so no index is rebuilt for it.
func TestEveryExpectedFieldIsCounted(t *testing.T) {
	builtin, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	files := builtinFiles(t)
	files["cities.json"].Data = []byte(strings.Replace(string(files["cities.json"].Data), `"fields"`, `"without": ["risk_level"], "fields"`, 1))
	without, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range report.Kinds() {
		for name, percent := range expected[kind] {
			for set, want := range map[*Set]int{builtin: percent, without: percent} {
				if set == without && kind == report.Cities && name == "risk_level" {
					want = 0
				}
				got := -1
				for _, f := range set.Fields(kind) {
					if f.Field == name {
						got = f.Expected
					}
				}
				if got != want {
					t.Errorf("%s of %s is expected in %d %%, want %d", name, kind, got, want)
				}
			}
		}
		if builtin.Hash(kind) != without.Hash(kind) {
			t.Errorf("the index of %s would be rebuilt", kind)
		}
	}
	inferred, err := parseKind([]byte(`{"about": "", "inferred": {"records": 5}, "without": ["title"], "fields": {"country": ["/c"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if used := inferred.over(builtin.kinds[report.Cities].stated, 0); len(used.Without) != 1 {
		t.Errorf("a file that was learnt and then edited is without %q", used.Without)
	}
}
