package mappings

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"riskdex/internal/vocabulary"
	"riskdex/mappings/gazetteer"
)

// values says what the values of a column are.
type values struct {
	n        int // all of them
	distinct int
	letters  float64 // the share with a letter
	spaced   float64 // with a space
	markup   float64 // that are links, or markup
	length   float64 // mean, in characters
	prose    float64 // of sentences
	numbers  float64
	whole    float64             // of whole numbers
	degrees  float64             // that may be a latitude or a longitude
	codes    float64             // of three letters
	named    vocabulary.Concepts // what its name means, or else that of what it is in
	means    vocabulary.Concepts // what all of these mean
	unknown  int                 // words of its own name that are not in the vocabulary
}

// look fills in what the values and the names of a column are.
func (cs *columns) look(c *column) *values {
	v := &c.of
	if v.n > 0 || len(c.cells) == 0 {
		return v
	}
	v.n = len(c.cells)
	length := 0 // a count, since sums of shares depend on their order
	for _, of := range c.cells {
		length += utf8.RuneCountInString(of.text)
	}
	v.length = float64(length) / float64(v.n)
	v.letters = c.shareThat(func(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) })
	v.spaced = c.shareThat(func(s string) bool { return strings.ContainsRune(s, ' ') || !isASCII(s) })
	v.markup = c.shareThat(func(s string) bool {
		return strings.Contains(s, "://") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "www.") || strings.Contains(s, "@") && !strings.ContainsRune(s, ' ')
	})
	v.prose = c.shareThat(func(s string) bool { return strings.ContainsAny(s, ".!?。") && utf8.RuneCountInString(s) > 60 })
	v.numbers = c.shareThat(func(s string) bool { _, ok := number(s); return ok })
	v.whole = c.shareThat(func(s string) bool { n, ok := number(s); return ok && n == math.Trunc(n) })
	v.degrees = c.shareThat(func(s string) bool { _, ok := degreesOf(s); return ok })
	v.codes = c.shareThat(func(s string) bool { return len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" })
	seen, _ := c.usual()
	v.distinct = len(seen)
	v.named, v.unknown = cs.nameOf(c)
	v.means = v.named
	typed := cs.x.reader.vocabulary.Concepts("number text date")
	wrapped := c.isWrapped()
	for of := c.parent; of != nil; of = of.parent {
		own, unknown := cs.nameOf(of)
		if cs.isBody(of) {
			continue // what holds most of a record says nothing of its parts
		}
		v.means |= own
		if v.named == 0 || wrapped && v.named&^typed == 0 && own != 0 { // {"level": {"type": "number", "number": 3}}
			v.named, v.unknown = own, unknown
		}
		wrapped = wrapped && of.isWrapped()
	}
	return v
}

// that returns how many values of a column are something.
func (c *column) that(is func(string) bool) (n int) {
	for _, v := range c.cells {
		if is(v.text) {
			n++
		}
	}
	return n
}

func (c *column) shareThat(is func(string) bool) float64 {
	return float64(c.that(is)) / float64(max(1, len(c.cells)))
}

// isWrapped reports whether a column is the only one of the object that it is in whose values differ.
func (c *column) isWrapped() bool {
	if c.parent == nil || c.parent.parent == nil {
		return false
	}
	return !slices.ContainsFunc(c.parent.children, func(of *column) bool { return of != c && of.varies() })
}

// varies reports whether a column, or one within it, has different values.
func (c *column) varies() bool {
	if len(c.cells) > 0 {
		seen, most := c.usual()
		if !nearlyAll(seen[most], len(c.cells)) {
			return true
		}
	}
	return slices.ContainsFunc(c.children, (*column).varies)
}

// isBody reports whether a column holds most values of the records.
func (cs *columns) isBody(c *column) bool {
	if cs.sizes == nil {
		cs.sizes = map[*column]int{}
		var count func(c *column) int
		count = func(c *column) int {
			n := len(c.cells)
			for _, of := range c.children {
				if !of.keyed {
					n += count(of)
				}
			}
			cs.sizes[c] = n
			return n
		}
		count(cs.top)
	}
	return 2*cs.sizes[c] > cs.sizes[cs.top]
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// nameOf returns what the words of a column's own name mean, whatever else is among them, and how many
// words are not known. A compound such as Meldestufe is one of them, and means what its end does. A
// list, and what only wraps a value, is called as what it is in.
func (cs *columns) nameOf(c *column) (all vocabulary.Concepts, unknown int) {
	for c != nil && (c.name == "*" || strings.HasPrefix(c.name, "{") || c.name == "") {
		c = c.parent
	}
	if c == nil {
		return 0, 0
	}
	name := c.name
	if c.called != "" {
		name = c.called
	}
	if strings.HasPrefix(name, "[") {
		_, name, _ = strings.Cut(strings.TrimSuffix(name, "]"), "=")
	}
	n := cs.x.reader.name([]byte(name))
	if !n.Unknown {
		return n.Concepts, 0
	}
	for _, word := range vocabulary.Words(name) {
		w := cs.x.reader.name([]byte(word))
		all |= w.Concepts
		if w.Unknown {
			unknown++
			all |= cs.x.reader.vocabulary.Ending(word)
		}
	}
	return all, unknown
}

// countriesOf returns the countries that a text is, or lists.
func (cs *columns) countriesOf(s string) []string {
	const longest = 200
	if len(s) > longest || len(s) < 2 {
		return nil
	}
	if code := cs.countryOf(s); code != "" {
		return []string{code}
	}
	var all []string
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune(",;|/、", c) }) {
		code := cs.countryOf(strings.TrimSpace(part))
		if code == "" {
			return nil
		}
		if !slices.Contains(all, code) {
			all = append(all, code)
		}
	}
	return all
}

