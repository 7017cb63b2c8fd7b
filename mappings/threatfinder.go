package mappings

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"riskdex/internal/vocabulary"
)

// threatWords finds the threats that a text is about, by the words of threats.json that
// have no other meaning. It is immutable.
type threatWords struct {
	names     []string                  // sorted; a threat is an index into it
	ambiguous map[string]bool           // single words that have other meanings too
	labels    map[string]int            // as appendLetters has them
	longest   int                       // bytes of a label
	phrases   map[string][]threatPhrase // by their first word
	starts    [1 << 20 / 64]uint64      // a bit for the start of each first word; see startOf
	scripts   []scriptPhrase            // in scripts other than Latin
}

// scriptPhrase is looked for as it is, because its script has no spaces between words, or words
// with endings and prefixes that are not known here.
type scriptPhrase struct {
	text   []byte // in lower case
	apart  bool   // a letter may not stand before it
	threat int
}

type threatPhrase struct {
	rest   []string
	threat int
}

func newThreatWords(f *threatsFile) *threatWords {
	t := &threatWords{
		names:     slices.Sorted(maps.Keys(f.Threats)),
		ambiguous: make(map[string]bool), labels: make(map[string]int), phrases: make(map[string][]threatPhrase),
	}
	for i, name := range t.names {
		for _, labels := range append(slices.Clip(f.Threats[name].Labels), name) {
			for label := range strings.SplitSeq(labels, ",") {
				for _, label := range vocabulary.Spellings(label) {
					key := string(appendLetters(nil, []byte(label)))
					t.labels[key], t.longest = i, max(t.longest, len(key))
				}
			}
		}
		for _, rule := range f.Threats[name].Words {
			rule, _, _ = strings.Cut(rule, "=>")
			for phrase := range strings.SplitSeq(rule, ",") {
				if phrase = strings.TrimSpace(phrase); !strings.HasPrefix(phrase, ambiguous) {
					t.add(phrase, i)
				} else if word := phrase[len(ambiguous):]; !strings.Contains(word, " ") {
					t.ambiguous[string(appendSingular(nil, []byte(word)))] = true
				}
			}
		}
	}
	for _, phrases := range t.phrases { // the longest first
		slices.SortStableFunc(phrases, func(a, b threatPhrase) int { return len(b.rest) - len(a.rest) })
	}
	return t
}

// mayMention reports whether a text has a word of any threat, even one with other meanings.
func (t *threatWords) mayMention(text []byte) bool {
	counts := make([]int, len(t.names))
	t.count(counts, text, nil)
	for word, rest := nextWord(text); word != nil; word, rest = nextWord(rest) {
		if t.ambiguous[string(appendSingular(nil, word))] {
			return true
		}
	}
	return slices.ContainsFunc(counts, func(n int) bool { return n > 0 })
}

func (t *threatWords) add(phrase string, threat int) {
	if first, _ := utf8.DecodeRuneInString(phrase); first >= firstOther {
		t.addScript(phrase, threat)
		return
	}
	var words []string
	rest := []byte(phrase)
	for {
		var word []byte
		if word, rest = nextWord(rest); word == nil {
			break
		}
		words = append(words, string(appendSingular(nil, word)))
	}
	t.phrases[words[0]] = append(t.phrases[words[0]], threatPhrase{words[1:], threat})
	t.mark(words[0])
}

// firstOther is the first letter of a script other than Latin.
const firstOther = 'Ͱ'

// addScript adds a phrase in a script other than Latin. A Russian word loses its last vowel, which
// changes with the case.
func (t *threatWords) addScript(phrase string, threat int) {
	phrase = strings.ToLower(phrase)
	first, _ := utf8.DecodeRuneInString(phrase)
	apart := unicode.In(first, unicode.Cyrillic, unicode.Greek)
	if stem := strings.TrimRight(phrase, "аеиоуыьюя"); utf8.RuneCountInString(stem) > 3 {
		phrase = stem
	}
	t.scripts = append(t.scripts, scriptPhrase{[]byte(phrase), apart, threat})
}

