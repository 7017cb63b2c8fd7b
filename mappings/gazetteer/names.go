package gazetteer

import (
	"iter"
	"slices"
	"sort"
)

// names finds the rows of a table by a name. Each entry is the hash of a folded name and,
// in its lowest bits, the row: a fifth of the memory that a map would take. Who looks a
// name up compares it, since two may have one hash.
type names []uint64

const (
	rowBits = 20
	mostRow = 1<<rowBits - 1
)

// hashOf is FNV-1a.
func hashOf[T string | []byte](folded T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(folded) {
		h = (h ^ uint64(folded[i])) * 1099511628211
	}
	return h &^ mostRow
}

func (n *names) add(hash uint64, row int) { *n = append(*n, hash|uint64(row)) }

// sorted ends adding.
func (n *names) sorted() {
	slices.Sort(*n)
	*n = slices.Clip(slices.Compact(*n))
}

// rows yields the rows that may have a name with that hash, in order.
func (n names) rows(hash uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		from := sort.Search(len(n), func(i int) bool { return n[i] >= hash })
		for _, entry := range n[from:] {
			if entry&^mostRow != hash || !yield(int(entry&mostRow)) {
				return
			}
		}
	}
}
