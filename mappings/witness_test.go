package mappings

import (
	"fmt"
	"strings"
	"testing"

	"riskdex/search"
)

// TestUnderstand tells what words are: the longest name counts, of namesakes the one that agrees with the
// other words, and a word for a time is none to be found.
func TestUnderstand(t *testing.T) {
	w := builtinSet(t).bodies.Witness
	for words, want := range map[string]string{
		"bedbugs Paris":                   "Paris/FR; rest bedbugs; words bedbugs Paris",
		"latest advisories":               "latest; kinds advisories; words ",
		"floods in New York next week":    "New York City/US; natural_hazards; now/w+7d-now/w+14d; words floods in New York",
		"nächste streiks":                 "strikes; now/d-; words streiks",
		"séisme récent":                   "natural_hazards; latest; words séisme",
		"next election Kenya":             "Kenya/KE; politics; now/d-; words election Kenya",
		`"tear gas" Nairobi`:              "Nairobi/KE; words Nairobi tear gas",
		"東京 今週 地震":                        "Tokyo/JP; natural_hazards; now/d-now/w+7d; words 東京 地震",
		"kidnaping nigera":                "Nigeria/NG; kidnapping; words kidnaping nigera",
		"Nairobbi protest":                "Nairobi/KE?; unrest; words Nairobbi protest",
		"republic of korea":               "South Korea/KR; words republic of korea",
		"Birmingham Alabama":              "Birmingham/US; Alabama/US; words Birmingham Alabama",
		"west africa malaria":             "West Africa/BF+; health; words west africa malaria",
		"GYE curfew":                      "Guayaquil/EC; unrest; words GYE curfew",
		"NYT":                             "Nay Pyi Taw/MM; words NYT",
		"FR strike":                       "France/FR; strikes; words FR strike",
		"STRIKE IN PARIS NOW":             "Paris/FR; strikes; now/d-now+1d/d; words STRIKE IN PARIS",
		"\"'></b>wibble onerror=\"x":      "rest b>wibble onerror x; words '></b>wibble onerror= x",
		"hnd-per":                         "rest hnd; words hnd-per",
		"londonde":                        "rest londonde; words londonde",
		"flood 02026":                     "natural_hazards; rest 02026; words flood 02026",
		"HND 最新":                          "Tokyo/JP; latest; words HND",
		"GYE 2024":                        "Guayaquil/EC; 2024-01-01-2025-01-01; words GYE 2024",
		"日本周边地震":                          "natural_hazards; words 日本周边地震",
		`"`:                               `words "`,
		"ATM skimming":                    "crime; rest atm; words ATM skimming",
		"formosa":                         "Taiwan/TW; words formosa",
		"bali":                            "Bali/ID; words bali",
		"granada strike":                  "Granada/ES; strikes; words granada strike",
		"washington":                      "Washington, D.C./US; words washington",
		"punjab":                          "Punjab/PK; words punjab",
		"floods gqeberha":                 "Port Elizabeth/ZA; natural_hazards; words floods gqeberha",
		"chattogram":                      "Chittagong/BD; words chattogram",
		"strike na":                       "strikes; rest na; words strike na",
		"nå streik":                       "strikes; now/d-now+1d/d; words streik",
		"breaking and entering":           "crime; words breaking and entering",
		"delhi belly":                     "health; words delhi belly",
		"UK FLOODS":                       "United Kingdom/GB; natural_hazards; words UK FLOODS",
		"NO STRIKE IN PARIS":              "Paris/FR; strikes; words NO STRIKE IN PARIS",
		"red alert Kenya":                 "Kenya/KE; kinds advisories; rest red; idiom red alert; words red Kenya",
		"planned parenthood":              "now/d-; rest parenthood; idiom planned parenthood; words parenthood",
		"latest situation Kenya":          "Kenya/KE; latest; rest situation; words situation Kenya",
		"scioperi a dicembre in Italia":   "Italy/IT; strikes; now/y+11M-now/y+12M; words scioperi a dicembre in Italia",
		"may I bring pepper spray":        "rest bring pepper spray; words may I bring pepper spray",
		"what is the situation in Crimea": "Crimea/UA; rest situation; words what is the situation in Crimea",
	} {
		u := search.Understand(words, w)
		if got := told(u); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", words, got, want)
		}
	}
}

// TestUnderstoodBody asks for what was understood: nothing that is known is looked for as if it was misspelt,
// and a time is no word.
func TestUnderstoodBody(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct{ words, has, hasNot string }{
		{"paris", `"a place that was understood"`, `"fuzziness"`},
		{"bedbugs paris", `"the place, and what was asked about it"`, `"in the time`},
		{"child abduction", `"child abduction"`, `"CL"`},
		{"next week", `"lt":"now/w+14d"`, `"boost_mode":"replace"`},
		{"latest advisories", `{"terms":{"kind":["advisories"]}}`, `"latest`},
		{"flood next week", `{"range":{"starts_at":{"lt":"now/w+14d"}}}`, `next week`},
		{`"tear gas" kenya`, `"analyzer":"words","fields":["title^4"`, `\"`},
		{"protest at the station hotel mashhad", `"match_phrase_prefix":{"title"`, `"in the time`},
		{"東京 地震", `"a name in it without a space beside it"`, `"fuzziness"`},
		{"planned parenthood", `"query":"planned parenthood","type":"phrase"`, `"planned"`},
		{"is kenya safe", `"on the country as a whole, and not over"`, `"the place, and what`},
		{"bali", `"the best known of its namesakes"`, `"fuzziness"`},
		{"paris next week", `"there, in the time that was asked for"`, `"fuzziness"`},
		{"hoo chi min city", `"a place that was understood"`, `"the best known`},
		{"argentia", `"on the country as a whole, and not over"`, `nearly called so`},
		{"treni", `"fuzziness"`, `"a place that was understood"`},
		{"kampuchea", `{"terms":{"country":["KH"]}}`, `"a name in it without a space beside it"`},
	} {
		body, err := s.SearchBody(c.words, search.Query{})
		if err != nil || !strings.Contains(string(body), c.has) || strings.Contains(string(body), c.hasNot) {
			t.Errorf("%s: want %s and not %s in %s, %v", c.words, c.has, c.hasNot, body, err)
		}
	}
}

