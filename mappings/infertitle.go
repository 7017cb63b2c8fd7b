package mappings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"riskdex/internal/vocabulary"
	"riskdex/mappings/gazetteer"
	"riskdex/mappings/language"
	"riskdex/report"
)

// isName reports whether a column has names or titles: one in each record, short and different.
func (in *inference) isName(c *column) bool {
	v := &c.of
	if c.of.n == 0 || in.taken[c] != "" || v.letters < 0.95 || v.markup > 0.1 || v.numbers > 0.05 || v.length > 160 || v.length < 1.5 || v.codes > 0.5 {
		return false
	}
	if in.records >= 8 && 10*v.distinct < 6*v.n {
		return false
	}
	return c.shareThat(func(s string) bool { // a slug, or an id
		return !strings.ContainsRune(s, ' ') && (strings.ContainsAny(s, "-_/:") && strings.ToLower(s) == s || strings.ContainsAny(s, "0123456789"))
	}) < 0.5
}

func (in *inference) title() {
	type candidate struct {
		c     *column
		score float64
		why   string
	}
	var found []candidate
	for _, c := range in.scalars {
		if !c.isPlain() || in.share(c) < 0.3 || !in.isName(c) || in.isForeign(c) || c.of.prose > 0.3 {
			continue
		}
		own := c.of.named
		score, why := 0.0, ""
		switch {
		case own&in.bits("title") != 0:
			score = 1
		case own&in.bits("name label") != 0:
			score = 0.8
		case own&in.bits("city destination") != 0 && in.kind == report.Cities:
			score = 0.7
		}
		if in.kind == report.Cities {
			share, known := in.agreement(c, func(city *gazetteer.City, s string) bool {
				found, _ := in.citiesIn(s)
				return slices.Contains(found, city)
			})
			if known > 3 && share < 0.5 {
				continue
			}
			score += share
			if split := in.separators(c); split != "" {
				if _, parts, all, _ := in.named(c, split); 5*parts >= 2*all { // other names
					score -= 0.3
				}
			}
			why = fmt.Sprintf("%.0f %% name the city", 100*share)
		} else {
			if c.of.length < 12 || c.of.spaced < 0.8 {
				score -= 0.7
			}
			score += 0.5 * c.shareThat(func(s string) bool { return strings.Count(s, " ") >= 2 || unspaced(s) >= 8 })
			ended := c.that(func(s string) bool {
				last, _ := utf8.DecodeLastRuneInString(s)
				return strings.ContainsRune(".。!…", last)
			})
			if 10*ended < c.of.n && 20*c.of.distinct > 19*c.of.n && c.of.length < 110 && c.of.spaced > 0.8 { // a heading, and no sentence
				score += 0.4 - 0.3*float64(c.before)/1000/float64(c.records)
			}
			why = "short, different in each report"
		}
		score -= 0.1*float64(c.of.unknown) + 0.03*float64(c.depth())
		if own&in.bits("summary text alias other parent link") != 0 {
			score -= 0.4
		}
		if score += in.share(c) - 0.8; in.share(c) < 0.9 { // a report has a title
			score -= 0.3
		}
		if language := in.languageOf(c); language == "en" {
			score += 0.1
		} else if language != "" {
			score -= 0.1
		}
		found = append(found, candidate{c, score, why})
	}
	if len(found) == 0 {
		return
	}
	for i, f := range found { // of two columns that name the city, the heading before the name is the title
		if in.kind != report.Cities || in.has(f.c, "summary text alias other parent link") || in.separators(f.c) != "" {
			continue
		}
		for _, of := range found {
			if f.c.parent == of.c.parent && f.c.before < of.c.before && in.isHeadingOf(f.c, of.c) {
				found[i].score = max(found[i].score, of.score+2*asGood)
			}
		}
	}
	i := first(found, func(f candidate) float64 { return f.score })
	best := found[i]
	found = slices.Delete(found, i, i+1)
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	found = slices.Insert(found, 0, best)
	if found[0].score < 0.5 {
		return
	}
	var from []pattern
	english := in.englishOf(found[0].c)
	if english != nil {
		from = append(from, english.pattern())
		in.note("title", english, "the same in English")
	}
	for i, f := range found {
		if i > 0 && (i > 2 || f.score < 0.6) {
			break
		}
		if f.c == english {
			continue
		}
		from = append(from, f.c.pattern())
		if i == 0 {
			in.note("title", f.c, "%s", f.why)
		}
	}
	for _, c := range found[0].c.translations() { // where the best one is empty
		if !slices.ContainsFunc(from, func(p pattern) bool { return p.text == c.pointer() }) {
			from = append(from, c.pattern())
		}
	}
	in.mapping.Fields.Title = from
}

// isHeadingOf reports whether the values of a column have those of another one in them, and more words.
func (in *inference) isHeadingOf(c, of *column) bool {
	names, n := of.byRecord(), 0
	for _, v := range c.cells {
		name := names[v.record]
		if rest := strings.Replace(v.text, name, "", 1); name != "" && len(rest) < len(v.text) && strings.ContainsFunc(rest, unicode.IsLetter) {
			n++
		}
	}
	return c.of.length < 80 && nearlyAll(n, len(c.cells)) && nearlyAll(n, len(of.cells))
}

// languageOf returns the language of the entry of a list by language that a column is, or "".
func (in *inference) languageOf(c *column) string {
	for ; c.parent != nil; c = c.parent {
		if label, value, ok := strings.Cut(strings.Trim(c.name, "[]"), "="); ok && c.name[0] == '[' {
			if n := in.x.reader.name([]byte(label)); n.Concepts&in.bits("language") != 0 {
				return vocabulary.Language(value)
			}
		}
	}
	return ""
}

// englishOf returns the column that has a title in English, of which c has the one in another language; or nil.
// It is called like c with something more, or as titles are, in an object or the entry of a list beside it.
func (in *inference) englishOf(c *column) *column {
	const few = 1 // known words, since a title has not many
	own := in.language(c, language.Sure)
	isForeign := own != "en" && (own != "" || c.ascii() < 0.5)
	var found []*column
	for _, of := range in.scalars {
		if of == c || !of.isPlain() || !in.isName(of) || in.isForeign(of) || of.of.prose > 0.3 || of.of.distinct < 2 {
			continue
		}
		rest, longer := strings.CutPrefix(of.folded, c.folded)
		beside, tag := of.parent == c.parent, in.languageOf(of)
		if beside && longer && vocabulary.IsLanguage(rest) {
			tag = vocabulary.Language(rest)
		}
		switch {
		case tag != "" && tag != "en", beside && !longer, !longer && of.of.named&in.bits("title") == 0:
		case tag == "en" && longer, isForeign && in.isAbout(of) && (in.language(of, few) == "en" || beside && of.ascii() > 0.8 && c.ascii() < 0.2):
			found = append(found, of)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[first(found, func(of *column) float64 { return in.share(of) - 0.03*float64(of.depth()) })]
}

// ascii returns the share of values without letters of other languages.
func (c *column) ascii() float64 {
	return shareOf(c.that(isASCII), len(c.cells))
}

// language returns the language of the values of a column, or "".
func (in *inference) language(c *column, fewest int) string {
	var all []byte
	for _, v := range c.cells {
		all = append(append(all, v.text...), '\n')
	}
	return in.x.detector.Of(all, fewest)
}
