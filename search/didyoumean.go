package search

import (
	"slices"
	"strings"
	"unicode"

	"riskdex/internal/letters"
)

// suggestion is a word of a search, with the words that it may stand for if an index does
// not know it.
type suggestion struct {
	Text    string `json:"text"`
	Options []struct {
		Text string `json:"text"`
	} `json:"options"`
}

// withoutNames takes the names from the clauses of a search that wellFound does not look at. Elasticsearch asks
// every clause that has one once more for the hits: with them, a search takes a third longer.
func withoutNames(value any) {
	switch v := value.(type) {
	case clause:
		if name, ok := v["_name"].(string); ok && !wellFound([]string{name}) {
			delete(v, "_name")
		}
		for _, inner := range v {
			withoutNames(inner)
		}
	case []any:
		for _, inner := range v {
			withoutNames(inner)
		}
	}
}

// wellFound reports whether a hit that these clauses of search.json found shows that the
// search was understood as it was typed.
func wellFound(clauses []string) bool {
	return slices.ContainsFunc(clauses, func(name string) bool {
		switch name {
		case "a place that was understood", "its country, in the time that was asked for",
			"misspelt name", "misspelt name, and other words", "misspelt words", "a place in it", "a country in it", "a region in it", "a rare word", "its threat", "new", "words of its title",
			"some of the words, or others for the same threat", "all words in title, names and country":
			return false
		}
		return true
	})
}

// didYouMean returns the search with every unknown word replaced by the likeliest one, where no hit was
// found by the words as they are. It returns "" if nothing is similar to them. The index says which words it does not know; a word in the title of a hit is never taken
// for misspelt.
func didYouMean(words []suggestion, hits []Hit) string {
	known := map[string]bool{}
	for _, hit := range hits {
		for word := range strings.FieldsFuncSeq(hit.Title, notInWord) {
			known[letters.Fold(word)] = true
		}
	}
	var likelier []string
	changed := false
	for _, word := range words {
		text := word.Text
		if len(word.Options) > 0 && !known[letters.Fold(text)] {
			text, changed = word.Options[0].Text, true
		}
		likelier = append(likelier, text)
	}
	if !changed {
		return ""
	}
	return strings.Join(likelier, " ")
}

func notInWord(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.Is(unicode.Mn, c)
}
