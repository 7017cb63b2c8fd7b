package mappings

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/mappings/plaintext"
)

// column is a place in the records of a kind, and what they have there. Its pointer has `*` for every
// element of a list, and for every member of an object whose names are data, such as codes; and
// [label=Country] for those elements of a list whose member label is Country.
type column struct {
	name     string // as the records have it; "*" and the like
	folded   string
	parent   *column
	children []*column // in the order in which they were met
	byName   map[string]*column

	objects, lists, scalars int // how many values are one
	pairs                   int // lists of two numbers, or three
	shown                   int // how many values are read where they are referred to
	cells                   []cell
	records                 int    // in how many it is, and not empty
	before                  int    // how many values of its record stand before it, in thousandths of all
	last                    int    // the record that was read last
	keyed                   bool   // it is one entry of a list of labels with values
	table                   bool   // it says what values elsewhere mean
	called                  string // what a table says that its name means
	of                      values

	// What was found of it already; see inference.threatAt, sharedWords and usual.
	askedThreat bool
	threat      int
	threatAt    *column
	shared      map[string]bool
	usually     map[string]int
	most        string
}

// cell is one value of a column.
type cell struct {
	record  int
	element int // the innermost element of a list that it is in; 0 if it is in none
	text    string
	number  bool
}

// columns are those of a sample of records.
type columns struct {
	top      *column
	records  int
	elements []int // of lists, and members of objects whose names are data: what each is in; the first stands for none
	x        *extractor
	visits   int             // of the record that is read
	counts   bool            // of what is read, only how much there is; no values are kept
	sizes    map[*column]int // how many values are in each; nil until they are counted
}

const (
	maxColumns  = 2_000 // of one kind; what is beyond them is not read
	maxCell     = 600   // bytes of a value that are looked at
	maxElements = 60    // of one list that are looked at
	maxColDepth = 12
	maxVisits   = 100_000 // of one record, whose objects may refer to one another in circles
)

// newColumns reads the columns of records. Those that are no JSON are left out.
func newColumns(x *extractor, m *kindMapping, records [][]byte) *columns {
	cs := &columns{x: x}
	x.mapping = m
	// Whatever depends on an order depends on this one, and neighbours have nothing in common.
	var order []sampled
	for _, record := range records {
		order = append(order, sampled{fnv1a(record), record})
	}
	slices.SortFunc(order, func(a, b sampled) int { return cmp.Or(cmp.Compare(a.hash, b.hash), bytes.Compare(a.body, b.body)) })
	names := &column{byName: map[string]*column{}} // to see which objects have data for names
	count := 0
	for _, cs.counts = range []bool{true, false} {
		cs.top, cs.elements, cs.records = &column{byName: map[string]*column{}}, make([]int, 1), 0
		count = 0
		for _, of := range order {
			if x.tree.parse(of.body) != nil || x.tree.nodes[0].kind != '{' {
				continue
			}
			x.enrich()
			cs.records++
			cs.visits = 0
			cs.walk(0, cs.top, names, 0, 0, &count)
		}
		names = cs.top
	}
	cs.top.eachColumn(func(c *column) {
		c.dropStrays()
		c.children = slices.DeleteFunc(c.children, func(of *column) bool {
			return of.shown > 0 && nearlyAll(of.shown, of.shown+of.objects) // the rest is what hardly anything refers to
		})
	})
	cs.lookUp()
	cs.top.eachColumn(func(c *column) {
		if label := c.label(); label != nil {
			cs.byLabel(c, label)
		}
	})
	cs.top.eachColumn(func(c *column) {
		if c.keyed {
			c.dropStrays()
		}
	})
	return cs
}

// hasDataForNames reports whether the names of an object's members are data: few records have each of
// them, and there are many.
func (c *column) hasDataForNames() bool {
	const fewest = 12
	if c == nil || c.parent == nil || c.objects < 3 || len(c.children) < fewest {
		return false
	}
	all := 0
	for _, of := range c.children {
		all += of.objects + of.lists + of.scalars
	}
	return 4*all < c.objects*len(c.children) // a record has less than a quarter of the names
}

