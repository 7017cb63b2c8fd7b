package letters

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// hangul has the syllables in use, those of KS X 1001: a fifth of all there can be.
//
//go:embed hangul.txt
var hangul string

// Rules returns what Fold does as rules of Elasticsearch's `mapping` character filter, with a comma
// between two, without what its filters `lowercase` and `asciifolding` do. As that filter composes
// nothing, they have what is decomposed too; of Hangul, the syllables in use.
var Rules = sync.OnceValue(func() string {
	var rules []string
	add := func(r rune) {
		written, plain := string(r), each(string(r))
		if plain != string(unicode.ToLower(r)) && !unicode.Is(unicode.Latin, r) {
			rules = append(rules, written+"=>"+plain)
		}
		apart := []string{norm.NFD.String(written)}
		if unicode.Is(unicode.Katakana, r) {
			apart = append(apart, narrow.Replace(width.Narrow.String(apart[0])))
		}
		for _, letters := range apart {
			if utf8.RuneCountInString(letters) > 1 && each(letters) != plain {
				rules = append(rules, letters+"=>"+plain)
			}
		}
	}
	for r := range table() {
		if unicode.Is(unicode.Han, r) {
			add(r)
		}
	}
	for _, r := range strings.TrimSpace(hangul) {
		add(r)
	}
	for r := rune(0x80); r <= 0xffff; r++ {
		if unicode.In(r, unicode.L, unicode.M, unicode.Cf) && !unicode.In(r, unicode.Han, unicode.Hangul) {
			add(r)
		}
	}
	slices.Sort(rules)
	return strings.Join(slices.Compact(rules), ",")
})

// narrow has the marks of Kana, which the package width does not know.
var narrow = strings.NewReplacer("\u3099", "ﾞ", "\u309a", "ﾟ")
