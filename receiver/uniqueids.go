package receiver

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// uniqueColumns are the places that have a value in every record, a different one in each, which
// looks like an id.
type uniqueColumns struct {
	seed    maphash.Seed
	records int
	columns []*uniqueColumn
}

type uniqueColumn struct {
	candidate
	last   string         // value
	values map[uint64]int // by hash; which record has each, from 1
	means  int            // how much its name means an id; see guesser.idRank
	sameAs *uniqueColumn
	depth  int
	words  int    // values without digits
	prefix string // of links that differ in their last part alone, which is the id; empty if they are none
}

// idAfter returns the text of a scalar, or what is after a prefix in it.
func idAfter(prefix string, raw []byte) (string, bool) {
	text, ok := scalarText(raw)
	if !ok || prefix == "" {
		return text, ok
	}
	rest, has := strings.CutPrefix(text, prefix)
	rest, _, _ = strings.Cut(rest, "{") // a link may be a template (RFC 6570)
	return rest, has && rest != "" && !strings.ContainsAny(rest, "/?=&")
}

// linkPrefix returns a link up to its last part.
func linkPrefix(link string) string {
	path, _, _ := strings.Cut(link, "{")
	return path[:strings.LastIndexByte(path, '/')+1]
}

// add examines one more record.
func (u *uniqueColumns) add(g *guesser, r record) {
	if u.records++; u.records == 1 {
		u.seed = maphash.MakeSeed()
		u.first(g, r.members, "", 1)
		slices.SortStableFunc(u.columns, func(a, b *uniqueColumn) int { return b.means - a.means })
		u.columns = u.columns[:min(len(u.columns), maxPlaces)]
	}
	u.columns = slices.DeleteFunc(u.columns, func(c *uniqueColumn) bool {
		text, ok := idAfter(c.prefix, jsonscan.LookupMember(r.members, c.at))
		if ok && isWord(text) {
			c.words++
		} else if !looksLikeID(text) && !isURI(text) {
			ok = false
		}
		if !ok || c.values[maphash.String(u.seed, text)] > 0 {
			return true
		}
		c.values[maphash.String(u.seed, text)], c.last = u.records, text
		c.records++
		return false
	})
	for i, c := range u.columns {
		if u.records == 1 {
			same := slices.IndexFunc(u.columns[:i], func(other *uniqueColumn) bool { return other.last == c.last })
			if same >= 0 {
				c.sameAs = u.columns[same]
			}
		} else if c.sameAs != nil && c.sameAs.last != c.last {
			c.sameAs = nil
		}
	}
}

// first notes the places of the first record.
func (u *uniqueColumns) first(g *guesser, list []jsonscan.Member, path jsontext.Pointer, depth int) {
	for _, m := range list[:min(len(list), maxNamesRead)] {
		at := path.AppendToken(m.Name)
		rank := g.idRank(at)
		if inner, wrapped := g.wrapped(m.Value); wrapped {
			m.Value, at = inner.Value, at.AppendToken(inner.Name)
		}
		if jsonscan.FirstByte(m.Value) == '{' && depth < maxLikelyDepth {
			if inner := jsonscan.Members(m.Value); rank > 0 && isBox(inner) {
				for _, of := range inner {
					u.note(of.Value, at.AppendToken(of.Name), rank, depth, "")
				}
			} else {
				u.first(g, inner, at, depth+1)
			}
		}
		value := m.Value
		if only := jsonscan.Only(value); only != nil { // a list of one is its value
			value, at = only, at.AppendToken("0")
		}
		prefix := ""
		if text, ok := quotedText(value); ok && isURI(text) && g.isSelf(at) {
			rank, prefix = 1, linkPrefix(text)
		}
		u.note(value, at, rank, depth, prefix)
	}
}

// note notes a place whose value may be an id.
func (u *uniqueColumns) note(value []byte, at jsontext.Pointer, rank, depth int, prefix string) {
	text, ok := idAfter(prefix, value)
	if !ok || rank < 0 || !looksLikeID(text) && !(rank > 0 && isURI(text)) && !(rank > 1 && isWord(text)) {
		return
	}
	u.columns = append(u.columns, &uniqueColumn{
		candidate: candidate{at: at, example: text}, values: map[uint64]int{}, means: rank, depth: depth, prefix: prefix,
	})
}

// isBox reports whether an object has few values and nothing else, as an XML element with attributes has:
// one of them is its value, whatever it is called.
func isBox(members []jsonscan.Member) bool {
	const most = 4
	return len(members) <= most && !slices.ContainsFunc(members, func(m jsonscan.Member) bool {
		c := jsonscan.FirstByte(m.Value)
		return c == '{' || c == '['
	})
}

// best returns the place whose name means an id most, of several the one that is least deep; empty
// if there is none, or several are as good. Among few records, values may differ by chance.
func (u *uniqueColumns) best() (at jsontext.Pointer, prefix string) {
	if u.records < manyRecords {
		return "", ""
	}
	var best *uniqueColumn
	tie := false
	for _, c := range u.columns {
		if c.means == 0 || 2*c.words > c.records || best != nil && (c.sameAs == best || best.sameAs == c) {
			continue
		}
		order := -1
		if best != nil {
			order = cmp.Or(best.means-c.means, c.depth-best.depth)
		}
		if order <= 0 {
			tie = order == 0
		}
		if order < 0 {
			best = c
		}
	}
	if best == nil || tie {
		return "", ""
	}
	return best.at, best.prefix
}