// mark notes the start of a first word, and those of its other forms: war and wars, spy and
// spies.
func (t *threatWords) mark(word string) {
	forms := []string{word}
	if len(word) == 3 {
		for c := range byte(32) {
			forms = append(forms, word+string(c))
		}
	}
	if stem, found := strings.CutSuffix(word, "y"); found {
		forms = append(forms, stem+"ies")
	}
	for _, form := range forms {
		if start, ok := startOf([]byte(form)); ok {
			t.starts[start/64] |= 1 << (start % 64)
		}
	}
}

// count adds to counts how often each threat is mentioned in text, and returns the number
// of words in text. word is scratch memory.
func (t *threatWords) count(counts []int, text, word []byte) (words int) {
	other := false
	for rest := text; ; words++ {
		var found []byte
		if found, rest = nextWord(rest); found == nil {
			break
		}
		if found[0] >= utf8.RuneSelf {
			if first, _ := utf8.DecodeRune(found); first >= firstOther {
				other = true
				continue
			}
		}
		if start, ok := startOf(found); !ok || t.starts[start/64]>>(start%64)&1 == 0 {
			continue
		}
		word = appendSingular(word[:0], found)
		phrases, ok := t.phrases[string(word)]
		if !ok {
			stem := withoutEnding(word)
			if len(stem) == len(word) {
				continue
			}
			phrases = t.phrases[string(stem)]
		}
		for _, phrase := range phrases {
			if follows(rest, phrase.rest) {
				counts[phrase.threat]++
				break
			}
		}
	}
	if other {
		t.countScripts(counts, bytes.ToLower(text))
	}
	return words
}

// countScripts adds to counts the mentions of phrases in scripts other than Latin.
func (t *threatWords) countScripts(counts []int, text []byte) {
	for _, phrase := range t.scripts {
		for rest := text; ; {
			before, after, found := bytes.Cut(rest, phrase.text)
			if !found {
				break
			}
			if last, _ := utf8.DecodeLastRune(before); !phrase.apart || !unicode.IsLetter(last) {
				counts[phrase.threat]++
			}
			rest = after
		}
	}
}

// follows reports whether text begins with words.
func follows(text []byte, words []string) bool {
	var space [32]byte
	for _, want := range words {
		var word []byte
		for word, text = nextWord(text); string(word) == "by"; word, text = nextWord(text) { // detained by rebels
		}
		if word == nil || string(appendSingular(space[:0], word)) != want {
			return false
		}
	}
	return true
}

// label returns the threat that a publisher's rating is named after.
func (t *threatWords) label(name []byte) (threat int, ok bool) {
	if len(name) > maxKeyword {
		return 0, false
	}
	threat, ok = t.labels[string(appendLetters(nil, name))]
	return threat, ok
}

// named returns the threat that an entry of a list of threats is: its label, or else the only
// threat that its words are labels of or mention, as in "Gang violence", "Trafikk og transport" or
// "Instabilité politique". Words that are not known do not count. An entry that says more, such as
// how likely the threat is, is none.
func (t *threatWords) named(entry []byte) (threat int, ok bool) {
	if threat, ok = t.label(entry); ok || !isNameOfThreat(entry) {
		return threat, ok
	}
	all := t.mentioned(entry)
	if len(all) != 1 {
		return 0, false
	}
	return all[0], true
}

// mentioned returns the threats that the words of an entry are labels of, or mention.
func (t *threatWords) mentioned(entry []byte) (all []int) {
	counts := make([]int, len(t.names))
	t.countScripts(counts, bytes.ToLower(entry))
	for words := wordsOf(entry); len(words) > 0; {
		of, n := t.part(words)
		if n > 0 {
			counts[of]++
		}
		words = words[max(n, 1):]
	}
	for i, n := range counts {
		if n > 0 {
			all = append(all, i)
		}
	}
	return all
}

