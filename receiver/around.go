package receiver

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/receiver/jsonscan"
)

// around is what stands beside records in their envelope and says more of them: objects that they
// refer to by id, as in `included` of JSON:API, and small tables for their values. Each record is
// kept with what it refers to, in the form of the envelope of a PUT.
type around struct {
	name    string // of the member with the records
	lists   []relatedList
	objects map[string][]*related // by id
	outer   *around               // of the envelope around this one
}

// relatedList is a list of objects, or a table, beside the records.
type relatedList struct {
	path    []string // one name or two, as in includes and Entry
	raw     []byte
	objects int
	whole   bool // it is kept as it is, if anything of it is referred to
	like    bool // as the records; such a list is related only if they refer to all of it
	kept    bool
	keyed   bool // a table
}

// related is an object that records refer to.
type related struct {
	raw      []byte
	key      string // in a table
	kind     string // what it is, where it says so: two kinds may use the same ids
	list, at int
}

const (
	maxTable = 8 << 10 // bytes of a table that is kept with each record
	maxHops  = 3       // from a record over related objects to further ones
)

// keeps reports whether a member of the envelope is kept with the records.
func (a *around) keeps(name string) bool {
	return a != nil && slices.ContainsFunc(a.lists, func(l relatedList) bool { return l.kept && l.path[0] == name })
}

// keptWith returns what of the members beside the records is kept with them; nil if nothing is. The
// objects of a list are related if the records refer to most of them and they are unlike records:
// of two lists of the same shape beside each other, neither belongs to the other.
func (o opener) keptWith(records jsonscan.Member, beside []jsonscan.Member) *around {
	a := &around{name: records.Name, objects: map[string][]*related{}}
	for _, m := range beside {
		o.add(a, records.Value, m)
	}
	if len(a.lists) == 0 {
		return nil
	}
	hit := map[*related]bool{}
	if jsonscan.FirstByte(records.Value) == '{' {
		a.follow(records.Value, hit, maxHops)
	}
	for element := range jsonscan.Elements(records.Value) {
		a.follow(element, hit, maxHops)
	}
	referred := map[string]int{} // by the member of the envelope
	byList := make([]int, len(a.lists))
	for r := range hit {
		referred[a.lists[r.list].path[0]]++
		byList[r.list]++
	}
	all, small, doubt := map[string]int{}, map[string]bool{}, map[string]bool{}
	for i, l := range a.lists {
		doubt[l.path[0]] = doubt[l.path[0]] || l.like && byList[i] < l.objects
		all[l.path[0]] += l.objects
		small[l.path[0]] = small[l.path[0]] || l.whole
	}
	kept := false
	for i := range a.lists {
		l := &a.lists[i]
		name := l.path[0]
		// All lists of a member are kept, or none: what is left of it would be lost.
		l.kept = referred[name] > 0 && !doubt[name] && (o.put || small[name] || referred[name]*2 >= all[name])
		l.whole = l.whole || o.put
		kept = kept || l.kept
	}
	if !kept {
		return nil
	}
	return a
}

// add notes the lists and tables in a member beside the records.
func (o opener) add(a *around, records []byte, m jsonscan.Member) {
	switch jsonscan.FirstByte(m.Value) {
	case '[':
		o.addList(a, records, []string{m.Name}, m.Value)
	case '{':
		o.addTable(a, records, []string{m.Name}, m.Value)
		for _, in := range jsonscan.Members(m.Value) {
			switch path := []string{m.Name, in.Name}; jsonscan.FirstByte(in.Value) {
			case '[':
				o.addList(a, records, path, in.Value)
			case '{':
				o.addTable(a, records, path, in.Value)
			}
		}
	}
}

// addList notes the objects of a list beside the records, unless it may be more records.
func (o opener) addList(a *around, records []byte, path []string, list []byte) {
	like := o.isLike(records, list)
	if !holdsObjects(list) || like && len(path) == 1 || slices.ContainsFunc(path, o.words.isOfTime) {
		return
	}
	named, typed, n := map[string][]*related{}, false, 0
	for element := range jsonscan.Elements(list) {
		id, kind := o.nameOf(element)
		if id == "" || n == maxRecords {
			return
		}
		named[id] = append(named[id], &related{raw: element, kind: kind, list: len(a.lists), at: n})
		typed = typed || kind != ""
		n++
	}
	a.note(named, relatedList{path: path, raw: list, objects: n, whole: !typed && len(list) <= maxTable, like: like})
}

// addTable notes an object whose members are what the values of the records mean, by the value: labels, or
// objects unlike the records.
func (o opener) addTable(a *around, records []byte, path []string, table []byte) {
	members := jsonscan.Members(table)
	labels := !slices.ContainsFunc(members, func(m jsonscan.Member) bool { return jsonscan.FirstByte(m.Value) != '"' })
	whole := len(table) <= maxTable
	if labels && !whole || len(members) == 0 || labels && len(members) < 2 {
		return
	}
	if !labels {
		objects := keyedIn(table, "")
		if objects == nil || o.isLike(records, objects[0].object) || slices.ContainsFunc(path, o.words.isOfTime) {
			return
		}
	}
	named := map[string][]*related{}
	for i, m := range members {
		named[m.Name] = []*related{{raw: m.Value, key: m.Name, list: len(a.lists), at: i}}
	}
	a.note(named, relatedList{path: path, raw: table, objects: len(members), whole: whole, keyed: true})
}

