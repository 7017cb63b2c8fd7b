package mappings

import (
	"bytes"
	"slices"
	"strings"

	"riskdex/internal/vocabulary"
)

const (
	// rated is the lowest level, of 1 to 5, at which a threat that the report itself rates
	// counts as a warning.
	rated = 3

	// A text that mentions a threat in passing is not about it. It has to mention it at
	// least fewest times, and at least once in every oncePer words.
	fewest  = 3
	oncePer = 120
)

// span is where a member is in the document; empty if it is not there.
type span struct{ start, end int }

// ratedLevel returns the level of the rating of a threat, or rated for words that are the third of five
// levels or a higher one, whatever the scale.
func (x *extractor) ratedLevel(at uint32, s []byte, guessed bool) (int, verdict) {
	level, v := x.countedLevel(at, s, guessed)
	if v == unfit && len(s) <= maxLevel && severity.atLeast(vocabulary.Fold(string(s)), "considerable") {
		return rated, fits
	}
	return level, v
}

// threats writes what a report warns of. If the report lists threats itself, nothing else counts.
// If it rates some, only the title can add another one. Otherwise the words count: one mention in
// the title or the summary is enough, the text, which is in x.prose, needs many.
func (x *extractor) threats(title, summary span) {
	of := x.threatWords
	x.counts = append(x.counts[:0], make([]int, len(of.names))...)
	x.ratings, x.lists = append(x.ratings[:0], make([]bool, len(of.names))...), false
	var space [64]byte
	if x.ownThreats() {
		if !x.lists {
			x.unratedInTitle(title, space[:0])
		}
	} else {
		words := of.count(x.counts, x.prose, space[:0])
		for i, n := range x.counts {
			x.counts[i] = 0
			if n >= max(fewest, words/oncePer) {
				x.counts[i] = 1
			}
		}
		of.count(x.counts, x.dst[title.start:title.end], space[:0])
		of.count(x.counts, x.dst[summary.start:summary.end], space[:0])
	}
	value := x.texts("threats", func(yield func(string) bool) {
		for i, n := range x.counts {
			if n > 0 && !yield(of.names[i]) {
				return
			}
		}
	})
	if value > 0 {
		x.trace.note(x, "threats", 0, fits, value)
	}
}

// unratedInTitle counts the threats in the title that the record does not rate. word is scratch
// memory.
func (x *extractor) unratedInTitle(title span, word []byte) {
	mentions := make([]int, len(x.counts))
	x.threatWords.count(mentions, x.dst[title.start:title.end], word)
	for i, n := range mentions {
		if !x.ratings[i] {
			x.counts[i] += n
		}
	}
}

// ownThreats counts the threats that the record itself names, and reports whether there are
// any.
func (x *extractor) ownThreats() (any bool) {
	if x.mapping.Rated != nil {
		return x.ratedThreats()
	}
	from := &x.mapping.Threats
	for _, root := range x.roots {
		for i := range from.Each {
			x.found = x.tree.find(x.found[:0], root, from.Each[i].steps)
			for _, at := range x.found {
				any = x.ownThreat(at) || any
			}
		}
	}
	if any {
		return true
	}
	for _, g := range x.guessed(threatsField) {
		switch {
		case x.tree.nodes[g.at].kind == '{' && !x.isLocalized(g.at):
			any = x.ratedMembers(g.at) || any
			continue
		case x.tree.nodes[g.at].kind != '[':
			any = x.threatByWords(g.at) || any
			continue
		}
		for at := x.tree.nodes[g.at].first; at != none; at = x.tree.nodes[at].next {
			any = x.threatByWords(at) || any
		}
	}
	return any
}

