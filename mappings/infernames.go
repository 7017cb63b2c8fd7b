package mappings

import (
	"slices"
	"strings"
	"unicode"

	"riskdex/mappings/gazetteer"
	"riskdex/report"
)

// code finds the column of a city's code.
func (in *inference) code() {
	if in.kind != report.Cities {
		return
	}
	best := bestOf(in.scalars, func(c *column) (score float64, ok bool) {
		if !c.isPlain() || c.name == memberName || c.of.codes < 0.8 || in.taken[c] != "" || 10*c.of.distinct < 8*c.of.n {
			return 0, false
		}
		agree, known := in.agreement(c, func(city *gazetteer.City, s string) bool { return slices.Contains(slices.Collect(city.Codes()), s) })
		score = agree + 0.3*in.share(c)
		named := in.has(c, "code iata id")
		if named {
			score += 0.3
		}
		return score, (known < 3 || agree >= 0.3 || in.records < 10) && (known >= 3 || named)
	})
	if best == nil {
		return
	}
	in.mapping.Fields.Code = []pattern{best.pattern()}
	in.note("code", best, "three letters, another in each report")
}

// isOfPlace reports whether a column is of the entries of a list that have a position, or a code, as
// well: of a place or an airport.
func (in *inference) isOfPlace(c *column) bool {
	for ; c.parent != nil; c = c.parent {
		if c.parent.name != "*" && c.parent.name != members {
			continue
		}
		for _, of := range in.scalars {
			if of.isIn(c.parent) && (of.of.degrees > 0.9 && of.of.whole < 0.9 || of.of.codes > 0.9) {
				return true
			}
		}
	}
	return false
}

// names finds other names of the city.
// named returns how many values of a column name their city, how many of their parts do and how many parts
// there are, and of how many values the city is known.
func (in *inference) named(c *column, split string) (names, parts, all, known int) {
	seen, most := c.usual()
	for _, v := range c.cells {
		city := in.cities[v.record]
		if city == nil || v.text == most && seen[most] > 2 && 10*seen[most] > len(c.cells) && 2*seen[most] < len(c.cells) { // what stands for none
			continue
		}
		known++
		before := parts
		for part := range strings.FieldsFuncSeq(v.text, func(r rune) bool { return strings.ContainsRune(split, r) }) {
			all++
			if slices.Contains(in.citiesCalled(strings.TrimSpace(part)), city) {
				parts++
			}
		}
		if parts > before {
			names++
		}
	}
	return names, parts, all, known
}

func (in *inference) names() {
	if in.kind != report.Cities {
		return
	}
	var from []pattern
	for _, c := range in.scalars {
		field := in.taken[c]
		if in.isOfPlace(c) || field != "" && field != "title" || c.of.letters < 0.9 || c.of.length > 120 || in.isForeign(c) || c.isSlug() {
			continue
		}
		split := in.separators(c)
		names, parts, all, known := in.named(c, split)
		share := float64(names) / float64(max(1, known))
		if share < 0.3 || known < 3 && in.records > 5 || (share < 0.7 || 5*parts < 2*all) && !in.has(c, "alias other") {
			continue
		}
		from = append(from, c.pattern().splitBy(split))
		if field == "" {
			in.note("names", c, "%.0f %% are names of the city", 100*share)
		}
	}
	if from != nil {
		in.mapping.Fields.Names = from
	}
}

// listSigns stand between the values in a text that lists them.
const listSigns = ",;|/、，；"

// separators returns the signs between the names in a column: those where a part is a name of the city, and
// the whole is none, in most values that have the sign.
func (in *inference) separators(c *column) (signs string) {
	for _, sign := range listSigns {
		with, parts := 0, 0
		for _, v := range c.cells {
			city := in.cities[v.record]
			if city == nil || !strings.ContainsRune(v.text, sign) {
				continue
			}
			with++
			for part := range strings.SplitSeq(v.text, string(sign)) {
				if slices.Contains(in.citiesCalled(strings.TrimSpace(part)), city) && !slices.Contains(in.citiesCalled(v.text), city) {
					parts++
					break
				}
			}
		}
		if 2*parts > with {
			signs += string(sign)
		}
	}
	return signs
}

// isSlug reports whether the values of a column are written for addresses: in small letters without spaces,
// some with hyphens.
func (c *column) isSlug() bool {
	slugs := c.that(func(s string) bool { return isASCII(s) && strings.ToLower(s) == s && !strings.ContainsRune(s, ' ') })
	return 10*slugs > 8*len(c.cells) && c.that(func(s string) bool { return strings.ContainsAny(s, "-_/") }) > 0
}

func (in *inference) airports() {
	if in.kind != report.Cities {
		return
	}
	var from []pattern
	best := 0.0
	for _, c := range in.scalars {
		if in.taken[c] != "" || c.of.length > 40 {
			continue
		}
		codes, agree, known, all := 0, 0, 0, 0
		for _, v := range c.cells {
			city := in.cities[v.record]
			for word := range strings.FieldsFuncSeq(v.text, func(r rune) bool { return !unicode.IsLetter(r) }) {
				all++
				if len(word) != 3 || strings.ToUpper(word) != word || !isASCII(word) {
					continue
				}
				codes++
				if city != nil {
					known++
					if slices.Contains(slices.Collect(city.Codes()), word) {
						agree++
					}
				}
			}
		}
		if all == 0 || 10*codes < 9*all {
			continue
		}
		named := c.of.named&in.bits("airport iata") != 0 || c.of.means&in.bits("airport") != 0
		share := float64(agree) / float64(max(1, known))
		if known >= 5 && share < 0.3 || !named && (known < 5 || share < 0.5) {
			continue
		}
		if share+0.5*in.share(c) > best+0.2 || named {
			best = max(best, share)
			from = append(from, c.pattern().splitBy(",;|/ "))
			in.note("airports", c, "codes of airports, %.0f %% those of the city", 100*share)
		}
	}
	if from != nil {
		in.mapping.Fields.Airports = from
	}
}
