package livetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
	"riskdex/search"
)

// spellings are each one name to somebody who searches.
var spellings = [][]string{
	{"Σύρος", "ΣΥΡΟΣ", "σύροσ", "ΣΎΡΟΣ", "Συ\u0301ρος", "Σὺρος"},
	{"Ρόδος", "ΡΟΔΟΣ", "ρόδος", "ῥόδος"},
	{"יְרוּשָׁלַיִם", "ירושלים", "ירו\ufb2aלים"},
	{"תל־אביב", "תל אביב", "תֵּל אָבִיב"},
	{"부산", norm.NFD.String("부산")},
	{"서울특별시", norm.NFD.String("서울특별시")},
	{"臺北", "台北"},
	{"台灣", "臺灣", "台湾"},
	{"廣州", "广州", "広州"},
	{"東京", "东京"},
	{"横濱", "横浜", "橫濱"},
	{"Королёв", "КОРОЛЕВ", "Короле\u0308в"},
	{"Йошкар-Ола", norm.NFD.String("ЙОШКАР-ОЛА"), "йошкар ола"},
	{"الإسكندرية", "الاسكندريه", "اَلْإِسْكَنْدَرِيَّة", "الا\u0655سكندرية", "الإســكندرية"},
	{"کرمانشاه", "كرمانشاه"},
	{"फ़रीदाबाद", "फरीदाबाद", "\u095eरीदाबाद"},
	{"कोलकाता", "कोल\u200dकाता"},
	{"เชียงใหม่", "เชียงใหม"},
	{"Đà Nẵng", norm.NFD.String("ĐÀ NẴNG"), "da nang"},
	{"ＬＯＮＤＯＮ", "London"},
	{"トヨハシ", "ﾄﾖﾊｼ"},
	{"ナガサキ", "ﾅｶﾞｻｷ", norm.NFD.String("ナガサキ")},
	{"İzmit", "IZMIT", "ızmit"},
}

// TestEverySpellingIsFound: case, marks, width, the form of a letter at the end of a word, and
// which of two characters stands for the other, never matter, in no script.
func TestEverySpellingIsFound(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	var records []record
	for n, same := range spellings {
		for i, written := range same {
			records = append(records,
				record{kind: report.Cities, id: fmt.Sprint(n, ".title.", i), body: `{"title":"` + written + `"}`},
				record{kind: report.Cities, id: fmt.Sprint(n, ".name.", i), body: `{"title":"Qqqqq","other_names":["` + written + `"]}`},
				record{kind: report.Advisories, id: fmt.Sprint(n, ".text.", i), body: `{"title":"Zzzzz","body":"Xxxxx ` + written + ` yyyyy."}`},
				record{kind: report.Advisories, id: fmt.Sprint(n, ".place.", i), body: `{"title":"Zzzzz","places":[{"name":"` + written + `"}]}`})
		}
	}
	fill(t, x, records)
	for n, same := range spellings {
		for _, typed := range same {
			for name, fields := range map[string][]string{"search": {"title", "name", "text", "place"}, "completion": {"title", "name"}} {
				made := x.Set.SearchBody
				if name == "completion" {
					made = x.Set.CompleteBody
				}
				found := page(t, x, made, typed, search.Query{Size: 50})
				for _, field := range fields {
					for i, written := range same {
						if id := fmt.Sprint(n, ".", field, ".", i); !slices.ContainsFunc(found, func(hit string) bool { return strings.HasSuffix(hit, "/"+id) }) {
							t.Errorf("%s: %+q does not find the %s %q, as %+q", name, typed, field, same[0], written)
						}
					}
				}
			}
		}
	}
}

// TestKnownNamesInEverySpelling: names that only the gazetteer has are found likewise.
func TestKnownNamesInEverySpelling(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	cities := []struct{ title, country, spellings string }{
		{"Athens", "GR", "Αθήνα ΑΘΗΝΑ αθηνα Αθη\u0301να"},
		{"Jerusalem", "IL", "ירושלים יְרוּשָׁלַיִם"},
		{"Busan", "KR", "부산 " + norm.NFD.String("부산")},
		{"Taipei", "TW", "台北 臺北"},
		{"Guangzhou", "CN", "广州 廣州 広州"},
		{"Tokyo", "JP", "東京 东京"},
		{"Alexandria", "EG", "الإسكندرية الاسكندرية الاسكندريه"},
		{"Rostov-on-Don", "RU", "Ростов-на-Дону РОСТОВ-НА-ДОНУ"},
	}
	var records []record
	for _, c := range cities {
		records = append(records, record{kind: report.Cities, id: c.title, body: `{"title":"` + c.title + `","country":"` + c.country + `"}`})
	}
	fill(t, x, records)
	for _, c := range cities {
		for typed := range strings.FieldsSeq(c.spellings) {
			for _, words := range []string{typed, typed + " 地震", typed + "地震"} {
				if got, _, _ := strings.Cut(first(t, x, x.Set.SearchBody, words), " "); got != c.title {
					t.Errorf("%+q finds %q, want %s", words, got, c.title)
				}
				if []rune(typed)[0] < 0x3000 {
					break // a script with spaces
				}
			}
			if got, _, _ := strings.Cut(first(t, x, x.Set.CompleteBody, typed), " "); got != c.title {
				t.Errorf("%+q completes to %q, want %s", typed, got, c.title)
			}
		}
	}
}