// threatByWords reads a label, or an object that has a label and perhaps a rating in members
// whose names mean that. An object with a rating that is not understood says nothing.
func (x *extractor) threatByWords(at uint32) bool {
	at = x.unwrapped(at)
	if x.tree.nodes[at].kind != '{' {
		s, v := x.scalar(at)
		if v != fits {
			return false
		}
		return x.threatsIn(s)
	}
	var r threatRating
	x.ratingIn(at, 0, &r)
	if !r.named && r.mentions {
		r.threat, r.named = r.mentioned, true
	}
	if !r.named || r.stated && r.level == 0 {
		return false
	}
	if r.level >= rated || !r.stated {
		x.counts[r.threat]++
	}
	x.ratings[r.threat], x.lists = x.ratings[r.threat] || r.level > 0, x.lists || !r.stated
	return true
}

// threatsIn counts the threats in a string that lists them, such as "Crime; Civil unrest", and reports
// whether there are any. Another string is prose, whose words count like those of the text.
func (x *extractor) threatsIn(s []byte) (any bool) {
	const longest = 300 // bytes
	if len(s) > longest {
		return false
	}
	entries := bytes.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune(",;|\n", c) })
	for _, entry := range entries {
		if _, ok := x.threatWords.label(entry); !ok && !isNameOfThreat(entry) {
			return false
		}
	}
	for _, entry := range entries {
		if threat, ok := x.threatWords.named(entry); ok {
			x.counts[threat]++
			x.lists, any = true, true
		}
	}
	return any
}

// ratedMembers reads an object whose members are named after threats, each with a rating. One that
// is not understood says nothing.
func (x *extractor) ratedMembers(object uint32) (any bool) {
	for member := x.tree.nodes[object].first; member != none; member = x.tree.nodes[member].next {
		threat, ok := x.threatWords.label(x.tree.named(member))
		if !ok {
			continue
		}
		at := x.unwrapped(member)
		s, v := x.scalar(at)
		if v != fits {
			continue
		}
		level, v := x.ratedLevel(at, s, true)
		if v != fits {
			continue
		}
		any, x.ratings[threat] = true, true
		if level >= rated {
			x.counts[threat]++
		}
	}
	return any
}

// threatRating is what an object says about a threat.
type threatRating struct {
	threat, level int
	named, stated bool // whether it names the threat, and states a rating

	mentioned int // a threat that it is called after in other words, if mentions is set
	mentions  bool
}

// ratingIn reads the members of an object, and of objects in it such as {"riskLevel":
// {"id": 4, "name": "High"}}. means is what the name of the object means.
func (x *extractor) ratingIn(object uint32, means vocabulary.Concepts, r *threatRating) {
	bits := &x.reader.bits
	for member := x.tree.nodes[object].first; member != none; member = x.tree.nodes[member].next {
		n := x.reader.name(x.tree.quotedName(member))
		all := n.Concepts | means
		if n.Unknown || all == 0 || all&^(bits.kind|bits.rates|bits.id) != 0 {
			continue
		}
		value := x.unwrapped(member)
		s, v := x.scalar(value)
		switch {
		case v == container && means == 0 && x.tree.nodes[value].kind == '{':
			x.ratingIn(value, n.Concepts, r)
			continue
		case v != fits:
			continue
		}
		if !r.named && all&^bits.kind == 0 {
			if r.threat, r.named = x.threatWords.label(s); r.named {
				continue
			}
			if !r.mentions {
				r.mentioned, r.mentions = x.threatWords.named(s)
			}
		}
		if rates := all &^ (bits.id | bits.name | bits.title | bits.label); rates != 0 && rates&^bits.rates == 0 && (all&bits.id == 0 || means != 0) {
			r.stated = true
			if level, v := x.ratedLevel(value, s, true); v == fits {
				r.level = max(r.level, level)
			}
		}
	}
}

// ownThreat reads a label, an object with a label and perhaps a rating, or an object whose
// members are named after labels.
func (x *extractor) ownThreat(at uint32) (any bool) {
	reads := []func([]byte) (int, bool){x.threatWords.label}
	if x.reader.name(x.nameOf(at)).Concepts&x.reader.bits.warned != 0 { // a topic or a category may be anything
		reads = append(reads, x.threatWords.named)
	}
	for _, read := range reads {
		if threat, name, ok := x.threatNamed(at, read); ok {
			x.rate(threat, at, name == at)
			return true
		}
	}
	if x.tree.nodes[at].kind != '{' {
		return false
	}
	for member := x.tree.nodes[at].first; member != none; member = x.tree.nodes[member].next {
		if threat, ok := x.threatWords.label(x.tree.named(member)); ok {
			x.rate(threat, member, false)
			any = true
		}
	}
	return any
}