func (c *column) child(name, folded string, count *int) *column {
	if of := c.byName[folded]; of != nil {
		return of
	}
	if *count++; *count > maxColumns {
		return nil
	}
	of := &column{name: name, folded: folded, parent: c, byName: map[string]*column{}, last: -1}
	c.byName[folded] = of
	c.children = append(c.children, of)
	return of
}

// walk reads the value at a node. before is the column of an earlier pass, or nil.
func (cs *columns) walk(at uint32, c, before *column, inside, depth int, count *int) {
	x := cs.x
	n := &x.tree.nodes[at]
	if cs.visits++; c == nil || depth > maxColDepth || cs.visits > maxVisits || x.tree.empty(at) {
		return
	}
	if n.shown {
		c.shown++
		return
	}
	if n.kind == '{' && at != 0 && x.isLocalized(at) {
		if of := x.inEnglish(at); of != at {
			cs.walk(of, c, before, inside, depth+1, count)
			return
		}
	}
	if r := cs.records; c.last != r {
		c.last = r
		c.records++
		c.before += 1000 * int(at) / len(x.tree.nodes)
	}
	if n.kind != '[' && before.isList() { // of one, written without brackets
		c.lists++
		cs.walk(at, c.child("*", "*", count), before.at("*"), cs.enter(inside), depth+1, count)
		return
	}
	switch n.kind {
	case '{':
		c.objects++
		data := before.hasDataForNames()
		for of := n.first; of != none; of = x.tree.nodes[of].next {
			if data {
				next, to, within := before.merged(), c.child(members, members, count), cs.enter(inside)
				cs.walk(of, to, next, within, depth+1, count)
				if to != nil && !x.tree.nodes[of].added && !x.tree.empty(of) {
					to.child(memberName, memberName, count).note(cell{cs.records - 1, within, string(x.tree.quotedName(of)), false})
				}
				continue
			}
			folded := string(x.tree.named(of))
			if name := string(x.tree.quotedName(of)); !isStep(name) {
				cs.walk(of, c.child(name, folded, count), before.at(folded), inside, depth+1, count)
			}
		}
	case '[':
		c.lists++
		if cs.isPosition(at) {
			c.pairs++
			if strings.Contains(cs.numbers(at), ".") || before != nil && nearlyAll(before.pairs, before.lists) {
				c.cells = append(c.cells, cell{cs.records - 1, inside, cs.numbers(at), false})
				return
			}
		}
		i := 0
		for of := n.first; of != none && i < maxElements; of = x.tree.nodes[of].next {
			cs.walk(of, c.child("*", "*", count), before.at("*"), cs.enter(inside), depth+1, count)
			i++
		}
	case '"':
		if c.scalars++; cs.counts {
			return
		}
		text := x.tree.text(at)
		if len(text) > maxCell {
			text = text[:maxCell]
		}
		if bytes.ContainsAny(text, "<&") {
			text = plaintext.AppendLine(nil, text)
		}
		c.cells = append(c.cells, cell{cs.records - 1, inside, strings.ToValidUTF8(string(bytes.TrimSpace(text)), ""), false})
	case '0':
		if c.scalars++; !cs.counts {
			c.cells = append(c.cells, cell{cs.records - 1, inside, string(x.tree.raw(at)), true})
		}
	}
}

// note adds a value to a column that no node of the record has.
func (c *column) note(v cell) {
	if c == nil {
		return
	}
	c.scalars++
	c.cells = append(c.cells, v)
	if c.last != v.record {
		c.last = v.record
		c.records++
	}
}

// isList reports whether some records have a list there.
func (c *column) isList() bool { return c != nil && c.lists > 0 && c.byName["*"] != nil }

func (c *column) at(folded string) *column {
	if c == nil {
		return nil
	}
	return c.byName[folded]
}

