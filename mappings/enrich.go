package mappings

import (
	"bytes"
	"strconv"
)

// enrich adds to a record what its shape hides; see tree.enrich. Patterns then pass through objects with
// one value by language.
func (x *extractor) enrich() {
	x.tree.enrich()
	x.tree.inner = func(at uint32) uint32 {
		if x.tree.nodes[at].kind == '{' && (x.isLocalized(at) || x.isTranslated(at)) {
			return x.inEnglish(at)
		}
		return at
	}
}

// enrich adds to a record what its shape hides: lists that are written as numbered members, and related
// objects where they are referred to. What it adds is marked, and no text.
func (t *tree) enrich() {
	last := uint32(len(t.nodes))
	boxed := t.isBoxed(0)
	for at := t.nodes[0].first; at != none && !boxed; at = t.nodes[at].next {
		boxed = t.isBoxed(at)
	}
	if boxed {
		for at := range last {
			if t.isBoxed(at) {
				t.unbox(at)
			}
		}
	}
	for at := range last {
		if t.nodes[at].kind == '{' {
			t.number(at)
		}
	}
	t.relate(last)
}

// isBoxed reports whether every value of an object is a list, as programs write it that know nothing else:
// {"title": ["Flood"], "level": [3]}.
func (t *tree) isBoxed(object uint32) bool {
	const fewest = 3
	if t.nodes[object].kind != '{' {
		return false
	}
	ones := 0
	for at := t.nodes[object].first; at != none; at = t.nodes[at].next {
		switch t.nodes[at].kind {
		case '[':
			if t.boxed(at) != none {
				ones++
			}
		case '{':
		default:
			return false
		}
	}
	return ones >= fewest
}

// boxed returns the value in a list of one value, or none.
func (t *tree) boxed(at uint32) uint32 {
	first := t.nodes[at].first
	if t.nodes[at].kind != '[' || first == none || t.nodes[first].next != none || t.nodes[first].kind == '{' || t.nodes[first].kind == '[' {
		return none
	}
	return first
}

// unbox takes the values of an object out of their lists.
func (t *tree) unbox(object uint32) {
	for at := t.nodes[object].first; at != none; at = t.nodes[at].next {
		if of := t.boxed(at); of != none {
			n, value := &t.nodes[at], &t.nodes[of]
			n.kind, n.rawAt, n.rawLen, n.first = value.kind, value.rawAt, value.rawLen, none
			value.kind = 'n'
		}
	}
}

// copyOf appends a node that shows what another one does, as the next child of parent.
func (t *tree) copyOf(at, parent, after uint32, nameAt, nameLen uint32) uint32 {
	n := t.nodes[at]
	n.parent, n.next, n.nameAt, n.nameLen, n.element, n.added = parent, none, nameAt, nameLen, false, true
	return t.link(n, parent, after)
}

// link appends a node as a child of parent, after another child or as the first.
func (t *tree) link(n node, parent, after uint32) uint32 {
	if len(t.nodes) >= maxNodes {
		return none
	}
	at := uint32(len(t.nodes))
	t.nodes = append(t.nodes, n)
	if after == none {
		t.nodes[parent].first = at
	} else {
		t.nodes[after].next = at
	}
	return at
}

func (t *tree) lastChild(of uint32) uint32 {
	last := uint32(none)
	for at := t.nodes[of].first; at != none; at = t.nodes[at].next {
		last = at
	}
	return last
}