// threatNamed returns the first threat that a member of an entry of a list is read as, and that member.
func (x *extractor) threatNamed(at uint32, read func([]byte) (int, bool)) (threat int, name uint32, ok bool) {
	from := &x.mapping.Threats
	for i := range from.Name {
		x.inner = x.tree.find(x.inner[:0], at, from.Name[i].steps)
		for _, name := range x.inner {
			if s, v := x.scalar(name); v == fits {
				if threat, ok := read(s); ok {
					return threat, name, true
				}
			}
		}
	}
	return 0, none, false
}

// rate counts a threat that is listed without a rating, or with one that is a warning. A
// rating that is not understood counts as no warning.
func (x *extractor) rate(threat int, at uint32, bare bool) {
	if bare {
		x.counts[threat]++
		x.lists = true
		return
	}
	best := 0
	consider := func(at uint32) verdict {
		s, v := x.scalar(at)
		if v != fits {
			return v
		}
		level, v := x.ratedLevel(at, s, false)
		if v == fits {
			best = max(best, level)
		}
		return v
	}
	stated := x.tree.nodes[at].kind != '{' && consider(at) != absent
	for i := range x.mapping.Threats.Level {
		x.inner = x.tree.find(x.inner[:0], at, x.mapping.Threats.Level[i].steps)
		for _, level := range x.inner {
			stated = consider(level) != absent || stated
		}
	}
	if best >= rated || !stated {
		x.counts[threat]++
	}
	x.ratings[threat], x.lists = x.ratings[threat] || best > 0, x.lists || !stated
}

// ratedThreats counts the threats that the columns of the mapping name or rate, and reports whether
// there are any.
func (x *extractor) ratedThreats() (any bool) {
	level := func(r *ratedColumn, at uint32) (int, bool) {
		s, v := x.scalar(at)
		if v != fits {
			return 0, false
		}
		n, ok := r.Levels[vocabulary.Fold(string(s))]
		return n, ok
	}
	count := func(threat, level int) {
		any = true
		if level == 0 || level >= rated {
			x.counts[threat]++
		}
		x.ratings[threat], x.lists = x.ratings[threat] || level > 0, x.lists || level == 0
	}
	named := func(r *ratedColumn, at uint32, level int) {
		s, v := x.scalar(at)
		if v != fits {
			return
		}
		for part := range x.threatWords.entries(string(s)) {
			if threat, ok := x.threatWords.entry(part); ok {
				count(threat, level)
			} else if threat := slices.Index(x.threatWords.names, r.Names[vocabulary.Fold(part)]); threat >= 0 {
				count(threat, level)
			}
		}
	}
	for i := range x.mapping.Rated {
		r := &x.mapping.Rated[i]
		switch {
		case r.Threat != "":
			threat := slices.Index(x.threatWords.names, r.Threat)
			for _, at := range x.tree.find(nil, 0, r.At.steps) {
				if n, ok := level(r, at); ok && threat >= 0 {
					count(threat, n)
				}
			}
		case r.Each != nil && r.Level != nil:
			for _, entry := range x.tree.find(nil, 0, r.Each.steps) {
				n := 0
				for _, at := range x.tree.find(nil, entry, r.Level.steps) {
					n, _ = level(r, at)
				}
				for _, at := range x.tree.find(nil, entry, r.At.steps) {
					if n > 0 { // a rating that is not understood says nothing
						named(r, at, n)
					}
				}
			}
		default:
			for _, at := range x.tree.find(nil, 0, r.At.steps) {
				named(r, at, 0)
			}
		}
	}
	return any
}
