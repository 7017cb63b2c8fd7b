package livetest

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
)

// spoken are the official languages of countries, beside the one that most people speak there.
const spoken = "AF:ps AT:de BA:hr,sr BE:nl,fr,de BY:ru CA:en,fr CH:de,fr,it,rm CM:fr,en CY:el,tr DJ:ar,so DZ:fr,tzm ER:ar ES:ca,eu,gl FI:fi,sv " +
	"HK:zh-Hant,en IE:ga,en IL:he,ar IN:en,ta,te,kn,ml,mr,gu,pa,bn IQ:ar KE:sw,en KG:ru KZ:kk,ru LK:si,ta LU:lb,fr,de MA:ar,fr MG:mg,fr MT:mt,en " +
	"NG:ha,yo,ig NO:nb PE:qu,es PH:fil,en PK:ur,en RS:sr,sr-Latn RW:rw SG:en,ms,ta,zh TD:fr,ar TW:zh-Hant TZ:sw UZ:uz,uz-Cyrl XK:sq,sr ZA:af,zu,en ZW:sn,nd,en"

// TestCountriesByTheirOwnNames: what a country is called in its own languages finds it first.
func TestCountriesByTheirOwnNames(t *testing.T) {
	others := map[string]string{}
	for country := range strings.FieldsSeq(spoken) {
		code, languages, _ := strings.Cut(country, ":")
		others[code] = languages
	}
	type name struct{ country, language, name string }
	var names []name
	var records []record
	for first := 'A'; first <= 'Z'; first++ {
		for second := 'A'; second <= 'Z'; second++ {
			code := string([]rune{first, second})
			region, err := language.ParseRegion(code)
			if err != nil || !region.IsCountry() || region.String() != code || region.Canonicalize() != region || slices.Contains([]string{"AC", "CP", "DG", "EA", "EZ", "IC", "TA", "UN"}, code) {
				continue
			}
			english := display.English.Regions().Name(region)
			records = append(records, record{kind: report.Advisories, id: code, body: `{"title":"` + english + `","country":"` + code + `","body":"Take care."}`})
			most, _ := language.Make("und-" + code).Base()
			for tag := range strings.SplitSeq(strings.Trim(others[code]+","+most.String(), ","), ",") {
				if namer := display.Regions(language.Make(tag)); namer != nil && namer.Name(region) != "" {
					names = append(names, name{code, tag, namer.Name(region)})
				}
			}
		}
	}
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, records)
	for _, n := range names {
		got, _, _ := strings.Cut(first(t, x, x.Set.SearchBody, n.name), " ")
		if got != n.country {
			t.Errorf("%q, which is %s in %s, finds %q", n.name, n.country, n.language, got)
		}
	}
	for _, words := range []string{"Ísland eldgos", "ísland", "I\u0301sland"} {
		if got, _, _ := strings.Cut(first(t, x, x.Set.SearchBody, words), " "); got != "IS" {
			t.Errorf("%q finds %q, want IS", words, got)
		}
	}
	for got := range strings.FieldsSeq(first(t, x, x.Set.SearchBody, "island")) {
		if got == "IS" {
			t.Error("an island is not Iceland")
		}
	}
}
