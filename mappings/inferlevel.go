package mappings

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"riskdex/internal/vocabulary"
)

// level finds the column of the risk level of the whole report, and its scale.
func (in *inference) level() {
	type candidate struct {
		c     *column
		scale levelScale
		score float64
	}
	var found []candidate
	for _, c := range in.scalars {
		if !c.isPlain() || in.taken[c] != "" || c.of.distinct > 12 || c.of.length > 60 || in.share(c) < 0.1 {
			continue
		}
		if in.threatOf(c) >= 0 || in.isOneOfRatings(c) || in.isOneOfAlike(c) {
			continue
		}
		scale, ok := in.scaleOf(c, false)
		if ordered, coloured, is := in.orderBeside(c); is && (coloured || c.of.means&in.bits("risk level rating severity threat security advisory") != 0) {
			if !ok || !scale.worded || !scale.begins(ordered) { // else the words say how far up the highest one is
				scale, ok = ordered, true
			}
		}
		if !ok || in.isForeign(c) && (!scale.worded || c.of.distinct < 3) {
			continue
		}
		own := c.of.named | in.beginning(c)
		score := 0.0
		switch {
		case own&in.bits("risk level rating severity threat security") != 0:
			score = 1
		case c.of.means&in.bits("risk level rating severity threat security") != 0:
			score = 0.7
		case scale.worded && c.of.distinct > 2:
			score = 0.4
		case in.highestBeside(c) > 0:
			score = 0.7
		default:
			continue
		}
		switch {
		case in.highestBeside(c) > 0: // which says what the labels only suggest
			score += 0.4
		case scale.worded:
			score += 0.3
		case in.isLabelled(c):
			score += 0.2
		default:
			score -= 0.3 + 0.3*float64(c.of.unknown)
		}
		if score < 0.5 {
			continue
		}
		if own&in.bits("risk") != 0 || own&in.bits("security threat") != 0 && own&in.bits("level rating") != 0 {
			score += 0.2
		}
		if own&in.bits("category score") != 0 {
			score -= 0.3
		}
		if in.isForeign(c) { // as in Alert status, but the level before is one of these as well
			score -= 0.4
		}
		score += 0.5*in.share(c) - 0.1*float64(c.of.unknown) - 0.03*float64(c.depth())
		found = append(found, candidate{c, scale, score})
	}
	if len(found) == 0 {
		return
	}
	best := found[first(found, func(f candidate) float64 { return f.score })]
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	m := in.mapping
	m.Fields.RiskLevel = []pattern{best.c.pattern()}
	m.Fields.RiskLabel = m.Fields.RiskLevel
	m.RiskLevels = best.scale.levels
	in.taken[best.c] = "risk_level"
	in.note("risk_level", best.c, "a scale: %s", best.scale)
	for _, f := range found { // the label beside a number, or the number beside a label
		if f.scale.worded && !best.scale.worded && in.follows(f.c, best.c) {
			m.Fields.RiskLabel = []pattern{f.c.pattern()}
			in.note("risk_label", f.c, "goes with the level")
			break
		}
	}
}

// beginning returns what a compound in a column's name begins with, whose end is an abbreviation: risikoniv is
// of a risk.
func (in *inference) beginning(c *column) (all vocabulary.Concepts) {
	for ; c.isWrapped(); c = c.parent {
	}
	const shortest, longestEnd = 4, 4 // letters
	for _, word := range vocabulary.Words(c.name) {
		for end := len(word) - 2; end >= max(shortest, len(word)-longestEnd); end-- {
			if utf8.RuneStart(word[end]) {
				all |= in.x.reader.name([]byte(word[:end])).Concepts
			}
		}
	}
	return all
}

// isOneOfRatings reports whether a column is an entry of a list, or a member of an object, of which
// others are called after threats.
func (in *inference) isOneOfRatings(c *column) bool {
	whole := in.bits("risk level rating severity threat security safety")
	if c.of.unknown == 0 && c.of.named&in.bits("risk threat security safety") != 0 && c.of.named&in.bits("level rating severity") != 0 && c.of.named&^whole == 0 {
		return false // it is called after the whole
	}
	for of := c; of.parent != nil; of = of.parent {
		if strings.HasPrefix(of.name, "[") || of == c {
			n := 0
			for _, other := range of.parent.children {
				if other != of && strings.HasPrefix(of.name, "[") == strings.HasPrefix(other.name, "[") && in.threatOf(other) >= 0 {
					n++
				}
			}
			if n > 2 && strings.HasPrefix(of.name, "[") || n > 3 && in.threatOf(c) >= 0 {
				return true
			}
		}
	}
	return false
}

// isOneOfAlike reports whether a column is a member of an object most of whose members are on one scale, and
// says nothing of the whole: such an object rates topics, whatever they are called.
func (in *inference) isOneOfAlike(c *column) bool {
	const fewest = 4
	if strings.HasPrefix(c.name, "{/") { // what a table says that its values mean
		c = c.parent
	}
	if c.parent == nil || c.name == "*" || c.of.named&in.bits("risk level rating severity") != 0 {
		return false
	}
	alike := 0
	labels := labelsOf(c)
	for _, of := range c.parent.children {
		if of != c && of.of.distinct > 1 {
			here := 0
			for label := range labelsOf(of) {
				if labels[label] {
					here++
				}
			}
			if 3*here >= 2*max(of.of.distinct, len(labels)) {
				alike++
			}
		}
	}
	return alike >= fewest && 2*alike >= len(c.parent.children)
}

// isLabelled reports whether another column has a label for each value of a column.
func (in *inference) isLabelled(c *column) bool {
	return c.of.distinct > 2 && slices.ContainsFunc(in.scalars, func(of *column) bool {
		return of != c && of.of.letters > 0.9 && of.of.length < 40 && of.of.distinct == c.of.distinct && of.isPlain() && in.follows(of, c) && in.follows(c, of)
	})
}
