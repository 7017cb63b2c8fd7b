package receiver

import (
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

// eachByContent calls yield with the records of a payload that what is in it tells, and reports whether it
// tells them.
func (o opener) eachByContent(body []byte, yield func(record) bool) bool {
	if list, beside := tableIn(body); list != nil && o.namesPlaces(list, 2) && !o.says(list, beside) {
		o.unwrapList(list, nil, yield)
		return true
	}
	if top := jsonscan.Members(body); top != nil {
		if l, ok := o.byContent(top); ok && l.made {
			o.unwrapList(l.list, o.around(l), yield)
			return true
		} else if ok {
			o.unwrapElements(l.list, maxEnvelopes, o.around(l), yield)
			return true
		}
	}
	return false
}

// byContent finds the one list in a payload whose objects are about places: most of them name a country in
// the same column, or refer to objects that do, and not all the same one. Whatever such a list is called, it
// has the records, if nothing is lost of what stands beside it. What other objects refer to is no list of records.
func (o opener) byContent(top []jsonscan.Member) (found listAt, ok bool) {
	var all []listAt
	if o.listsIn(top, nil, maxEnvelopes, &all); len(all) == maxLists {
		return listAt{}, false
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
		return listAt{}, false
	}
	if found = candidates[0]; o.losesAnything(found) {
		return listAt{}, false
	}
	return found, true
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

// around returns what is kept with each record of a list: what it refers to, at all levels.
func (o opener) around(l listAt) (kept *around) {
	var levels []*level
	for in := l.in; in != nil; in = in.outer {
		levels = append(levels, in)
	}
	for i, in := range slices.Backward(levels) {
		m := in.object[in.at]
		if i == 0 {
			m.Value = l.list
		}
		if a := o.keptWith(m, in.beside()); a != nil {
			a.outer, kept = kept, a
		}
	}
	return kept
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

// byType returns the objects of a list by what they say that they are, if they are of several kinds, which
// have different members, as in a graph; else nil.
func (o opener) byType(list jsonscan.Member) (groups []jsonscan.Member) {
	var names []string
	by := map[string][]byte{}
	for element := range jsonscan.Elements(list.Value) {
		name := ""
		for _, m := range jsonscan.Members(element) {
			if n := o.words.vocabulary.Read(m.Name); !n.Unknown && n.Concepts&^o.words.event == 0 && n.Concepts != 0 {
				name = strings.Trim(string(m.Value), `["] `)
				break
			}
		}
		if name == "" || by[name] == nil && len(names) == maxTypes {
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

// losesAnything reports whether anything beside a list of records, or beside what it is in, would be lost with
// what it is in: it is more than what a message says of itself, explains no values, and is not kept with the
// records that refer to it.
func (o opener) losesAnything(l listAt) bool {
	kept := o.around(l)
	for in := l.in; in != nil; in = in.outer {
		beside := without(in.beside(), func(m jsonscan.Member) bool {
			isKept := false
			for a := kept; a != nil; a = a.outer {
				isKept = isKept || a.name == in.object[in.at].Name && a.keeps(m.Name)
			}
			return isKept || o.hasID(record{members: []jsonscan.Member{m}})
		})
		if o.says(l.list, beside) {
			return true
		}
	}
	return false
}

// says reports whether members beside a list of records say more than a message says of itself, and explain
// no values.
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
		if jsonscan.FirstByte(element) != '{' {
			continue
		}
		if n++; n > placesLooked {
			n--
			break
		}
		look("", element, maxEnvelopes)
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
