package search

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"riskdex/mappings/gazetteer"
	"riskdex/report"
)

// Understood is what the words of a query say, as far as the names of places and the words of threats and
// of times tell. What is none of these is in Rest.
type Understood struct {
	// Words are what to look for in reports: the words as they were typed, without those that ask for a
	// time or a kind of report, and without quotation marks.
	Words   string
	Phrases []string // what stands in quotation marks
	Places  []Mention
	Threats []string      // as threats.json names them, each once
	When    *When         // the time that is asked for; nil if none is
	Kinds   []report.Kind // that are named
	Rest    []string      // the other words, but for small ones such as in
	Subject string        // the words of Threats and Rest, folded, but for those such as safety
	Said    int           // how many words there are, without small ones
	Idioms  []string      // words for a time or a kind with the unknown word beside them: red alert
	Begun   []Completion  // of a completion: the places that complete what was typed
}

// Mention is a name of a place in a query.
type Mention struct {
	Typed    string
	Places   []NamedPlace // that may be meant, the likeliest first
	Misspelt bool         // no place is called so: these are called nearly so
	Coded    bool         // Typed is a code of theirs
}

// NamedPlace is a place that a name may mean.
type NamedPlace struct {
	Name      string
	Countries []string        // ISO 3166 alpha-2: of a part of the world several
	City      *gazetteer.City // nil if it is a country, a region or a part of the world
	Country   bool            // it is a country as a whole
}

// When is a time that a query asks for, in the date mathematics of Elasticsearch.
type When struct {
	Latest   bool   // whatever is newest
	Yearly   bool   // a year later, too
	From, To string // what is valid at some time from From, and before To; without To, what begins after From
}

// Witness knows names of places and words of threats. Names and words come folded, with one space between
// words.
type Witness interface {
	// Called returns the places with a name, the likeliest first.
	Called(name string) []NamedPlace
	// Coded returns the places with a code in capitals: cities by theirs or that of an airport, and countries.
	Coded(code string) []NamedPlace
	// Like returns the places with nearly that name, the likeliest first.
	Like(name string) []NamedPlace
	// Largest returns the largest city of a country or a region, or nil if none is known.
	Largest(p NamedPlace) *gazetteer.City
	// Threat returns the threat that words begin with, and how many of them are its name, or 0.
	Threat(words []string) (threat string, n int)
	// Small reports whether a word is so frequent in some language that it names nothing alone.
	Small(word string) bool
	// SaysNothing reports whether a word says nothing of what is asked about a place: safety, situation.
	SaysNothing(word string) bool
	// Begins returns the countries, regions and parts of the world that complete what was typed, the likeliest
	// first; with within, also by a word within a name.
	Begins(typed string, within bool) []Completion
	// CityIn returns what a city of some countries that has one of the names is called in a language, of two
	// letters, or "" if that is not known; CountryIn what a country is, or else in English.
	CityIn(names, countries []string, language string) string
	CountryIn(code, language string) string
}

// mostNameWords is the number of words in the longest names that are looked for.
const mostNameWords = 5

