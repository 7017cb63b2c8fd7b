package mappings

import (
	"slices"
	"strings"
)

// table is an object, or a list of objects with ids, that says what values elsewhere in the record mean, as
// {"levels": {"1": {"name": "Low"}}} does for "level": 1.
type table struct {
	at      *column
	entries map[string]*column // by key, folded; nil if the keys are data, or ids
	keyOf   map[tableKey]int   // else the element that each is
	keys    map[string]bool
}

type tableKey struct {
	record int
	key    string
}

const (
	mostTables = 40
	mostKeys   = 400 // of one table
)

func foldedKey(s string) string { return string(appendFolded(nil, []byte(s))) }

// tables returns the objects and lists that may be tables.
func (cs *columns) tables() (all []*table) {
	cs.top.eachColumn(func(c *column) {
		if len(all) == mostTables || c.parent == nil || c.keyed || c.depth() > 3 || len(c.cells) > 0 || c.isInAny(all) {
			return
		}
		if list := c.byName["*"]; list != nil && list.byName["id"] != nil && len(c.children) == 1 {
			if t := newTable(c, list.byName["id"]); t != nil && t.isUnique() {
				all = append(all, t)
			}
			return
		}
		if of := c.byName[members]; of != nil {
			if name := of.byName[memberName]; name != nil {
				if t := newTable(c, name); t != nil {
					all = append(all, t)
				}
			}
			return
		}
		if len(c.children) < 2 || len(c.children) > mostKeys || !c.isTable() {
			return
		}
		t := &table{at: c, entries: map[string]*column{}, keys: map[string]bool{}}
		for _, of := range c.children {
			t.entries[of.folded] = of
			t.keys[of.folded] = true
		}
		all = append(all, t)
	})
	return all
}

func (c *column) isInAny(tables []*table) bool {
	return slices.ContainsFunc(tables, func(t *table) bool { return c.isIn(t.at) })
}

// isTable reports whether the members of an object are all labels, or all objects with nothing but a few
// scalars that have the same names.
func (c *column) isTable() bool {
	most := c.merged()
	for _, of := range c.children {
		if of.lists > 0 || (of.objects > 0) != (most.objects > 0) || of.objects == 0 && !isLabels(of) || len(of.children) > 6 {
			return false
		}
		for _, in := range of.children {
			if in.scalars == 0 || most.byName[in.folded] == nil {
				return false
			}
		}
	}
	return true
}

func isLabels(c *column) bool {
	const longest = 60
	return !slices.ContainsFunc(c.cells, func(v cell) bool { return v.number || len(v.text) > longest })
}

func newTable(at, key *column) *table {
	t := &table{at: at, keyOf: map[tableKey]int{}, keys: map[string]bool{}}
	for _, v := range key.cells {
		k := foldedKey(v.text)
		t.keyOf[tableKey{v.record, k}] = v.element
		t.keys[k] = true
	}
	if len(t.keys) < 2 {
		return nil
	}
	return t
}

// isUnique reports whether hardly any record has an id in a list twice.
func (t *table) isUnique() bool {
	return nearlyAll(len(t.keyOf), len(t.at.byName["*"].byName["id"].cells))
}

// has returns how many of a column's values are keys of the table, in the record if its keys are data.
func (t *table) has(c *column) int {
	n := 0
	for _, v := range c.cells {
		k := foldedKey(v.text)
		if t.entries != nil && t.entries[k] != nil {
			n++
		} else if _, ok := t.keyOf[tableKey{v.record, k}]; ok {
			n++
		}
	}
	return n
}

