// Package language tells in which language a text is: by its script, or by the frequent words
// and the letters of words.txt. It would rather not answer than guess.
package language

import (
	_ "embed"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed words.txt
var wordList string

// Source is what the answers depend on.
func Source() string { return wordList }

const (
	// So many words or signs are enough. What follows them is not read.
	enough = 100

	// So few are enough if a third of them are known English words.
	few = 16

	// A language needs one known word in so many.
	oneIn = 12

	// longestWord of the list, in bytes.
	longestWord = 12
)

// Detector tells languages. It is immutable.
type Detector struct {
	codes   []string          // English is the first
	words   map[string]uint32 // the languages that have a word, a bit for each of codes
	letters map[rune]uint32
}

// New returns a Detector for the languages of words.txt, and for Russian, Arabic, Chinese,
// Japanese and Korean.
func New() *Detector {
	d := &Detector{words: map[string]uint32{}, letters: map[rune]uint32{}}
	for line := range strings.Lines(wordList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		code, list := line[:2], line[3:]
		at := slices.Index(d.codes, code)
		if at < 0 {
			at = len(d.codes)
			d.codes = append(d.codes, code)
		}
		for word := range strings.FieldsSeq(list) {
			if first, _ := utf8.DecodeRuneInString(word); line[2] == '+' {
				d.letters[first] |= 1 << at
			} else {
				d.words[word] |= 1 << at
			}
		}
	}
	return d
}

// Sure is how many known words make the language of a text sure.
const Sure = 3

// Of returns the language of a text as two letters of ISO 639, or "" if it is not clear. With
// less than [Sure] as fewest, short texts have a language too.
func (d *Detector) Of(text []byte, fewest int) string {
	var c census
	d.count(&c, text, nil)
	least := 16 // fewer letters are a name rather than a text
	if fewest < Sure {
		least = 1
	}
	const perSign = 3 // letters
	east := perSign * (c.han + c.kana + c.hangul)
	switch most := max(c.latin, east, c.cyrillic, c.arabic); {
	case most == c.latin:
		return d.byWords(&c, fewest)
	case most < least:
		return ""
	case most == c.cyrillic:
		return unless(c.notRussian*50 > most, "ru")
	case most == c.arabic:
		return unless(c.notArabic*50 > most, "ar")
	case c.hangul > c.han+c.kana:
		return "ko"
	case c.kana*10 > c.han:
		return "ja"
	}
	return "zh"
}

func unless(other bool, language string) string {
	if other {
		return ""
	}
	return language
}

// Words returns some words of a text by which its language is told.
func (d *Detector) Words(text []byte, language string) []string {
	const most = 5
	at := slices.Index(d.codes, language)
	if at < 0 {
		return nil
	}
	var found []string
	d.count(new(census), text, func(word []byte, languages uint32) {
		if languages>>at&1 == 1 && len(found) < most && !slices.Contains(found, string(word)) {
			found = append(found, string(word))
		}
	})
	return found
}

// census says what a text consists of.
type census struct {
	words                 int // in Latin letters
	known                 [32]int
	latin, cyrillic       int // letters by script
	arabic                int
	han, kana, hangul     int
	notRussian, notArabic int // letters of the script that the language lacks
}

// count counts the words and the letters of a text. It calls note with each known word.
func (d *Detector) count(c *census, text []byte, note func(word []byte, languages uint32)) {
	for at := 0; at < len(text) && c.words < enough && c.han+c.kana+c.hangul < enough; {
		word, special, end := d.word(c, text[at:])
		at += end
		if len(word) == 0 {
			continue
		}
		c.words++
		c.latin += len(word)
		if c.words > few && c.known[0]*3 > c.words {
			return
		}
		if 'A' <= word[0] && word[0] <= 'Z' {
			continue // part of a name, or the start of a sentence
		}
		languages := special
		if len(word) <= longestWord {
			if listed := d.words[string(word)]; listed != 0 {
				languages = listed
			}
		}
		for left := languages; left != 0; left &= left - 1 {
			c.known[bits.TrailingZeros32(left)]++
		}
		if note != nil && languages != 0 {
			note(word, languages)
		}
	}
}

// word returns the word in Latin letters with which text begins, the languages that have a
// special letter of it, and where to go on. It counts letters of other scripts.
func (d *Detector) word(c *census, text []byte) (word []byte, languages uint32, end int) {
	for end < len(text) {
		b := text[end]
		if b < utf8.RuneSelf {
			if b|0x20 < 'a' || b|0x20 > 'z' {
				return text[:end], languages, end + 1
			}
			end++
			continue
		}
		letter, size := utf8.DecodeRune(text[end:])
		latin := letter < 0x370 || 0x1e00 <= letter && letter < 0x1f00
		if !latin || !unicode.In(letter, unicode.L, unicode.M) {
			c.letter(letter)
			return text[:end], languages, end + size
		}
		languages |= d.letters[letter]
		end += size
	}
	return text, languages, end
}

// letter counts a letter that is not Latin.
func (c *census) letter(r rune) {
	switch {
	case 0x400 <= r && r < 0x530:
		c.cyrillic++
		if (r < 0x410 || r > 0x44f) && r != 'ё' && r != 'Ё' {
			c.notRussian++
		}
	case 0x620 <= r && r < 0x780:
		c.arabic++
		if r >= 0x671 {
			c.notArabic++
		}
	case 0x3040 <= r && r < 0x3100:
		c.kana++
	case 0x3400 <= r && r < 0xa000:
		c.han++
	case 0xac00 <= r && r < 0xd7b0:
		c.hangul++
	}
}

// byWords returns the language with most known words: English unless another one has half as
// many again, and none if two have as many.
func (d *Detector) byWords(c *census, fewest int) string {
	best, most := 0, c.known[0]*3/2
	for at := 1; at < len(d.codes); at++ {
		if c.known[at] > most {
			best, most = at, c.known[at]
		}
	}
	most = c.known[best]
	if most < fewest || most*oneIn < c.words || best > 0 && slices.Contains(c.known[best+1:], most) {
		return ""
	}
	return d.codes[best]
}
