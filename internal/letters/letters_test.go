package letters

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func TestFold(t *testing.T) {
	for word, want := range map[string]string{
		"ΣΎΡΟΣ": "συροσ", "Σύρος": "συροσ", "ᾠδή": "ωδη", "יְרוּשָׁלַיִם": "ירושלים", "Королёв": "королев", "إِسْكَنْدَرِيَّة": "اسكندريه",
		"فارسی": "فارسي", "फ़रीदाबाद": "फरीदाबाद", "दिल्ली": "दिल्ली", "เชียงใหม่": "เชียงใหม", "臺灣": "台湾", "広島": "广岛", "ＬＯＮ": "lon",
		"Łódź": "lodz", "Straße": "strasse", "Azərbaycan": "azarbaycan", "ǾRE": "ore", "İı": "ii", "ガス": "ガス", "がす": "がす", "부산": "부산", "कोल\u200dकाता": "कोलकाता",
	} {
		if got := Fold(word); got != want {
			t.Errorf("%q is folded to %+q, want %+q", word, got, want)
		}
		if got := Fold(norm.NFD.String(word)); got != want {
			t.Errorf("%q, decomposed, is folded to %+q, want %+q", word, got, want)
		}
	}
	for r := rune(0); r <= 0xffff; r++ {
		if once := Fold(string(r)); Fold(once) != once {
			t.Errorf("%+q is folded to %+q, and that to %+q", r, once, Fold(once))
		}
	}
}

// TestRulesFold: the rules do what Fold does to every letter that they are for, composed or not.
func TestRulesFold(t *testing.T) {
	var rules []string
	for rule := range strings.SplitSeq(Rules(), ",") {
		written, plain, found := strings.Cut(rule, "=>")
		if !found || written == "" {
			t.Fatalf("%q is no rule", rule)
		}
		if slices.Contains(rules, written) {
			t.Errorf("there are two rules for %+q", written)
		}
		rules = append(rules, written, plain)
	}
	pairs := slices.Collect(slices.Chunk(rules, 2))
	slices.SortFunc(pairs, func(a, b []string) int { return len(b[0]) - len(a[0]) }) // the longest applies
	apply := strings.NewReplacer(slices.Concat(pairs...)...)
	for r := rune(0x80); r <= 0xffff; r++ {
		if !unicode.In(r, unicode.L, unicode.M) || unicode.In(r, unicode.Latin, unicode.Han) || unicode.Is(unicode.Hangul, r) && !strings.ContainsRune(hangul, r) {
			continue
		}
		for _, written := range []string{string(r), norm.NFD.String(string(r))} {
			if got := strings.ToLower(apply.Replace(written)); got != Fold(string(r)) {
				t.Errorf("the rules make %+q of %+q, and Fold %+q", got, written, Fold(string(r)))
			}
		}
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"paris", "paris", 0}, {"pairs", "paris", 1}, {"nairobbi", "nairobi", 1}, {"lodnom", "london", 2}, {"oslo", "rome", 4}} {
		if got, back := Edits(c.a, c.b), Edits(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d edits, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
