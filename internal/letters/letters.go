// Package letters says which letters are the same to somebody who searches, in any script. riskdex
// compares names by it, and Elasticsearch analyses texts and searches by it.
package letters

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// han has lines of characters that stand for each other, simplified, traditional and Japanese. The
// first is the one to which they are folded.
//
//go:embed han.txt
var han string

// alike has what stands for a letter without being it with a mark.
const alike = "ىي یي کك ٱا ةه ہه ەه łl øo đd ðd þth ßss æae œoe ħh ŧt əa"

// Fold returns a word in lower case and without what does not matter: marks, width, the form at the
// end of a word, and which of several characters stands for another.
func Fold(word string) string { return each(norm.NFC.String(word)) }

func each(word string) string {
	var folded []byte
	for _, r := range word {
		folded = Append(folded, r)
	}
	return string(folded)
}

// Append appends Fold of a letter or mark that is composed as in NFC.
func Append(dst []byte, r rune) []byte {
	if s, found := table()[r]; found {
		return append(dst, s...)
	}
	return utf8.AppendRune(dst, unicode.ToLower(r))
}

// table has what is not merely written in lower case.
var table = sync.OnceValue(func() map[rune]string {
	t := make(map[rune]string, 1<<13)
	for pair := range strings.FieldsSeq(alike) {
		of := []rune(pair)
		t[of[0]] = string(of[1:])
	}
	t['ـ'] = "" // it only stretches a word
	for same := range strings.Lines(han) {
		of := []rune(strings.TrimSpace(same))
		for _, r := range of[1:] {
			t[r] = string(of[0])
		}
	}
	for r := rune(0x80); r <= 0xffff; r++ {
		switch {
		case t[r] != "", unicode.In(r, unicode.Han, unicode.Hangul), r >= 0xfb50 && r < 0xfeff && unicode.Is(unicode.Arabic, r):
		case unicode.Is(unicode.Cf, r), unicode.In(r, unicode.L, unicode.M):
			if s := plain(r, t); s != string(unicode.ToLower(r)) {
				t[r] = s
			}
		}
	}
	return t
})

// plain returns what a letter is folded to, but for those that are in alike already.
func plain(r rune, alike map[rune]string) string {
	var s strings.Builder
	for _, c := range norm.NFKD.String(string(r)) {
		if c == ' ' || ignored(c) { // a mark alone is decomposed into a space and a mark
			continue
		}
		c = unicode.ToLower(unicode.ToUpper(c)) // as ς is σ
		if other := alike[c]; other != "" {
			s.WriteString(other)
		} else {
			s.WriteRune(c)
		}
	}
	return norm.NFC.String(s.String())
}

// ignored reports whether c counts for nothing: it only says how text is shown, or is a mark that
// makes no other letter. By their combining class, vowels, viramas and the voicing of Kana do.
func ignored(c rune) bool {
	if !unicode.Is(unicode.Mn, c) || unicode.Is(unicode.Variation_Selector, c) {
		return unicode.In(c, unicode.Cf, unicode.Variation_Selector)
	}
	switch norm.NFD.PropertiesString(string(c)).CCC() {
	case 0, 8, 9, 84, 91, 103, 118, 129, 130, 132:
		return false
	}
	return true
}

// Edits returns how many bytes have to be added, left out, replaced or swapped with the next to make b of a.
func Edits(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