// merged returns what the members of an object have together, whose names are data.
func (c *column) merged() *column {
	if c == nil {
		return nil
	}
	var all *column
	for _, of := range c.children {
		if all == nil || len(of.children) > len(all.children) {
			all = of
		}
	}
	return all
}

func (cs *columns) enter(inside int) int {
	cs.elements = append(cs.elements, inside)
	return len(cs.elements) - 1
}

// isPosition reports whether a list has two numbers, or three.
func (cs *columns) isPosition(at uint32) bool {
	n := 0
	for of := cs.x.tree.nodes[at].first; of != none; of = cs.x.tree.nodes[of].next {
		if cs.x.tree.nodes[of].kind != '0' {
			return false
		}
		n++
	}
	return n == 2 || n == 3
}

func (cs *columns) numbers(at uint32) string {
	first := cs.x.tree.nodes[at].first
	return string(cs.x.tree.raw(first)) + "," + string(cs.x.tree.raw(cs.x.tree.nodes[first].next))
}

// eachColumn calls f for c and all columns within it.
func (c *column) eachColumn(f func(*column)) {
	f(c)
	for _, of := range slices.Clone(c.children) {
		of.eachColumn(f)
	}
}

// pointer returns the pattern that leads to a column.
func (c *column) pointer() jsontext.Pointer {
	if c.parent == nil {
		return ""
	}
	return c.parent.pointer().AppendToken(c.name)
}

// within returns the pattern that leads from an outer column to c.
func (c *column) within(outer *column) jsontext.Pointer {
	return c.pointer()[len(outer.pointer()):]
}

// patternOf is parsePattern for the pointer of a column, which is one.
func patternOf(p jsontext.Pointer) pattern {
	parsed, err := parsePattern(p)
	if err != nil {
		panic(err)
	}
	return parsed
}

func (c *column) pattern() pattern { return patternOf(c.pointer()) }

// isIn reports whether c is outer, or within it.
func (c *column) isIn(outer *column) bool {
	for ; c != nil; c = c.parent {
		if c == outer {
			return true
		}
	}
	return false
}

// isPlain reports whether a record has at most one value there.
func (c *column) isPlain() bool {
	return len(c.cells) <= c.records+c.records/20
}

// entry returns the elements of the innermost list that a column is in, or nil.
func (c *column) entry() *column {
	for ; c != nil && c.name != "*"; c = c.parent {
		if c.keyed {
			return nil
		}
	}
	return c
}