func (a *around) note(named map[string][]*related, l relatedList) {
	for id, objects := range named {
		a.objects[id] = append(a.objects[id], objects...)
	}
	a.lists = append(a.lists, l)
}

// isLike reports whether two lists, or a record and a list, may both be of records: they have the
// same members, are of one kind if they say so, and of a size.
func (o opener) isLike(records, list []byte) bool {
	sizeOf := func(raw []byte) (one []byte, mean int) {
		if jsonscan.FirstByte(raw) != '[' {
			return raw, len(raw)
		}
		n := 0
		for element := range jsonscan.Elements(raw) {
			if n++; n == 1 {
				one = element
			}
		}
		return one, len(raw) / max(n, 1)
	}
	a, sizeA := sizeOf(records)
	b, sizeB := sizeOf(list)
	_, kindA := o.nameOf(a)
	_, kindB := o.nameOf(b)
	if kindA != "" && kindB != "" && kindA != kindB {
		return false
	}
	theirs := jsonscan.Members(b)
	return 2*sameNames(jsonscan.Members(a), theirs) > min(len(theirs), maxNamesRead) && sizeB*3 > sizeA
}

// nameOf returns the id by which an object may be referred to, with its kind where it states one.
func (o opener) nameOf(raw []byte) (id, kind string) {
	r := recordOf(raw)
	holder := r.members
	id, ok := first(r.members, o.ids, scalarText)
	if !ok {
		for _, l := range o.words.likely(r) {
			if l.sure {
				id, ok = l.text, true
				if parent := l.at.Parent(); parent != "" {
					holder = jsonscan.Members(jsonscan.LookupMember(r.members, parent))
				}
				break
			}
		}
	}
	if !ok {
		for _, m := range r.members {
			if id, ok = scalarText(m.Value); ok {
				break
			}
		}
	}
	for _, m := range holder {
		if text, is := quotedText(m.Value); is && text != id && strings.EqualFold(m.Name, "type") {
			return id, text
		}
	}
	return id, ""
}

// follow adds the objects to which raw refers, directly or through others.
func (a *around) follow(raw []byte, hit map[*related]bool, hops int) {
	var next []*related
	add := func(id string, beside []string) {
		for _, r := range a.objects[id] {
			if !hit[r] && (r.kind == "" || slices.Contains(beside, r.kind)) {
				hit[r] = true
				next = append(next, r)
			}
		}
	}
	var walk func(raw []byte)
	walk = func(raw []byte) {
		switch jsonscan.FirstByte(raw) {
		case '{':
			var texts []string
			for _, m := range jsonscan.Members(raw) {
				if text, ok := scalarText(m.Value); ok {
					texts = append(texts, text)
				} else {
					walk(m.Value)
				}
			}
			for _, text := range texts {
				add(text, texts)
			}
		case '[':
			for element := range jsonscan.Elements(raw) {
				if text, ok := scalarText(element); ok {
					add(text, nil)
				} else {
					walk(element)
				}
			}
		}
	}
	walk(raw)
	if hops > 1 {
		for _, r := range next {
			a.follow(r.raw, hit, hops-1)
		}
	}
}

// kept returns the record in the form in which it is kept: with what it refers to around it.
func (r record) kept() []byte {
	raw := r.raw
	for a := r.around; a != nil; a = a.outer {
		raw = a.with(raw)
	}
	return raw
}

// with returns an envelope of a record and of what it refers to, in the order of the payload.
func (a *around) with(raw []byte) []byte {
	hit := map[*related]bool{}
	a.follow(raw, hit, maxHops)
	used := slices.SortedFunc(maps.Keys(hit), func(a, b *related) int { return cmp.Or(a.list-b.list, a.at-b.at) })
	used = slices.DeleteFunc(used, func(r *related) bool { return !a.lists[r.list].kept })
	if len(used) == 0 {
		return raw
	}
	out := append(appendName([]byte{'{'}, a.name), raw...)
	within := "" // the member that is open
	for i := 0; i < len(used); {
		n := i
		for n < len(used) && used[n].list == used[i].list {
			n++
		}
		l := a.lists[used[i].list]
		if within != "" && (len(l.path) == 1 || l.path[0] != within) {
			out, within = append(out, '}'), ""
		}
		out = append(out, ',')
		if len(l.path) == 2 && within == "" {
			out, within = append(appendName(out, l.path[0]), '{'), l.path[0]
		}
		out = appendName(out, l.path[len(l.path)-1])
		if l.whole {
			out = append(out, l.raw...)
		} else {
			brackets := "[]"
			if l.keyed {
				brackets = "{}"
			}
			for j, r := range used[i:n] {
				out = append(out, [2]byte{brackets[0], ','}[min(j, 1)])
				if l.keyed {
					out = appendName(out, r.key)
				}
				out = append(out, r.raw...)
			}
			out = append(out, brackets[1])
		}
		i = n
	}
	if within != "" {
		out = append(out, '}')
	}
	return append(out, '}')
}

func appendName(out []byte, name string) []byte {
	quoted, err := jsontext.AppendQuote(out, name)
	if err != nil {
		return out // the name was read from JSON
	}
	return append(quoted, ':')
}