// TestAskUnderstandsWhatWasAsked: only the first 100 characters count, for the answer, too.
func TestAskUnderstandsWhatWasAsked(t *testing.T) {
	s, sent := builtinSet(t), []string{}
	answer := func(body []byte) (search.Result, error) {
		sent = append(sent, string(body))
		return search.ReadResult([]byte(`{"hits":{"total":{"value":5}},"aggregations":{"places":{"apart":{"buckets":[{"doc_count":0}]}}}}`))
	}
	for _, words := range []string{"Grenoble " + strings.Repeat("xyzzyq ", 14) + "Paris", strings.Repeat("qz xv ", 10_000)} {
		if _, err := s.Ask(search.Query{Words: words}, answer); err != nil {
			t.Error(err)
		}
	}
	sent = nil
	found, err := s.Ask(search.Query{Words: "Grenoble strike", Sort: search.Newest}, answer)
	if err != nil || found.NoReport == nil || len(sent) != 2 || !strings.Contains(sent[1], "geo_distance") {
		t.Errorf("in an order that was asked for: %+v, %v, by %s", found.NoReport, err, sent)
	}
	if found, err := s.Ask(search.Query{Words: "rugby world cup"}, answer); err != nil || found.NoReport != nil {
		t.Errorf("a word that a small city is called, too: %+v, %v", found.NoReport, err)
	}
}

func told(u search.Understood) string {
	var all []string
	for _, m := range u.Places {
		p := m.Places[0]
		text := p.Name + "/" + p.Countries[0]
		if len(p.Countries) > 1 {
			text += "+"
		}
		if m.Misspelt {
			text += "?"
		}
		all = append(all, text)
	}
	all = append(all, u.Threats...)
	switch {
	case u.When == nil:
	case u.When.Latest:
		all = append(all, "latest")
	default:
		all = append(all, u.When.From+"-"+u.When.To)
	}
	if len(u.Kinds) > 0 {
		all = append(all, fmt.Sprint("kinds ", u.Kinds[0]))
	}
	if len(u.Rest) > 0 {
		all = append(all, "rest "+strings.Join(u.Rest, " "))
	}
	for _, idiom := range u.Idioms {
		all = append(all, "idiom "+idiom)
	}
	return strings.Join(append(all, "words "+u.Words), "; ")
}

// TestCompletionsOfAreas: countries and regions complete what was typed, by the name that was typed; a word
// within a name from four letters on, and after those that begin so. Only what reports are about is proposed.
func TestCompletionsOfAreas(t *testing.T) {
	s := builtinSet(t)
	if got := s.bodies.Witness.Begins("kingd", false); len(got) > 0 {
		t.Errorf("a word within a name: %v", got)
	}
	for typed, want := range map[string]string{
		"keny": "Kenya/KE", "royaume": "United Kingdom/GB Royaume Uni", "kingd": "United Kingdom/GB", "bava": "Bavaria/DE",
		"sahe": "Sahel/BF", "дания": "Denmark/DK Дания", "zzzz": "",
	} {
		found, err := s.Ask(search.Query{Words: typed, Complete: true, Fields: search.List()}, func(body []byte) (search.Result, error) {
			return search.ReadResult([]byte(`{"aggregations":{"places":{"apart":{"buckets":[{"doc_count":1},{"doc_count":0}]}}}}`))
		})
		got := ""
		for _, c := range found.Completions {
			got += strings.TrimSpace(c.Name + "/" + c.Countries[0] + " " + c.Matched)
		}
		if err != nil || got != want {
			t.Errorf("%s completes to %q, %v, want %q", typed, got, err, want)
		}
	}
}

// TestNamesInTheReadersLanguage: the publisher's title stays, and what the city and its country are called in
// the language of the reader is beside it.
func TestNamesInTheReadersLanguage(t *testing.T) {
	s := builtinSet(t)
	for language, want := range map[string]string{
		"": "; United Kingdom", "en": "; United Kingdom", "fr": "Londres; Royaume-Uni", "fr-CA": "Londres; Royaume-Uni", "no": "; Storbritannia", "ja": "ロンドン; イギリス", "xx": "; United Kingdom",
	} {
		found, err := s.Ask(search.Query{Words: "London", Language: language}, func([]byte) (search.Result, error) {
			return search.ReadResult([]byte(`{"hits":{"hits":[{"_source":{"kind":"cities","title":"London – City Safety Guide","country":"GB","names_known":"Londres Londra"}}]}}`))
		})
		if err != nil || len(found.Hits) != 1 {
			t.Fatal(found, err)
		}
		if got := found.Hits[0].InLanguage + "; " + strings.Join(found.Hits[0].CountryNames, ", "); got != want {
			t.Errorf("in %q: %q, want %q", language, got, want)
		}
	}
}