// entries yields the labels in a text that lists some. A label may have a comma itself, as in "Power, water
// and phones".
func (t *threatWords) entries(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if _, ok := t.entry(text); ok {
			yield(text)
			return
		}
		for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(",;|", c) }) {
			if !yield(strings.TrimSpace(part)) {
				return
			}
		}
	}
}

// entry is named for a label that may be written as programs write names: borderControl.
func (t *threatWords) entry(label string) (threat int, ok bool) {
	if threat, ok = t.named([]byte(label)); !ok && !strings.ContainsRune(label, ' ') {
		return t.named([]byte(strings.ToLower(strings.Join(vocabulary.Words(label), " "))))
	}
	return threat, ok
}

// shortened returns the threat of a label that begins with a word of four letters or more, as Entführung does
// with Entf, if that of no other threat does.
func (t *threatWords) shortened(word string) (threat int, ok bool) {
	word = vocabulary.Fold(word)
	if len(word) < 4 {
		return 0, false
	}
	for label, of := range t.labels {
		if !strings.HasPrefix(label, word) {
			continue
		}
		if ok && of != threat {
			return 0, false
		}
		threat, ok = of, true
	}
	return threat, ok
}

// byExclusion returns the threats of those labels, folded, that mention several: beside a label for crime,
// Kidnap and extortion is kidnapping.
// Of what is rated, words such as safety say nothing else.
func (t *threatWords) byExclusion(labels map[string]bool, known map[int]bool, rated bool) map[string]string {
	var names map[string]string
	for label := range labels {
		if _, ok := t.entry(label); ok || !rated && !isNameOfThreat([]byte(label)) {
			continue
		}
		called := map[int]bool{}
		for _, word := range wordsOf([]byte(label)) {
			if threat, ok := t.label([]byte(word)); ok {
				called[threat] = true
			}
		}
		rest := slices.DeleteFunc(t.mentioned([]byte(label)), func(threat int) bool { return known[threat] })
		if len(rest) == 1 && called[rest[0]] {
			if names == nil {
				names = map[string]string{}
			}
			names[vocabulary.Fold(label)] = t.names[rest[0]]
		}
	}
	return names
}

// shortestEnd is the number of letters of a word that may be the end of a compound.
const shortestEnd = 8

// part returns the threat that words begin with, and how many of them are its name, or 0. The longest
// label or phrase counts; of a compound, such as Kleinkriminalität, its end.
func (t *threatWords) part(words []string) (threat, n int) {
	word := appendSingular(nil, []byte(words[0]))
	phrases, ok := t.phrases[string(word)]
	if !ok {
		phrases = t.phrases[string(withoutEnding(word))]
	}
	rest := []byte(strings.Join(words[1:], " "))
	for _, phrase := range phrases {
		if follows(rest, phrase.rest) {
			threat, n = phrase.threat, 1+len(phrase.rest)
			break
		}
	}
	var label []byte
	for i, word := range words {
		if label = append(label, word...); len(label) > t.longest {
			break
		}
		if of, ok := t.labels[string(label)]; ok && i+1 >= n {
			threat, n = of, i+1
		}
	}
	for i := range len(words[0]) - shortestEnd {
		if n > 0 {
			break
		}
		if of, ok := t.labels[words[0][i+1:]]; ok && isASCII(words[0]) {
			threat, n = of, 1
		}
	}
	return threat, n
}

// wordsOf returns the words of a text, folded.
func wordsOf(text []byte) []string {
	return strings.FieldsFunc(vocabulary.Fold(string(text)), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsMark(c)
	})
}