// translations returns the columns beside one that seem to be the same in other languages: those of an object
// that has nothing but texts, as {"e": …, "j": …} has.
func (c *column) translations() (all []*column) {
	for _, of := range c.parent.children {
		if of.scalars == 0 && of.lists == 0 || of.objects > 0 {
			return nil
		}
		if of != c && of.lists == 0 {
			if slices.ContainsFunc(of.cells, func(v cell) bool { return v.number }) {
				return nil
			}
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, byPointer)
	return all
}

// isOfTable reports whether a column is of a table, which is read by the values that it is for.
func (c *column) isOfTable() bool {
	for ; c != nil; c = c.parent {
		if c.table {
			return true
		}
	}
	return false
}

// isOfSeveral reports whether a column is of the elements of a list, or the members of an object whose names
// are data.
func (c *column) isOfSeveral() bool {
	for ; c.parent != nil; c = c.parent {
		if c.name == "*" || c.name == members {
			return true
		}
	}
	return false
}

// isNumbered reports whether a column is also an entry of a list that is written as numbered members.
func (c *column) isNumbered() bool {
	for ; c.parent != nil; c = c.parent {
		if head, _, _, ok := numberedName([]byte(c.folded)); ok && c.parent.byName[string(head)+"#"] != nil {
			return true
		}
	}
	return false
}

// label returns the column of the labels in a list of labels with values, whose elements have a text that
// says what each is, few of which there are; or nil.
func (c *column) label() *column {
	list := c.byName["*"]
	if list == nil || 5*list.objects < 6*c.lists || c.lists < 3 {
		return nil // one entry says nothing of what tells them apart
	}
	const longest, most = 60, 80
	var best *column
	fewest := 0
	for _, of := range list.children {
		if !nearlyAll(len(of.cells), max(of.scalars, list.objects)) || len(of.children) > 0 || len(list.children) < 2 {
			continue
		}
		type once struct {
			record int
			text   string
		}
		seen, here, again := map[string]int{}, map[once]bool{}, 0
		text := true
		for _, v := range of.cells {
			if text = !v.number && len(v.text) <= longest && strings.ContainsFunc(v.text, unicode.IsLetter); !text {
				break
			}
			seen[v.text]++
			if at := (once{v.record, v.text}); here[at] {
				again++
			} else {
				here[at] = true
			}
		}
		for label, n := range seen {
			if isStray(n, len(of.cells)) {
				delete(seen, label)
			}
		}
		// each label is in a fifth of the lists, on average
		if text && len(seen) >= 2 && len(seen) <= most && 5*len(of.cells) >= len(seen)*c.lists && (best == nil || again < fewest) {
			best, fewest = of, again // it tells the entries of a list apart
		}
	}
	return best
}

// byLabel adds columns for the entries of a list of labels with values.
func (cs *columns) byLabel(c, label *column) {
	list := c.byName["*"]
	labels, times := map[int]string{}, map[string]int{}
	for _, v := range label.cells {
		times[v.text]++
	}
	for _, v := range label.cells {
		if !isStray(times[v.text], len(label.cells)) {
			labels[v.element] = v.text
		}
	}
	entry := func(inside int) (string, int, bool) {
		for inside != 0 {
			if text, ok := labels[inside]; ok {
				return text, cs.elements[inside], true
			}
			inside = cs.elements[inside]
		}
		return "", 0, false
	}
	count := 0
	var add func(from *column, path []string)
	add = func(from *column, path []string) {
		for _, v := range from.cells {
			text, outer, ok := entry(v.element)
			if !ok {
				continue
			}
			token := "[" + label.name + "=" + text + "]"
			to := c.child(token, token, &count)
			if to == nil {
				return
			}
			to.keyed = true
			for _, name := range path {
				to = to.child(name, string(appendFolded(nil, []byte(name))), &count)
				if to == nil {
					return
				}
				to.keyed = true
			}
			if v.element == 0 || len(path) > 0 && !slices.Contains(path, "*") {
				v.element = outer
			}
			to.note(v)
		}
		for _, of := range from.children {
			if of != label && !of.keyed {
				add(of, append(slices.Clip(path), of.name))
			}
		}
	}
	for _, of := range list.children {
		if of != label && !of.isOrdinal() {
			add(of, []string{of.name})
		}
	}
}

// isOrdinal reports whether a column counts the elements of lists: numbers of which no list has one twice.
func (c *column) isOrdinal() bool {
	seen, lists := map[[2]int]bool{}, map[int]int{}
	for _, v := range c.cells {
		n, err := strconv.Atoi(v.text)
		if err != nil || seen[[2]int{v.record, n}] {
			return false
		}
		seen[[2]int{v.record, n}] = true
		lists[v.record]++
	}
	return len(c.cells) > 0 && len(c.cells) >= 3*len(lists)
}

// share returns the share of the records that have a column.
func (cs *columns) share(c *column) float64 { return shareOf(c.records, cs.records) }

// depth returns how many names lead to a column.
func (c *column) depth() (n int) {
	for ; c.parent != nil; c = c.parent {
		n++
	}
	return n
}

// byPointer sorts columns by where they are, so that the same records give the same mapping.
func byPointer(a, b *column) int {
	return cmp.Or(a.depth()-b.depth(), strings.Compare(string(a.pointer()), string(b.pointer())))
}
