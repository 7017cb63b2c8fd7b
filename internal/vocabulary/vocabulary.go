// Package vocabulary reads the names that vendors give to fields by their words:
// CityReportId, CITY_REPORT_ID, city-report-id and cityreportid mean the same, and so does
// idInforme.
package vocabulary

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"riskdex/internal/letters"
)

//go:embed words.txt
var words string

// Concepts is a set of meanings of words, one bit each.
type Concepts uint64

// Name is what the words of a name mean.
type Name struct {
	Concepts Concepts
	Last     Concepts // of its last word
	Language string   // two letters, if the name ends with a language, as title_en does
	OutOf    int      // the highest number, if the name states it, as scoreOutOf10 does
	Unknown  bool     // it has words that are not in the vocabulary
	Within   bool     // it names what is within a record, such as its contents or translations
}

// Vocabulary maps words to concepts. It is immutable and safe for concurrent use.
type Vocabulary struct {
	words    map[string]Concepts // folded
	joining  map[string]bool     // words that join others, folded
	short    map[string]Concepts // words without their vowels
	within   map[string]bool     // words that name what is within a record, folded
	endings  map[string]Concepts // words that end compounds, folded
	concepts map[string]Concepts
	times    Concepts
	longest  int
}

// Source returns the file that the built-in vocabulary is made from.
func Source() string { return words }

// New returns the built-in vocabulary.
func New() *Vocabulary {
	v := &Vocabulary{
		words: map[string]Concepts{}, concepts: map[string]Concepts{}, endings: map[string]Concepts{},
		joining: map[string]bool{}, within: map[string]bool{},
	}
	next := Concepts(1)
	for line := range strings.Lines(words) {
		concept, spellings, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		var bit Concepts
		if !strings.Contains("-+=", concept) {
			if bit = next; bit == 0 {
				panic("vocabulary: more than 64 concepts")
			}
			next <<= 1
			v.concepts[concept] = bit
		}
		ending := false
		for word := range strings.FieldsSeq(spellings) {
			if word == "|" {
				ending = true
				continue
			}
			for _, word := range Spellings(word) {
				v.add(word, bit)
				if ending && len(word) >= minEnding {
					v.endings[word] = bit
				}
				v.joining[word] = v.joining[word] || concept == "+"
				v.within[word] = v.within[word] || concept == "="
			}
		}
	}
	v.times = v.Concepts("date valid")
	v.short = map[string]Concepts{}
	for word, bit := range v.words {
		skeleton := consonants(word)
		if len(skeleton) < minSkeleton || skeleton == word || bit == 0 {
			continue
		}
		if other, again := v.short[skeleton]; again && other != bit {
			bit = 0 // it may be either
		}
		v.short[skeleton] = bit
	}
	for skeleton, bit := range v.short {
		if bit == 0 {
			delete(v.short, skeleton)
		}
	}
	return v
}

// minSkeleton is the number of letters of a word without vowels, such as rsk, that stands for the whole one.
const minSkeleton = 3

// consonants returns a word without its vowels, as names of old databases have it: cntry, svrty, lvl.
func consonants(word string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("aeiou", c) {
			return -1
		}
		return c
	}, word)
}

func (v *Vocabulary) add(word string, bit Concepts) {
	if _, known := v.words[word]; known {
		return
	}
	v.words[word] = bit
	v.longest = max(v.longest, len(word))
}

// Concepts returns the concepts whose names are in text, separated by spaces. It panics if
// a name is unknown, which is a mistake in the program.
func (v *Vocabulary) Concepts(text string) (all Concepts) {
	for name := range strings.FieldsSeq(text) {
		bit, known := v.concepts[name]
		if !known {
			panic("vocabulary: no concept is called " + name)
		}
		all |= bit
	}
	return all
}

// Knows reports whether a word is in the vocabulary.
func (v *Vocabulary) Knows(word string) bool {
	_, known := v.words[Fold(word)]
	return known
}

// maxName is the length in bytes of the longest name that is read. Longer ones are not
// names of fields.
const maxName = 80

// Read returns the meaning of a name.
func (v *Vocabulary) Read(name string) Name {
	if len(name) > maxName {
		return Name{Unknown: true}
	}
	if prefix, local, ok := strings.Cut(name, ":"); ok && local != "" && !v.Knows(prefix) {
		name = local // the prefix of an XML namespace
	}
	var n Name
	split := Words(name)
	split, n.OutOf = cutOutOf(split)
	says := len(split) == 0
	for i := 0; i < len(split); i++ {
		word := split[i]
		last := i == len(split)-1
		asWord := len(word) > 2 && n.Concepts&v.times != 0 && v.Knows(word) // gyldig_fra, but title_fra
		if last && i > 0 && IsLanguage(word) && !asWord {
			n.Language = Language(word) // even if another language has it as a word: de
			return n
		}
		folded := Fold(word)
		if folded == "2" || folded == "3" {
			if n.Last != 0 && n.Last == v.concepts["iso"] {
				continue // ALPHA_2
			}
		}
		if folded == "by" && i > 0 && !last {
			var next Name
			if v.read(Fold(split[i+1]), &next) && next.Concepts == v.Concepts("category") {
				continue // riskByTopic, but not publishedBy or reviewByDate
			}
		}
		if together := v.together(split[i:]); together > 1 {
			folded = Fold(strings.Join(split[i:i+together], ""))
			i += together - 1
		}
		says = says || !v.joining[folded]
		n.Within = n.Within || v.within[folded]
		if !v.read(folded, &n) {
			n.Unknown, n.Last = true, 0
		}
	}
	n.Unknown = n.Unknown || !says
	return n
}