// numberedName splits a name such as ort12name at its first number. A name that is one, or ends with a
// long one, is no numbered name.
func numberedName(name []byte) (head []byte, number int, tail []byte, ok bool) {
	start := bytes.IndexAny(name, "0123456789")
	if start <= 0 {
		return nil, 0, nil, false
	}
	end := start
	for end < len(name) && name[end] >= '0' && name[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(string(name[start:end]))
	if err != nil || n > 99 {
		return nil, 0, nil, false
	}
	return name[:start], n, name[end:], true
}

// number adds a list head# for members such as head1 and head2, or head1name and head2name: of objects
// with the rest of the names, or of the values themselves.
func (t *tree) number(object uint32) {
	type family struct {
		head    string
		numbers []int
	}
	var families []family
	for at := t.nodes[object].first; at != none; at = t.nodes[at].next {
		head, n, _, ok := numberedName(t.named(at))
		if !ok {
			continue
		}
		i := 0
		for i < len(families) && families[i].head != string(head) {
			i++
		}
		if i == len(families) {
			families = append(families, family{head: string(head)})
		}
		if all := families[i].numbers; len(all) == 0 || all[len(all)-1] != n {
			families[i].numbers = append(all, n)
		}
	}
	for _, f := range families {
		if len(f.numbers) < 2 || f.numbers[0] > 1 {
			continue
		}
		nameAt := uint32(len(t.names))
		t.names = append(append(t.names, f.head...), '#')
		list := t.link(node{kind: '[', parent: object, nameAt: nameAt, nameLen: uint32(len(f.head)) + 1, added: true}, object, t.lastChild(object))
		if list == none {
			return
		}
		element, after, number, inner := uint32(none), uint32(none), -1, uint32(none)
		for at := t.nodes[object].first; at != list; at = t.nodes[at].next {
			head, n, tail, ok := numberedName(t.named(at))
			if !ok || string(head) != f.head {
				continue
			}
			if len(tail) == 0 {
				if after = t.copyOf(at, list, after, nameAt, nameLen(f.head)); after == none {
					return
				}
				t.nodes[after].element = true
				continue
			}
			if n != number {
				number, inner = n, none
				if element = t.link(node{kind: '{', parent: list, nameAt: nameAt, nameLen: nameLen(f.head), element: true, added: true}, list, after); element == none {
					return
				}
				after = element
			}
			tailAt := t.nodes[at].nameAt + t.nodes[at].nameLen - uint32(len(tail))
			if inner = t.copyOf(at, element, inner, tailAt, uint32(len(tail))); inner == none {
				return
			}
		}
	}
}

func nameLen(head string) uint32 { return uint32(len(head)) + 1 }

// relate gives an object that only refers to another one of the record the members of that. It refers to
// it if it has nothing but a few scalars, perhaps in an object of its own, one of which is called id and
// identifies an object of a list.
func (t *tree) relate(last uint32) {
	type key struct{ suffix, id string }
	targets := map[key][]uint32{}
	id := func(at uint32) (key, uint32) {
		if of := t.member(at, "id"); of != none && t.scalarText(of) != "" {
			return key{"id", t.scalarText(of)}, of
		}
		if sys := t.member(at, "sys"); sys != none {
			if of := t.member(sys, "id"); of != none && t.scalarText(of) != "" {
				return key{"sys", t.scalarText(of)}, of
			}
		}
		return key{}, none
	}
	var references []uint32
	for at := range last {
		n := &t.nodes[at]
		if n.kind != '{' || at == 0 {
			continue
		}
		k, of := id(at)
		if of == none {
			continue
		}
		if t.isReference(at) {
			references = append(references, at)
		} else if n.element {
			targets[k] = append(targets[k], at)
		}
	}
	for _, at := range references {
		k, _ := id(at)
		kind := t.kindOf(at)
		to := uint32(none)
		for _, target := range targets[k] {
			if other := t.kindOf(target); kind == other || kind == "" || other == "" {
				to = target
				break
			}
		}
		if to == none {
			continue
		}
		t.nodes[to].shown = true
		after := t.lastChild(at)
		for of := t.nodes[to].first; of != none; of = t.nodes[of].next {
			if t.nodes[of].added {
				continue
			}
			if after = t.copyOf(of, at, after, t.nodes[of].nameAt, t.nodes[of].nameLen); after == none {
				return
			}
		}
	}
}

// isReference reports whether an object has nothing but up to three scalars, or one object that does.
func (t *tree) isReference(at uint32) bool {
	n := 0
	for of := t.nodes[at].first; of != none; of = t.nodes[of].next {
		switch t.nodes[of].kind {
		case '[':
			return false
		case '{':
			if string(t.named(of)) != "sys" || !t.isReference(of) || t.nodes[of].next != none || n > 0 {
				return false
			}
		}
		n++
	}
	return n <= 3
}

// kindOf returns the type that an object states for itself, or "".
func (t *tree) kindOf(at uint32) string {
	if of := t.member(at, "type"); of != none {
		return t.scalarText(of)
	}
	return ""
}

// scalarText returns a string or a number as text, or "".
func (t *tree) scalarText(at uint32) string {
	switch t.nodes[at].kind {
	case '"':
		return string(bytes.TrimSpace(t.text(at)))
	case '0':
		return string(t.raw(at))
	}
	return ""
}