// Understand tells what the words of a query say. Without a witness it knows no places and no threats.
func Understand(typed string, w Witness) Understood {
	var u Understood
	phrases, words := quoted(typed)
	u.Phrases = phrases
	tokens := tokensOf(words)
	shouts := slices.ContainsFunc(tokens, func(t token) bool { return len(t.typed) > longestCode && areCapitals(t.typed) }) && strings.ToUpper(words) == words
	var subject []token
	for at := 0; at < len(tokens); {
		rest := tokens[at:]
		coded := w != nil && u.code(rest[0], w, shouts)
		asks, n := asked(rest)
		if isCalendar(asks) && w != nil && w.Small(rest[0].folded) { // may
			asks, n = "", 0
		}
		var named []NamedPlace
		threat := ""
		if w != nil && !coded {
			var words int
			if named, words = namedIn(rest, w); words >= n && words > 0 {
				asks, n = "", words
			} else {
				named = nil
			}
			if threat, words = w.Threat(strings.Fields(joined(rest))); words > n { // of several readings the longest
				asks, named, n = "", nil, words
			} else {
				threat = ""
			}
		}
		switch {
		case coded:
			n = 1
		case named != nil:
			u.Places = append(u.Places, Mention{Typed: joined(rest[:n]), Places: named})
		case asks != "":
			for i := range rest[:n] {
				rest[i].asks = !isCalendar(asks)
			}
			u.ask(asks, rest[0].folded)
		case threat != "":
			if !slices.Contains(u.Threats, threat) {
				u.Threats = append(u.Threats, threat)
			}
			subject = append(subject, rest[:n]...)
		default:
			n = 1
			u.Said--
			if w == nil || !w.Small(rest[0].folded) {
				u.Said++
				u.Rest = append(u.Rest, rest[0].folded)
				if w == nil || !w.SaysNothing(rest[0].folded) {
					rest[0].unknown = true
					subject = append(subject, rest[0])
				}
			}
		}
		at += n
		u.Said += n
	}
	u.otherwise(tokens)
	if w != nil {
		u.correct(w)
	}
	u.agree()
	u.Subject = joined(slices.DeleteFunc(subject, u.isOfPlace))
	var kept []string
	for i, field := range strings.Fields(words) {
		if !slices.ContainsFunc(tokens, func(t token) bool { return t.field == i }) ||
			slices.ContainsFunc(tokens, func(t token) bool { return t.field == i && !t.asks }) {
			kept = append(kept, field)
		}
	}
	u.Words = strings.Join(append(kept, u.Phrases...), " ")
	if u.Words == "" && u.When == nil && len(u.Kinds) == 0 {
		u.Words = typed // signs alone, which find nothing
	}
	return u
}

// spelt returns the places that are called, or coded, as was typed. A word that is nearly a name may be any
// word: child is not Chile.
func (u Understood) spelt() []Mention {
	return slices.DeleteFunc(slices.Clone(u.Places), func(m Mention) bool { return m.Misspelt })
}

// sureTypo is the number of letters from which what is nearly a name is likely to be it.
const sureTypo = 7

// likely returns the places that are named, also where a long name is misspelt.
func (u Understood) likely() []Mention {
	return slices.DeleteFunc(slices.Clone(u.Places), func(m Mention) bool { return m.Misspelt && len(m.Typed) < sureTypo })
}

// isOfPlace reports whether a token is a word of a place that is likely misspelt.
func (u *Understood) isOfPlace(t token) bool {
	return slices.ContainsFunc(u.likely(), func(m Mention) bool {
		return m.Misspelt && slices.Contains(strings.Fields(m.Typed), t.folded)
	})
}

// Known reports whether everything that was typed was understood as it is, so that nothing in it can be
// misspelt.
func (u Understood) Known() bool {
	return len(u.Rest) == 0 && len(u.Places)+len(u.Threats) > 0 && len(u.spelt()) == len(u.Places)
}

// token is a word of a query, folded.
type token struct {
	folded, typed string
	field         int  // which word, between spaces, it is of
	asks          bool // for a time or for a kind
	unknown       bool // it is none of what is known
}

func tokensOf(words string) (tokens []token) {
	for i, field := range strings.Fields(words) {
		field = strings.TrimFunc(field, func(c rune) bool { return unicode.IsPunct(c) || unicode.IsSymbol(c) })
		for folded := range strings.FieldsSeq(gazetteer.Fold(field)) {
			tokens = append(tokens, token{folded: folded, typed: field, field: i})
		}
	}
	return tokens
}

func joined(tokens []token) string {
	var words []string
	for _, t := range tokens {
		words = append(words, t.folded)
	}
	return strings.Join(words, " ")
}

