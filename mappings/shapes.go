package mappings

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// shape is what records of one publisher have in common: the names of their members. A kind may have records
// of several publishers, and a publisher may change its export, so each shape is read in its own way.
type shape struct {
	records int            // that names were counted in
	names   map[string]int // of members, as pointers, and how many of these records have them; nil if every record is of this shape
	told    *kindMapping   // what the values told; nil if they told nothing
	used    *kindMapping   // told over what the mapping files state

	usual []uint64 // hashes of names that most of the records have, sorted
	firm  []uint64 // and that nearly all of them have
	known []uint64 // and of all names

	sample sample // of its records
	tried  int    // how many records it was last inferred from
}

const (
	maxShapes  = 8  // of a kind; further ones are read as if nothing were told
	mature     = 50 // records after which a name that nearly all have is missed
	namesDepth = 3  // members within members whose names tell a shape
	maxNamed   = 500

	namedElements = 5 // of a list whose names tell a shape
)

// setNames counts the names of the members of records.
func (s *shape) setNames(all [][]string) {
	s.records, s.names = len(all), map[string]int{}
	for _, names := range all {
		for _, name := range names {
			s.names[name]++
		}
	}
	if len(s.names) > maxNamed { // data stands for names; the most frequent ones tell the shape
		byCount := slices.SortedFunc(maps.Keys(s.names), func(a, b string) int {
			return cmp.Or(s.names[b]-s.names[a], strings.Compare(a, b))
		})
		for _, name := range byCount[maxNamed:] {
			delete(s.names, name)
		}
	}
	s.index()
}

func (s *shape) index() {
	s.usual, s.firm, s.known = nil, nil, nil
	for name, n := range s.names {
		h := fnv1a(name)
		s.known = append(s.known, h)
		if 2*n >= s.records {
			s.usual = append(s.usual, h)
		}
		if 20*n >= 19*s.records {
			s.firm = append(s.firm, h)
		}
	}
	slices.Sort(s.usual)
	slices.Sort(s.firm)
	slices.Sort(s.known)
}

// likeness returns how much a record with these names, sorted, is of the shape: 0 if it has less than half
// of the usual names, and otherwise more, the more of them it has.
func (s *shape) likeness(names []uint64) float64 {
	if s.names == nil {
		return 1
	}
	n := common(s.usual, names)
	if n == 0 || 2*n < len(s.usual) {
		return 0
	}
	return float64(n) * float64(n) / float64(len(s.usual))
}

// misses reports whether a record lacks a name that nearly all of the shape have, and has one that none has:
// then what the shape reads may be elsewhere in it.
func (s *shape) misses(names []uint64) bool {
	return s.records >= mature && common(s.firm, names) < len(s.firm) && common(s.known, names) < len(names)
}

// common returns how many values are in both of two sorted lists.
func common(a, b []uint64) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

// shapes are the shapes of a kind as they are read now. They do not change.
type shapes struct {
	stated *kindMapping // how records of no shape are read
	all    []*shape
}

// nearest returns the shape of a record with these names, or nil.
func nearest(all []*shape, names []uint64) (best *shape) {
	most := 0.0
	for _, of := range all {
		if l := of.likeness(names); l > most {
			best, most = of, l
		}
	}
	return best
}

// open prepares to read a record that was parsed as one of its shape.
func (x *extractor) open(s *shapes) {
	x.mapping, x.near = s.stated, nil
	x.findRoots()
	if len(s.all) > 0 {
		x.names = x.appendNames(x.names[:0])
		if x.near = nearest(s.all, x.names); x.near != nil {
			x.mapping = x.near.used
		}
	}
	if x.mapping.Inferred != nil {
		x.enrich()
	}
}

// eachName calls f for the names of the members of a record as pointers, perhaps several times for one.
// What it gives is valid until f returns.
func (x *extractor) eachName(f func(name []byte)) {
	var within func(at uint32, depth int)
	within = func(at uint32, depth int) {
		outer, elements := len(x.cleaned), 0
		for of := x.tree.nodes[at].first; of != none; of = x.tree.nodes[of].next {
			if !x.tree.nodes[of].element {
				x.cleaned = append(append(x.cleaned[:outer], '/'), x.tree.named(of)...)
				f(x.cleaned)
			} else if elements++; elements > namedElements {
				break
			}
			if depth < namesDepth && !x.isScalar(of) {
				within(of, depth+1)
			}
		}
		x.cleaned = x.cleaned[:outer]
	}
	for _, root := range x.roots {
		x.cleaned = x.cleaned[:0]
		within(root, 1)
	}
}

// appendNames appends the hashes of the names of a record's members, sorted.
func (x *extractor) appendNames(names []uint64) []uint64 {
	x.eachName(func(name []byte) { names = append(names, fnv1a(name)) })
	slices.Sort(names)
	return slices.Compact(names)
}

// fnv1a returns the FNV-1a hash of a text, which is the same in every process.
func fnv1a[T string | []byte](text T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// namesOf returns the names of a record's members as pointers, each once.
func (x *extractor) namesOf(stated *kindMapping, record []byte) (names []string) {
	if x.tree.parse(record) != nil {
		return nil
	}
	x.mapping = stated
	x.findRoots()
	x.eachName(func(name []byte) { names = append(names, string(name)) })
	slices.Sort(names)
	return slices.Compact(names)
}

// groups puts records of one shape together, the most frequent shape first. What is in no group is of too
// few records to tell anything.
func groups(names [][]string) (all [][]int) {
	left := make([]int, len(names))
	for i := range left {
		left[i] = i
	}
	for len(left) >= fewestRecords {
		count := map[string]int{}
		for _, i := range left {
			for _, name := range names[i] {
				count[name]++
			}
		}
		seed, most := -1, -1
		for _, i := range left {
			n := 0
			for _, name := range names[i] {
				n += count[name]
			}
			if n > most {
				seed, most = i, n
			}
		}
		var group, others []int
		for _, i := range left {
			here, usual := 0, 0
			for _, name := range names[seed] {
				if 5*count[name] < len(left) {
					continue // data stands for a name
				}
				usual++
				if _, has := slices.BinarySearch(names[i], name); has {
					here++
				}
			}
			if i == seed || 2*here >= usual && usual > 0 {
				group = append(group, i)
			} else {
				others = append(others, i)
			}
		}
		if len(group) >= fewestRecords {
			all = append(all, group)
		}
		left = others
	}
	return all
}