func (cs *columns) countryOf(s string) string {
	w := cs.x.world()
	if len(s) == 2 && isASCII(s) {
		if code := alpha2(s); w.Alpha3(code) != "" {
			return code
		}
		return ""
	}
	if len(s) < 3 || strings.Trim(s, "0123456789") == "" {
		return ""
	}
	return w.country(s)
}

// citiesCalled returns the cities that have a name, the largest first.
func (cs *columns) citiesCalled(name string) []*gazetteer.City {
	const longest = 60
	if len(name) < 2 || len(name) > longest {
		return nil
	}
	found := slices.Collect(cs.x.world().CitiesCalled(gazetteer.Fold(name)))
	slices.SortStableFunc(found, func(a, b *gazetteer.City) int { return b.Population - a.Population })
	return found
}

// citiesIn returns the cities whose name is a part of a title, and whether the title is nothing else.
func (cs *columns) citiesIn(title string) (found []*gazetteer.City, whole bool) {
	if found = cs.citiesCalled(title); found != nil {
		return found, true
	}
	const longest = 120
	if len(title) > longest {
		return nil, false
	}
	for _, part := range segments(title) {
		if found = cs.citiesCalled(part); found != nil {
			return found, false
		}
		if found = cs.citiesCalled(cs.x.world().core(part)); found != nil {
			return found, false
		}
	}
	for run := range namesIn(title) {
		if found = cs.citiesCalled(run); found != nil && cs.countryOf(run) == "" {
			return found, false
		}
	}
	return nil, false
}

// dateOf returns the time that a text states, by the order of day and month that its column has.
func dateOf(s string, order dateOrder) (time.Time, bool) {
	b := []byte(s)
	if t, _, ok := parseDate(b); ok {
		if order == unread || !bytes.ContainsAny(b, "/-") || len(b) > 10 || len(b) > 4 && b[4] == '-' {
			return t, true
		}
	}
	t, _, ok := writtenDate(s, order)
	return t, ok
}

// orderedIn reads the date that a text begins with, as numbersOf does.
func orderedIn(s string) (day, month time.Time) {
	date, _, _ := strings.Cut(strings.ReplaceAll(s, "T", " "), " ")
	return numbersOf(strings.ReplaceAll(date, ".", "/"))
}