// lookUp adds columns for what the values of others mean, by tables. A table is for the columns of its name,
// or else for those nearly all of whose values it has.
func (cs *columns) lookUp() {
	tables := cs.tables()
	if len(tables) == 0 {
		return
	}
	called := func(c *column) string {
		for c.name == "*" && c.parent != nil {
			c = c.parent
		}
		return c.folded
	}
	var values []*column
	cs.top.eachColumn(func(c *column) {
		if len(c.cells) == 0 || len(c.children) > 0 || c.isInAny(tables) {
			return
		}
		values = append(values, c)
	})
	slices.SortStableFunc(values, byPointer)
	of, taken := map[*column]*table{}, map[*table]bool{}
	for _, c := range values {
		for _, t := range tables {
			if called(c) == t.at.folded && 10*t.has(c) >= 9*len(c.cells) {
				of[c], taken[t] = t, true
				break
			}
		}
	}
	for _, t := range tables {
		if taken[t] {
			continue
		}
		var best *column // that has most of its keys, and nothing else
		for _, c := range values {
			if of[c] != nil || cs.look(c).distinct < 2 || c.of.length > 60 || !nearlyAll(t.has(c), len(c.cells)) || 3*c.of.distinct < len(t.keys) {
				continue
			}
			if best == nil || c.of.distinct > best.of.distinct {
				best = c
			}
		}
		if best != nil {
			of[best], taken[t] = t, true
		}
	}
	count := 0
	for _, c := range values {
		if t := of[c]; t != nil {
			cs.addLookedUp(c, t, &count)
		}
	}
	cs.top.eachColumn(func(c *column) { // objects whose members are called by the keys
		if len(c.children) < 3 || c.children[0].scalars == 0 || c.isInAny(tables) {
			return
		}
		var best *table
		for _, t := range tables {
			known := 0
			for _, of := range c.children {
				if t.entries != nil && t.entries[of.folded] != nil {
					known++
				}
			}
			if known == len(c.children) && (best == nil || len(t.keys) < len(best.keys)) {
				best = t
			}
		}
		if best == nil {
			return
		}
		taken[best] = true
		for _, of := range c.children {
			of.called = labelOf(best.entries[of.folded])
		}
	})
	for t := range taken {
		t.at.table = true
	}
}

// labelOf returns the text that an entry of a table has, or "".
func labelOf(entry *column) string {
	for _, of := range append([]*column{entry}, entry.children...) {
		for _, v := range of.cells {
			if !v.number && isASCII(v.text) && len(v.text) > 2 {
				return v.text
			}
		}
	}
	return ""
}

// addLookedUp adds the columns of what the values of c mean by a table.
func (cs *columns) addLookedUp(c *column, t *table, count *int) {
	token := "{" + string(t.at.pointer()) + "}"
	byElement := map[*column]map[int][]cell{}
	var add func(to, from *column, v cell, element int)
	add = func(to, from *column, v cell, element int) {
		if to == nil {
			return
		}
		if element == 0 {
			for _, entry := range from.cellsOf(v.record) {
				to.note(cell{v.record, v.element, entry.text, entry.number})
			}
		} else {
			in := byElement[from]
			if in == nil {
				in = map[int][]cell{}
				for _, entry := range from.cells {
					in[entry.element] = append(in[entry.element], entry)
				}
				byElement[from] = in
			}
			for _, entry := range in[element] {
				to.note(cell{v.record, v.element, entry.text, entry.number})
			}
		}
		for _, of := range from.children {
			if of.name != memberName && !strings.HasPrefix(of.name, "[") {
				add(to.child(of.name, of.folded, count), of, v, element)
			}
		}
	}
	to := c.child(token, token, count)
	for _, v := range c.cells {
		k := foldedKey(v.text)
		if from := t.entries[k]; from != nil {
			add(to, from, v, 0)
		} else if element, ok := t.keyOf[tableKey{v.record, k}]; ok {
			from := t.at.byName["*"]
			if from == nil {
				from = t.at.byName[members]
			}
			add(to, from, v, element)
		}
	}
}

// hideTables leaves the tables of a record out of its text: they have what other records are about as well.
func (x *extractor) hideTables() {
	var hide func(at uint32)
	hide = func(at uint32) {
		if x.tree.nodes[at].added { // it shows another node
			return
		}
		x.tree.nodes[at].used = true
		for of := x.tree.nodes[at].first; of != none; of = x.tree.nodes[of].next {
			hide(of)
		}
	}
	for _, table := range x.mapping.tables {
		for _, at := range x.tree.find(nil, 0, table) {
			if at != 0 {
				hide(at)
			}
		}
	}
}

// cellsOf returns the values that a record has.
func (c *column) cellsOf(record int) []cell {
	i, _ := slices.BinarySearchFunc(c.cells, record, func(v cell, record int) int { return v.record - record })
	n := i
	for n < len(c.cells) && c.cells[n].record == record {
		n++
	}
	return c.cells[i:n]
}
