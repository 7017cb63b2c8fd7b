package gazetteer

import (
	"iter"
	"slices"
	"sort"
)

// names finds the rows of a table by a name. Each entry is the hash of a folded name with
// the row in its lowest bits, which takes a fifth of the memory of a map. Callers have to
// compare the name itself, since two names may have one hash.
type names []uint64

const (
	rowBits = 20
	mostRow = 1<<rowBits - 1
)

// hashOf returns the FNV-1a hash of a folded name, without the bits for the row.
func hashOf[T string | []byte](folded T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(folded) {
		h = (h ^ uint64(folded[i])) * 1099511628211
	}
	return h &^ mostRow
}

func (n *names) add(hash uint64, row int) { *n = append(*n, hash|uint64(row)) }

// sorted prepares n for rows. It must be called once, after the last add.
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