// orderOf returns the order of day and month in a column of dates, or untold.
func orderOf(c *column) dateOrder {
	days, months := 0, 0
	for _, v := range c.cells {
		day, month := orderedIn(v.text)
		switch {
		case !day.IsZero() && month.IsZero():
			days++
		case day.IsZero() && !month.IsZero():
			months++
		}
	}
	switch {
	case days > 10*months:
		return dayFirst
	case months > 10*days:
		return monthFirst
	}
	return untold
}

// degreesOf reads a number of degrees, such as 5.3264, -4,0111 or 15,567° N.
func degreesOf(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 24 {
		return 0, false
	}
	sign := 1.0
	if last, size := utf8.DecodeLastRuneInString(s); unicode.IsLetter(last) {
		switch unicode.ToUpper(last) {
		case 'S', 'W', 'V':
			sign = -1
		case 'N', 'E', 'O', 'Ø', 'Ö':
		default:
			return 0, false
		}
		s = strings.TrimRight(s[:len(s)-size], " °º")
	}
	s = strings.TrimRight(s, " °º")
	if n, ok := sexagesimal(s); ok {
		return sign * n, math.Abs(n) <= 180
	}
	if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		s = strings.Replace(s, ",", ".", 1)
	}
	n, ok := number(s)
	return sign * n, ok && math.Abs(n) <= 180
}

// number reads a number. What cannot be one is not parsed: strconv copies it for its error.
func number(s string) (n float64, ok bool) {
	if s == "" || !strings.ContainsRune("+-.0123456789", rune(s[0])) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// cutPosition cuts a text that has a name and then a position, such as Baixa | -25.9532, 32.552, into the name
// and the two numbers.
func cutPosition(s string) (name string, first, second float64, ok bool) {
	const longest, signs = 200, "|@;:([–-,"
	if len(s) > longest {
		return "", 0, 0, false
	}
	for i, c := range s {
		if i == 0 || !strings.ContainsRune(signs, c) {
			continue
		}
		rest := strings.Trim(s[i+utf8.RuneLen(c):], " )]")
		if name = strings.TrimSpace(s[:i]); !strings.ContainsFunc(name, unicode.IsLetter) || rest == "" || unicode.IsLetter(rune(rest[0])) {
			continue
		}
		if first, second, ok = twoIn(rest); ok {
			return name, first, second, true
		}
	}
	return "", 0, 0, false
}

// sexagesimal reads degrees with minutes and perhaps seconds, such as 50°06'37".
func sexagesimal(s string) (degrees float64, ok bool) {
	if !strings.ContainsAny(s, "°º'′") {
		return 0, false
	}
	parts := strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("°º'′’\"″” ", c) })
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	unit := 1.0
	for i, part := range parts {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || i > 0 && (n < 0 || n >= 60) {
			return 0, false
		}
		if degrees < 0 {
			n = -n
		}
		degrees += n / unit
		unit *= 60
	}
	return degrees, true
}

// twoIn returns the two numbers of degrees that a text has.
func twoIn(s string) (first, second float64, ok bool) {
	const longest = 60
	if len(s) > longest || !strings.ContainsAny(s, ".,°º'") {
		return 0, 0, false
	}
	if lon, lat, ok := wellKnownText([]byte(s)); ok {
		p, ok := parsePoint(lon, lat)
		return p.lat, p.lon, ok
	}
	s = strings.Trim(s, "[](){} ")
	for _, sign := range []string{";", "|", "/", ", ", " ", ","} {
		a, b, found := strings.Cut(s, sign)
		if !found {
			continue
		}
		if first, ok = degreesOf(a); !ok {
			continue
		}
		if second, ok = degreesOf(b); ok {
			return first, second, true
		}
		if b, _, found = strings.Cut(strings.TrimSpace(b), " "); found { // a radius after them
			if second, ok = degreesOf(b); ok {
				return first, second, true
			}
		}
	}
	return 0, 0, false
}
