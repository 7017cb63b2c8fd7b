package mappings

import (
	"slices"
	"strings"

	"riskdex/internal/vocabulary"
)

// threatOf returns the threat that a column is called after, or -1.
func (in *inference) threatOf(c *column) int {
	threat, _ := in.threatAt(c)
	return threat
}

// threatAt returns the threat that a column is called after, or -1, and which of the columns that it is in
// says so.
func (in *inference) threatAt(c *column) (int, *column) {
	if !c.askedThreat {
		c.askedThreat = true
		c.threat, c.threatAt = in.findThreat(c)
	}
	return c.threat, c.threatAt
}

func (in *inference) findThreat(c *column) (int, *column) {
	for of := c; of != nil && of.parent != nil; of = of.parent {
		name := of.name
		if name == "*" || strings.HasPrefix(name, "{") {
			continue
		}
		if of.called != "" {
			name = of.called
		}
		if strings.HasPrefix(name, "[") {
			_, name, _ = strings.Cut(strings.TrimSuffix(name, "]"), "=")
		}
		var words []string
		shared := of.sharedWords()
		for _, word := range vocabulary.Words(name) {
			if !shared[vocabulary.Fold(word)] && in.x.reader.name([]byte(word)).Concepts&in.bits("risk level rating score severity threat category label name number text date") == 0 {
				words = append(words, word)
			}
		}
		if threat, ok := in.x.threatWords.named([]byte(strings.Join(words, " "))); ok {
			return threat, of
		}
		if own, _ := in.nameOf(of); own != 0 && own&^in.bits("risk level rating score severity threat category label name id number text date") != 0 {
			return -1, nil
		}
	}
	return -1, nil
}

// sharedWords returns the words that the names of at least three members of an object begin with: they say
// what these are together.
func (c *column) sharedWords() map[string]bool {
	if c.parent == nil || strings.HasPrefix(c.name, "[") {
		return nil
	}
	if c.parent.shared != nil {
		return c.parent.shared
	}
	n := map[string]int{}
	for _, of := range c.parent.children {
		if words := vocabulary.Words(of.name); len(words) > 1 {
			n[vocabulary.Fold(words[0])]++
		}
	}
	shared := map[string]bool{}
	for word, times := range n {
		if times >= 3 {
			shared[word] = true
		}
	}
	c.parent.shared = shared
	return shared
}

// threats finds the columns that name threats, and rate them.
func (in *inference) threats() {
	labels, lists := in.threatLabels()
	rated := in.ratings(lists)
	isRated := func(r ratedColumn) bool { return r.Level != nil }
	if len(rated) > 0 || slices.ContainsFunc(labels, isRated) { // what only names them is a heading, or the like
		labels = slices.DeleteFunc(labels, func(r ratedColumn) bool { return !isRated(r) })
	}
	in.mapping.Rated = append(labels, rated...)
}