// quoted returns what stands in quotation marks, around whole words, and the rest.
func quoted(words string) (phrases []string, rest string) {
	closing := map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»'}
	isWord := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }
	before := ' '
	for words != "" {
		c, size := utf8.DecodeRuneInString(words)
		phrase, after, found := strings.Cut(words[size:], string(closing[c]))
		next, _ := utf8.DecodeRuneInString(after)
		if closing[c] == 0 || !found || !unicode.IsSpace(before) || isWord(next) || !strings.ContainsFunc(phrase, isWord) {
			if closing[c] == 0 {
				rest += words[:size]
			} else {
				rest += " "
			}
			before, words = c, words[size:]
			continue
		}
		phrases, rest = append(phrases, strings.TrimSpace(phrase)), rest+" "
		before, words = ' ', after
	}
	return phrases, strings.TrimSpace(rest)
}

const longestCode = 3

func areCapitals(word string) bool {
	return strings.TrimFunc(word, func(c rune) bool { return c >= 'A' && c <= 'Z' }) == ""
}

// code notes the code of a place, which is written in capitals, and reports whether a token is one. Where
// everything is in capitals, only two letters are, which are a country and no word.
func (u *Understood) code(t token, w Witness, shouts bool) bool {
	if len(t.typed) < 2 || len(t.typed) > longestCode || !areCapitals(t.typed) || shouts && (len(t.typed) > 2 || w.Small(t.folded)) {
		return false
	}
	if _, n := w.Threat([]string{t.folded}); n > 0 { // ATM
		return false
	}
	places := w.Coded(t.typed)
	if shouts {
		places = slices.DeleteFunc(places, func(p NamedPlace) bool { return !p.Country })
	}
	if len(places) > 0 {
		u.Places = append(u.Places, Mention{Typed: t.folded, Places: places, Coded: true})
	}
	return len(places) > 0
}

// namedIn returns the places that have the longest name that tokens begin with, and how many of them it is.
func namedIn(tokens []token, w Witness) (places []NamedPlace, n int) {
	for n := min(mostNameWords, len(tokens)); n > 0; n-- {
		name := joined(tokens[:n])
		if n == 1 && (w.Small(name) || askedFor()[name] != "") {
			continue
		}
		if places := w.Called(name); len(places) > 0 {
			if of, most := w.Threat([]string{name}); n == 1 && most > 0 && of != "" && !unicode.IsUpper([]rune(tokens[0].typed)[0]) {
				continue // Split, Mobile: of two readings the usual one, unless it is written as a name
			}
			return places, n
		}
	}
	return nil, 0
}

// otherwise notes what words for a time are part of: planned parenthood.
func (u *Understood) otherwise(tokens []token) {
	for i := range max(0, len(tokens)-1) {
		if a, b := tokens[i], tokens[i+1]; a.asks && b.unknown || a.unknown && b.asks {
			u.Idioms = append(u.Idioms, a.folded+" "+b.folded)
		}
	}
}

// shortestTypo is the number of letters of a word that may be misspelt.
const shortestTypo = 5

// correct looks for places that the words that are left nearly name.
func (u *Understood) correct(w Witness) {
	for n := min(mostNameWords, len(u.Rest)); n > 0; n-- {
		for at := 0; at+n <= len(u.Rest); at++ {
			name := strings.Join(u.Rest[at:at+n], " ")
			if len(name) < shortestTypo {
				continue
			}
			if places := w.Like(name); len(places) > 0 {
				u.Places = append(u.Places, Mention{Typed: name, Places: places, Misspelt: true})
				u.Rest = slices.Delete(u.Rest, at, at+n)
				at--
			}
		}
	}
}