// isNameOfThreat reports whether an entry of a list of threats may be the name of one: up to three
// words beside short ones such as und, none of which denies or rates it, or says that it is about
// something else.
func isNameOfThreat(entry []byte) bool {
	const mostWords, short, longest = 3, 3, 60 // words, letters, bytes
	if len(entry) > longest || bytes.ContainsAny(entry, ".:;()<>0123456789?!") {
		return false
	}
	n := 0
	for _, word := range wordsOf(entry) {
		if utf8.RuneCountInString(word) > short {
			n++
		}
		if severity.isLow(word) || slices.ContainsFunc(notNames, func(not string) bool {
			return word == not || len(not) >= shortestEnd && strings.HasSuffix(word, not)
		}) {
			return false
		}
	}
	return n <= mostWords
}

// notNames are words that deny a threat or call it rare, or make of it something else.
var notNames = strings.Fields(vocabulary.Fold(`
	not non pas nicht niet ikke inte nie не لا 不
	without sans sin ohne sem senza zonder uten uden utan ilman bez без بدون
	little few less peu poco pochi poca pouco pouca wenig weinig lite lidt litet vähän mało az мало قليل
	unlikely rare rarely rares raro rara raros raras selten zeldzaam sjelden sjælden sällsynt harvinainen rzadko nadir редко
	decreasing falling unrated prevention tips advice insurance safety training awareness museum history drains relief aid
	versicherung assurance seguro seguros assicurazione verzekering forsikring försäkring vakuutus ubezpieczenie sigorta страхование 保险
`))

// nextWord returns the next run of letters and what follows it, or nil. A word that is not
// ASCII comes folded.
func nextWord(s []byte) (word, rest []byte) {
	start := 0
	for start < len(s) && s[start] < utf8.RuneSelf && !isLetter(s[start]) {
		start++
	}
	end := start
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	switch {
	case end < len(s) && s[end] >= utf8.RuneSelf:
		return nextFolded(s[start:])
	case start == end:
		return nil, nil
	}
	return s[start:end], s[end:]
}

// nextFolded is nextWord for text that is not ASCII.
func nextFolded(s []byte) (word, rest []byte) {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
	start := bytes.IndexFunc(s, unicode.IsLetter) // marks alone, as after an emoji, are no word
	if start < 0 {
		return nil, nil
	}
	s = s[start:]
	end := bytes.IndexFunc(s, func(r rune) bool { return !inWord(r) })
	if end < 0 {
		end = len(s)
	}
	return []byte(vocabulary.Fold(string(s[:end]))), s[end:]
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// startOf returns a number for the first four letters of a word.
func startOf(word []byte) (start uint32, ok bool) {
	if len(word) < 3 {
		return 0, false
	}
	start = uint32(word[0]&31)<<15 | uint32(word[1]&31)<<10 | uint32(word[2]&31)<<5
	if len(word) > 3 {
		start |= uint32(word[3] & 31)
	}
	return start, true
}

// appendSingular appends a word in lower case, without the s of a plural.
func appendSingular(dst, word []byte) []byte {
	start := len(dst)
	for _, c := range word {
		dst = append(dst, c|0x20)
	}
	n := len(dst) - start
	switch {
	case n > 4 && bytes.HasSuffix(dst[start:], []byte("ies")):
		return append(dst[:len(dst)-3], 'y')
	case n > 3 && dst[len(dst)-1] == 's' && !bytes.ContainsRune([]byte("sui"), rune(dst[len(dst)-2])):
		return dst[:len(dst)-1]
	}
	return dst
}

// withoutEnding returns a word without -ing or -ed: rioting, kidnapped.
func withoutEnding(word []byte) []byte {
	stem := bytes.TrimSuffix(bytes.TrimSuffix(word, []byte("ing")), []byte("ed"))
	if n := len(stem); n < len(word) && n > 3 && stem[n-1] == stem[n-2] {
		return stem[:n-1]
	}
	if len(stem) < 3 {
		return word
	}
	return stem
}

// appendLetters appends only the letters of a name, folded.
func appendLetters(dst, name []byte) []byte {
	start := len(dst)
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return append(dst[:start], strings.Join(wordsOf(name), "")...)
		}
		if isLetter(c) {
			dst = append(dst, c|0x20)
		}
	}
	return dst
}
