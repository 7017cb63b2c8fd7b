package commit

import "math"

// Budget is how many bytes a Claim may still give out. The first document always fits.
type Budget struct {
	left  int64
	taken int
}

// NewBudget returns a budget in bytes.
func NewBudget(bytes int64) Budget { return Budget{left: bytes} }

// Limit returns how large the next document may be, in bytes.
func (b *Budget) Limit() int64 {
	if b.taken == 0 {
		return math.MaxInt64
	}
	return b.left
}

// Take counts a document of n bytes.
func (b *Budget) Take(n int64) {
	b.left -= n
	b.taken++
}
