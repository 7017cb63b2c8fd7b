package receiver

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/receiver/jsonscan"
)

// listAt is a list of objects somewhere in a payload.
type listAt struct {
	list []byte
	made bool // of an object, or of those of one kind in a list
	in   *level
}

// level is an object on the way to a list, and the member that is followed.
type level struct {
	object []jsonscan.Member
	at     int
	outer  *level
}

// beside returns the members beside the one that is followed.
func (l *level) beside() []jsonscan.Member { return slices.Concat(l.object[:l.at], l.object[l.at+1:]) }

// byContent returns the records of a payload that what is in it tells; nil if it tells none.
func (o opener) byContent(body []byte) iter.Seq[record] {
	if list, beside := tableIn(body); list != nil && o.namesPlaces(list, 2) && !o.says(list, beside) {
		return func(yield func(record) bool) { o.unwrapList(list, nil, yield) }
	}
	l, kept, ok := o.placed(jsonscan.Members(body))
	switch {
	case !ok:
		return nil
	case l.made:
		return func(yield func(record) bool) { o.unwrapList(l.list, kept, yield) }
	}
	return func(yield func(record) bool) { o.unwrapElements(l.list, maxEnvelopes, kept, yield) }
}

// placed finds the one list in a payload whose objects are about places: most of them name a country in
// the same column, or refer to objects that do, and not all the same one. Whatever such a list is called, it
// has the records, if nothing is lost of what stands beside it. What other objects refer to is not a list of
// records. kept is what is kept with each of them.
func (o opener) placed(top []jsonscan.Member) (found listAt, kept *around, ok bool) {
	var all []listAt
	if o.listsIn(top, nil, maxEnvelopes, &all); len(all) == maxLists {
		return listAt{}, nil, false
	}
	var candidates []listAt
	note := func(l listAt) {
		isKnown := slices.ContainsFunc(candidates, func(of listAt) bool { return of.is(l) })
		if n := countObjects(l.list); !isKnown && n >= fewRecords && (n >= manyRecords || isRich(l.list)) {
			candidates = append(candidates, l)
		}
	}
	for _, l := range all {
		if !o.namesPlaces(l.list, fewRecords) {
			continue
		}
		referred := false
		for _, other := range all {
			if !other.is(l) && o.refersTo(other, l) {
				referred = true
				note(other)
			}
		}
		if !referred {
			note(l)
		}
	}
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(l listAt) bool {
		return slices.ContainsFunc(candidates, func(other listAt) bool { return !other.is(l) && o.refersTo(other, l) })
	})
	if len(candidates) != 1 {
		return listAt{}, nil, false
	}
	kept, ok = o.keptOf(candidates[0])
	return candidates[0], kept, ok
}

func (l listAt) is(other listAt) bool { return &l.list[0] == &other.list[0] }

// refersTo reports whether the objects of a list refer to those of another one.
func (o opener) refersTo(l, other listAt) bool {
	return o.keptWith(jsonscan.Member{Value: l.list}, []jsonscan.Member{{Value: other.list}}) != nil
}

func countObjects(list []byte) (n int) {
	for element := range jsonscan.Elements(list) {
		if jsonscan.FirstByte(element) == '{' {
			n++
		}
	}
	return n
}

// keptOf returns what is kept with each record of a list: what it refers to, at all levels. It is not ok if
// anything else beside the list, or beside what it is in, would be lost.
func (o opener) keptOf(l listAt) (kept *around, ok bool) {
	var levels []*level
	for in := l.in; in != nil; in = in.outer {
		levels = append(levels, in)
	}
	for i, in := range slices.Backward(levels) {
		m, beside := in.object[in.at], in.beside()
		if i == 0 {
			m.Value = l.list
		}
		a := o.keptWith(m, beside)
		if a != nil {
			a.outer, kept = kept, a
		}
		if o.says(l.list, without(beside, func(m jsonscan.Member) bool {
			return a.keeps(m.Name) || o.hasID(record{members: []jsonscan.Member{m}})
		})) {
			return nil, false
		}
	}
	return kept, true
}

// listsIn appends the lists in an object, at any depth but within lists, up to maxLists.
func (o opener) listsIn(object []jsonscan.Member, outer *level, depth int, all *[]listAt) {
	for i, m := range object {
		if len(*all) == maxLists {
			return
		}
		in := &level{object, i, outer}
		switch jsonscan.FirstByte(m.Value) {
		case '[':
			if groups := o.byType(m); groups != nil {
				beside := slices.Concat(groups, in.beside())
				for i, of := range groups {
					*all = append(*all, listAt{of.Value, true, &level{beside, i, outer}})
				}
			} else if !jsonscan.IsEmptyArray(m.Value) {
				*all = append(*all, listAt{m.Value, false, in})
			}
		case '{':
			if list := o.listOf(m.Name, m.Value); list != nil {
				*all = append(*all, listAt{list, true, in})
			} else if depth > 1 {
				o.listsIn(jsonscan.Members(m.Value), in, depth-1, all)
			}
		}
	}
}