// agree puts first, among places of the same name, those that are in a country that the other names say.
func (u *Understood) agree() {
	for i, m := range u.Places {
		inOthers := func(p NamedPlace) bool {
			return slices.ContainsFunc(p.Countries, func(code string) bool {
				for j, other := range u.Places {
					if i != j && slices.Contains(other.Places[0].Countries, code) {
						return true
					}
				}
				return false
			})
		}
		rank := func(p NamedPlace) int {
			if inOthers(p) {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(m.Places, func(a, b NamedPlace) int { return rank(a) - rank(b) })
	}
}

//go:embed times.txt
var times string

// askedFor maps folded phrases to what they ask for, the name of a line of times.txt. A word of so few letters
// that its marks tell it from others keeps them: Norwegian nå is not na.
var askedFor = sync.OnceValue(func() map[string]string {
	const few = 3
	all := map[string]string{}
	for line := range strings.Lines(times) {
		asks, phrases, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		for phrase := range strings.SplitSeq(phrases, ",") {
			phrase = strings.TrimSpace(phrase)
			if folded := gazetteer.Fold(phrase); len(folded) > few || len(folded) == len(phrase) {
				phrase = folded
			}
			all[phrase] = asks
		}
	}
	return all
})

// spaceless reports whether a phrase is written in a script that has no spaces between words.
func spaceless(phrase string) bool {
	return strings.ContainsFunc(phrase, func(c rune) bool {
		return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
			unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer)
	})
}

// aYear is asked for by its number, a month by its name. Both are looked for in reports, too.
const aYear, aMonth = "year", "month "

func isCalendar(asks string) bool { return asks == aYear || strings.HasPrefix(asks, aMonth) }

// asked returns what the longest phrase for a time or a kind asks for that tokens begin with, and how many of
// them it is.
func asked(tokens []token) (asks string, n int) {
	const mostWords = 4
	for n := min(mostWords, len(tokens)); n > 0; n-- {
		asks := askedFor()[joined(tokens[:n])]
		if n == 1 {
			asks = cmp.Or(askedFor()[strings.ToLower(tokens[0].typed)], asks)
		}
		if asks != "" {
			return asks, n
		}
	}
	if year, err := strconv.Atoi(tokens[0].folded); err == nil && year > 2000 && year < 2100 && len(tokens[0].folded) == len("2026") {
		return aYear, 1
	}
	return "", 0
}

// ask notes what words ask for.
func (u *Understood) ask(asks, word string) {
	if kind, err := report.ParseKind(asks); err == nil {
		u.Kinds = append(u.Kinds, kind)
		return
	}
	when := periods()[asks]
	if asks == aYear {
		year, _ := strconv.Atoi(word)
		when = When{From: word + "-01-01", To: strconv.Itoa(year+1) + "-01-01"}
	} else if month, found := strings.CutPrefix(asks, aMonth); found {
		n, _ := strconv.Atoi(month)
		when = When{From: fmt.Sprintf("now/y+%dM", n-1), To: fmt.Sprintf("now/y+%dM", n), Yearly: true}
	}
	if u.When == nil || when.To != "" { // a period says more than latest or upcoming
		u.When = &when
	}
}

// periods are the times that lines of times.txt ask for.
func periods() map[string]When {
	return map[string]When{
		"latest":     {Latest: true},
		"upcoming":   {From: "now/d"},
		"now":        {From: "now/d", To: "now+1d/d"},
		"tomorrow":   {From: "now+1d/d", To: "now+2d/d"},
		"weekend":    {From: "now/w+5d", To: "now/w+7d"},
		"this week":  {From: "now/d", To: "now/w+7d"},
		"next week":  {From: "now/w+7d", To: "now/w+14d"},
		"last week":  {From: "now/d-7d", To: "now/d"},
		"this month": {From: "now/d", To: "now/M+1M"},
		"next month": {From: "now/M+1M", To: "now/M+2M"},
		"last month": {From: "now/M-1M", To: "now/M"},
		"this year":  {From: "now/d", To: "now/y+1y"},
		"next year":  {From: "now/y+1y", To: "now/y+2y"},
	}
}