// together returns how many words at the start are one word of the vocabulary, as those of known
// as are, although the first alone is none.
func (v *Vocabulary) together(split []string) int {
	if v.Knows(split[0]) {
		return 1
	}
	for n := min(len(split), maxTogether); n > 1; n-- {
		if v.Knows(strings.Join(split[:n], "")) {
			return n
		}
	}
	return 1
}

// maxTogether is the number of words in also known as.
const maxTogether = 3

// cutOutOf cuts the end of a name such as scoreOutOf10, and returns its number, or 0.
func cutOutOf(split []string) (rest []string, n int) {
	if len(split) < 2 {
		return split, 0
	}
	last := split[len(split)-1]
	word := strings.TrimRight(last, "0123456789")
	n, err := strconv.Atoi(last[len(word):])
	if err != nil || n < 2 || n > maxOutOf {
		return split, 0
	}
	rest = split[:len(split)-1]
	if word != "" {
		rest = append(slices.Clip(rest), word)
	}
	switch Fold(rest[len(rest)-1]) {
	case "of", "sur", "de", "von", "di", "su", "van":
	default:
		return split, 0
	}
	rest = rest[:len(rest)-1]
	if len(rest) > 0 && Fold(rest[len(rest)-1]) == "out" {
		rest = rest[:len(rest)-1]
	}
	if len(rest) == 0 {
		return split, 0
	}
	return rest, n
}

// maxOutOf is the highest number that counts as the end of a scale.
const maxOutOf = 1000

// read adds to n what a word, or a compound such as Risikostufe, means. It reports whether
// the word is known.
func (v *Vocabulary) read(word string, n *Name) bool {
	bit, known := v.words[word]
	if !known {
		bit, known = v.short[word]
	}
	if known {
		n.Concepts |= bit
		n.Last = bit
		return true
	}
	parts := v.compound(word, maxParts)
	for _, bit := range parts {
		n.Concepts |= bit
		n.Last = bit
	}
	return len(parts) > 0
}

const (
	maxParts = 4 // parts of a compound
	minPart  = 2 // letters of a part
	minWhole = 6 // letters of a compound; a shorter word is not split
)

// compound splits a word into at most parts known words, trying the longest first. Two of
// them may be joined by an s or an n, as in German.
func (v *Vocabulary) compound(word string, parts int) []Concepts {
	if parts == maxParts && len(word) < minWhole {
		return nil
	}
	for n := min(len(word), v.longest); n >= minPart; n-- {
		bit, known := v.words[word[:n]]
		if !known || n < 3 && word[:n] != "id" {
			continue
		}
		rest := word[n:]
		if rest == "" {
			return []Concepts{bit}
		}
		if parts == 1 {
			continue
		}
		tail := v.compound(rest, parts-1)
		if tail == nil && (rest[0] == 's' || rest[0] == 'n') {
			tail = v.compound(rest[1:], parts-1)
		}
		if tail != nil {
			return append([]Concepts{bit}, tail...)
		}
	}
	return nil
}

const (
	minEnding = 4 // letters of a word that tells what a compound is
	minBefore = 3 // letters of what is before it
)

// Ending returns what a word is that is not in the vocabulary and ends with one that is, in languages
// that put words together: Meldestufe is a level. What says nothing, as in Uhrzeitangabe, does not count.
func (v *Vocabulary) Ending(word string) Concepts {
	word = Fold(word)
	for i := minBefore; i <= len(word)-minEnding; i++ {
		if bit, known := v.endings[word[i:]]; known {
			if bit == 0 {
				return v.Ending(word[:i])
			}
			return bit
		}
	}
	return 0
}

// Words splits a name at everything but letters and digits, and where capitals begin a
// word.
func Words(name string) []string {
	var split []string
	letters := []rune(name)
	start := -1
	for i, c := range letters {
		inWord := unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c)
		if !inWord {
			if start >= 0 {
				split = append(split, string(letters[start:i]))
			}
			start = -1
			continue
		}
		if start >= 0 && unicode.IsUpper(c) {
			before := letters[i-1]
			next := i+1 < len(letters) && unicode.IsLower(letters[i+1])
			if !unicode.IsUpper(before) || next {
				split = append(split, string(letters[start:i]))
				start = i
			}
		}
		if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		split = append(split, string(letters[start:]))
	}
	return split
}

var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "ø", "oe", "å", "aa")

// Spellings returns how a word may be spelled, folded: änderung as anderung and aenderung.
func Spellings(word string) []string {
	word = strings.ToLower(word)
	return slices.Compact([]string{Fold(word), Fold(umlauts.Replace(word))})
}

// Fold returns a word in lower case and without diacritics.
func Fold(word string) string {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return letters.Fold(word)
		}
	}
	return strings.ToLower(word)
}