// typeIn returns where an object says what it is; empty if it does not.
func (o opener) typeIn(object []byte) jsontext.Pointer {
	for _, m := range jsonscan.Members(object) {
		if n := o.words.vocabulary.Read(m.Name); !n.Unknown && n.Concepts&^o.words.event == 0 && n.Concepts != 0 {
			return jsontext.Pointer("").AppendToken(m.Name)
		}
	}
	return ""
}

// byType returns the objects of a list by what they say that they are, if they are of several kinds, which
// have different members, as in a graph; else nil.
func (o opener) byType(list jsonscan.Member) (groups []jsonscan.Member) {
	var names []string
	by := map[string][]byte{}
	at := o.typeIn(jsonscan.Element(list.Value, 0))
	for element := range jsonscan.Elements(list.Value) {
		name := strings.Trim(string(jsonscan.Lookup(element, at)), `["] `)
		if at == "" || name == "" || by[name] == nil && len(names) == maxTypes {
			return nil
		}
		if by[name] == nil {
			names = append(names, name)
			by[name] = []byte{'['}
		} else {
			by[name] = append(by[name], ',')
		}
		by[name] = append(by[name], element...)
	}
	if len(names) < 2 {
		return nil
	}
	heaviest := 0
	for i, name := range names {
		groups = append(groups, jsonscan.Member{Name: name, Value: append(by[name], ']')})
		if len(by[name]) > len(groups[heaviest].Value) {
			heaviest = i
		}
	}
	first := func(i int) []jsonscan.Member { return jsonscan.Members(jsonscan.Element(groups[i].Value, 0)) }
	for i := range groups {
		if i != heaviest && isAlike(first(heaviest), first(i)) {
			return nil // records of several types
		}
	}
	return groups
}

// says reports whether members beside a list of records say more than a message says of itself, and explain
// no values: they would be lost.
func (o opener) says(list []byte, beside []jsonscan.Member) bool {
	beside = without(unboxed(list, beside), func(m jsonscan.Member) bool { return o.isLegend(list, m) })
	isList := func(m jsonscan.Member) bool { return jsonscan.FirstByte(m.Value) == '[' && holdsObjects(m.Value) }
	return slices.ContainsFunc(beside, isList) || o.firstBeside(beside, true) != "" || o.moreBeside(beside) != "" || o.statesLikely(beside)
}

const (
	maxLists     = 50  // of one payload
	maxTypes     = 10  // of the objects of one list
	fewRecords   = 3   // that are told from parts of one if they are rich
	placesLooked = 100 // elements of a list in which names of countries are looked for
	placeName    = 60  // bytes of the longest name that is one
	pair         = 2   // elements of a list that are looked at
)

// namesPlaces reports whether a list has at least so many objects, most of which name a country in the same
// column, several different ones.
func (s *splitter) namesPlaces(list []byte, fewest int) bool {
	type seen struct {
		named     int
		countries map[string]bool
	}
	columns, n := map[jsontext.Pointer]*seen{}, 0
	var look func(at jsontext.Pointer, raw []byte, depth int)
	look = func(at jsontext.Pointer, raw []byte, depth int) {
		switch jsonscan.FirstByte(raw) {
		case '{':
			for _, m := range jsonscan.Members(raw) {
				if depth > 0 && len(columns) < maxNamesRead {
					look(at.AppendToken(m.Name), m.Value, depth-1)
				}
			}
		case '[': // a list of one, or a reference with its name
			n := 0
			for element := range jsonscan.Elements(raw) {
				if n++; n > pair {
					break
				}
				look(at.AppendToken(strconv.Itoa(n)), element, depth-1)
			}
		case '"':
			if len(raw) > placeName {
				return
			}
			text, _ := quotedText(raw)
			if country := s.country(text); country != "" {
				c := columns[at]
				if c == nil {
					c = &seen{countries: map[string]bool{}}
					columns[at] = c
				}
				c.named++
				c.countries[country] = true
			}
		}
	}
	for element := range jsonscan.Elements(list) {
		if n == placesLooked {
			break
		}
		if jsonscan.FirstByte(element) == '{' {
			look("", element, maxEnvelopes)
			n++
		}
	}
	if n < fewest {
		return false
	}
	for _, c := range columns {
		if 3*c.named >= 2*n && len(c.countries) >= max(min(3, n), n/10) {
			return true
		}
	}
	return false
}

// country returns the code of the country that a text names, or is the code of; empty if it does neither.
func (s *splitter) country(text string) string {
	g, err := s.countries()
	if err != nil || text == "" {
		return ""
	}
	if code := strings.ToUpper(text); len(text) == 2 && g.Alpha3(code) != "" {
		return code
	}
	return g.Country(text)
}
