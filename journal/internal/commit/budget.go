package commit

import "math"

// Budget is how many bytes may still be taken. The first document fits always.
type Budget struct {
	left  int64
	taken int
}

// NewBudget is of so many bytes.
func NewBudget(bytes int64) Budget { return Budget{left: bytes} }

// Limit is how large the next document may be.
func (b *Budget) Limit() int64 {
	if b.taken == 0 {
		return math.MaxInt64
	}
	return b.left
}

// Take counts a document that was taken.
func (b *Budget) Take(n int64) {
	b.left -= n
	b.taken++
}