// ratings finds columns that are called after threats and have ratings, or are entries of a list that are,
// but for lists of which it is known. Those beside one another are on one scale.
func (in *inference) ratings(lists []*column) (rated []ratedColumn) {
	type key struct {
		parent *column
		rest   string
	}
	families, best, scales := map[key][]*column{}, map[*column]key{}, map[key]levelScale{}
	var order []key
	for _, c := range in.scalars {
		threat, at := in.threatAt(c)
		if in.taken[c] != "" || c.of.distinct > 12 || c.of.length > 40 || !c.isPlain() || threat < 0 {
			continue
		}
		k := key{at.parent, string(c.within(at))}
		if slices.Contains(lists, k.parent) {
			continue
		}
		if families[k] == nil {
			order = append(order, k)
		}
		families[k] = append(families[k], c)
	}
	named := map[*column]int{}
	for _, k := range order { // what stands beside ratings may be called after a threat in short
		if len(families[k]) < 3 {
			continue
		}
		for _, c := range in.scalars {
			if in.taken[c] != "" || !c.isPlain() || c.of.distinct > 12 || in.threatOf(c) >= 0 {
				continue
			}
			at := c
			for at.parent != nil && at.parent != k.parent {
				at = at.parent
			}
			if at.parent == nil || string(c.within(at)) != k.rest || strings.HasPrefix(at.name, "[") {
				continue
			}
			shared := at.sharedWords()
			words := slices.DeleteFunc(vocabulary.Words(at.name), func(word string) bool { return shared[vocabulary.Fold(word)] })
			if threat, ok := in.x.threatWords.shortened(strings.Join(words, " ")); ok {
				families[k] = append(families[k], c)
				named[c] = threat
			}
		}
	}
	for _, k := range order {
		all := &column{parent: k.parent, name: families[k][0].name}
		for _, c := range families[k] {
			all.cells = append(all.cells, c.cells...)
		}
		in.look(all)
		scale, ok := in.scaleOf(all, len(families[k]) >= 3)
		if !ok || !scale.worded && len(families[k]) < 3 {
			continue
		}
		if of, again := best[k.parent]; !again || scale.worded && !scales[of].worded {
			best[k.parent] = k
		}
		scales[k] = scale
	}
	for _, k := range order {
		scale := scales[k]
		if best[k.parent] != k || scale.levels == nil { // of two ratings, one counts
			continue
		}
		for _, c := range families[k] {
			of, short := named[c]
			if !short {
				of = in.threatOf(c)
			}
			threat := in.x.threatWords.names[of]
			rated = append(rated, ratedColumn{At: c.pattern(), Threat: threat, Levels: scale.levels})
			in.note("threats", c, "rates %s: %s", threat, scale)
		}
	}
	return rated
}

// threatLabels finds columns whose values name threats, and the lists that rate them as well.
func (in *inference) threatLabels() (rated []ratedColumn, lists []*column) {
	for _, c := range in.scalars {
		if in.taken[c] != "" || c.of.length > 60 || c.of.numbers > 0 || c.isSlug() && 2*c.of.distinct > c.of.n {
			continue
		}
		threats, known, all := map[int]bool{}, 0, 0
		seen := map[string]bool{}
		for _, v := range c.cells {
			for part := range in.x.threatWords.entries(v.text) {
				if seen[part] {
					continue
				}
				seen[part] = true
				all++
				if threat, ok := in.x.threatWords.entry(part); ok {
					known++
					threats[threat] = true
				}
			}
		}
		few := in.records < 10 || 2*all < 3*c.of.n
		if all > 0 && 10*c.of.n > 6*all*in.records && in.records > 5 {
			few = false // headings, which nearly all records have
		}
		if len(threats) < 2 || all > 80 || 10*known < 4*all {
			continue
		}
		r := ratedColumn{At: c.pattern()}
		entry := c.entry()
		for _, of := range in.scalars { // its rating beside it
			if of == c || in.taken[of] != "" || entry == nil || of.entry() != entry || of.of.distinct > 12 || of.of.length > 40 || of.isOrdinal() {
				continue
			}
			if scale, ok := in.scaleOf(of, true); ok && of.of.named&in.bits("id number") == 0 {
				level, each := patternOf(of.within(entry)), entry.pattern()
				r.Each, r.At, r.Level, r.Levels = &each, patternOf(c.within(entry)), &level, scale.levels
				lists = append(lists, entry.parent)
				in.note("threats", of, "rates threats: %s", scale)
				break
			}
		}
		if !few && r.Level == nil {
			continue
		}
		r.Names = in.x.threatWords.byExclusion(seen, threats, r.Level != nil)
		rated = append(rated, r)
		in.note("threats", c, "%d of %d of its labels are threats", known, all)
	}
	return rated, lists
}

// ratedColumn says where a record names threats, or rates one.
type ratedColumn struct {
	Each   *pattern          `json:"each,omitzero"`   // the entries of a list; nil if the record itself has it
	At     pattern           `json:"at"`              // what names the threat, or rates the one that is known
	Threat string            `json:"threat,omitzero"` // empty if the value names it
	Names  map[string]string `json:"names,omitzero"`  // the threats of labels, folded, that could be of several
	Level  *pattern          `json:"level,omitzero"`  // its rating, from an entry
	Levels map[string]int    `json:"levels,omitzero"` // of the values of a rating, folded
}