// referred returns the one place whose values other records have under another name, as references to
// each other have; empty if there is none, or several. Values of a length that chance gives do not count.
func (u *uniqueColumns) referred(records iter.Seq[record]) jsontext.Pointer {
	const shortest, fewest = 3, 3 // letters, records that are referred to
	if u.records < manyRecords || len(u.columns) == 0 {
		return ""
	}
	type reference struct {
		all int
		to  []map[int]bool // the records that are referred to, by column
		n   []int
	}
	byName := map[string]*reference{}
	at := 0
	var walk func(name string, raw []byte)
	walk = func(name string, raw []byte) {
		switch jsonscan.FirstByte(raw) {
		case '{':
			for _, m := range jsonscan.Members(raw) {
				walk(m.Name, m.Value)
			}
			return
		case '[':
			for element := range jsonscan.Elements(raw) {
				walk(name, element)
			}
			return
		}
		text, ok := scalarText(raw)
		if !ok || len(text) < shortest || len(text) > report.MaxIDBytes {
			return
		}
		r := byName[name]
		if r == nil {
			if len(byName) == maxNamesRead {
				return
			}
			r = &reference{to: make([]map[int]bool, len(u.columns)), n: make([]int, len(u.columns))}
			byName[name] = r
		}
		h, own := maphash.String(u.seed, text), false
		for i, c := range u.columns {
			switch record := c.values[h]; {
			case record == at:
				own = true
			case record > 0:
				if r.to[i] == nil {
					r.to[i] = map[int]bool{}
				}
				r.to[i][record] = true
				r.n[i]++
			}
		}
		if !own {
			r.all++
		}
	}
	for r := range records {
		if jsonscan.FirstByte(r.raw) != '{' {
			continue
		}
		if at++; at > maxRecords {
			break
		}
		walk("", r.raw)
	}
	var found *uniqueColumn
	for i, c := range u.columns {
		for _, r := range byName {
			if len(r.to[i]) < fewest || 2*r.n[i] < r.all {
				continue
			}
			if found != nil && found != c && found.sameAs != c && c.sameAs != found {
				return ""
			}
			if found == nil {
				found = c
			}
			break
		}
	}
	if found == nil {
		return ""
	}
	return found.at
}

// candidates returns the places that are least deep, since those within parts are seldom meant.
func (u *uniqueColumns) candidates() (all []*candidate) {
	for depth := 1; depth <= maxLikelyDepth && len(all) == 0; depth++ {
		for _, c := range u.columns {
			if 2*c.words <= c.records && c.depth == depth && len(all) < maxPlaces {
				all = append(all, &c.candidate)
			}
		}
	}
	return all
}

// idRank returns how much the names of a place mean the id of a record: 3 by all their words, 2 and
// 1 where a word is unknown and the last is one for ids or for numbers, 1 also where they mean the record
// itself, 0 where the words do not tell, and less than 0 where they mean something else.
func (g *guesser) idRank(at jsontext.Pointer) int {
	var n vocabulary.Name
	var all vocabulary.Concepts
	unknown := false
	for name := range at.Tokens() {
		n = g.vocabulary.Read(name)
		all |= n.Concepts
		unknown = unknown || n.Unknown
	}
	named := all & (g.id | g.number)
	switch {
	case all&^(g.own|g.id|g.number) != 0:
		return -1
	case named == 0 && !unknown && all != 0: // the record itself
		return 1
	case named == 0 && !unknown:
		return -1
	case named == 0:
		return 0
	case !unknown && (named&g.id != 0 || all&g.own != 0):
		return 3
	case n.Last&g.id != 0:
		return 2
	case n.Last&g.number != 0:
		return 1
	}
	return 0
}

// isSelf reports whether the names of a place mean the link of a record to itself (self, RFC 4287).
func (g *guesser) isSelf(at jsontext.Pointer) bool {
	self := false
	for name := range at.Tokens() {
		self = self || strings.EqualFold(name, "self")
		if n := g.vocabulary.Read(name); n.Concepts&^(g.own|g.link) != 0 {
			return false
		}
	}
	return self
}

// isURI reports whether a text is a URI (RFC 3986).
func isURI(text string) bool {
	scheme, rest, ok := strings.Cut(text, ":")
	isLetter := func(c rune) bool { return 'a' <= c && c <= 'z' }
	return ok && len(scheme) > 1 && strings.TrimFunc(scheme, isLetter) == "" && rest != "" && !strings.ContainsAny(rest, " \n")
}

// isWord reports whether a text is one of letters, as some ids among others with digits are.
func isWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && c != '-' && c != '_' })
}

// looksLikeID reports whether a text has a digit and nothing that an id lacks: white space, quotes, a
// fraction, a link, a date.
func looksLikeID(text string) bool {
	if len(text) > 128 || !strings.ContainsAny(text, "0123456789") {
		return false
	}
	if strings.ContainsAny(text, " \t\n,\"") || strings.Contains(text, "://") {
		return false
	}
	if strings.Trim(text, "0123456789.:-/+TZ") != "" {
		return true
	}
	digits := strings.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	if len(digits) == 2 && strings.Contains(text, ".") || strings.HasPrefix(text, "-") {
		return false // 1.5
	}
	if len(digits) < 3 {
		return true
	}
	sizes := []int{len(digits[0]), len(digits[1]), len(digits[2])}
	slices.Sort(sizes)
	return sizes[1] > 2 || sizes[2] != 4 // no date
}
