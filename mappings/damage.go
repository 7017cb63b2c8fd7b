package mappings

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"unicode"
)

// Up to one value in a hundred may be anything: null, n/a, zero, a date of 1970. What holds for a column holds
// for nearly all of its values, and what few of them are says nothing of it. These functions say how many that is.

// few returns how many of n values may be damaged. Of fewer than fewestDamaged each has to hold.
func few(n int) int {
	const fewestDamaged = 8
	if n < fewestDamaged {
		return 0
	}
	return 1 + n/20
}

// nearlyAll reports whether n of all values are all but damaged ones.
func nearlyAll(n, all int) bool { return n > 0 && all-n <= few(all) }

// shareOf returns the share that n are of all, which is 1 if they are nearly all.
func shareOf(n, all int) float64 {
	if nearlyAll(n, all) {
		return 1
	}
	return float64(n) / float64(max(1, all))
}

// asGood is the difference of two scores that damage may make: the first of such columns is taken.
const asGood = 0.02

// first returns the first of several that is as good as the best but for damage, or -1.
func first[T any](all []T, score func(T) float64) int {
	best := math.Inf(-1)
	for _, of := range all {
		best = max(best, score(of))
	}
	return slices.IndexFunc(all, func(of T) bool { return score(of) >= best-asGood })
}

// bestOf returns the column with the best score above zero, or nil. A later one has to be better by more than
// damage may make.
func bestOf(all []*column, score func(*column) (float64, bool)) (best *column) {
	most := -asGood
	for _, c := range all {
		if s, ok := score(c); ok && s > most+asGood {
			best, most = c, s
		}
	}
	return best
}

// isStray reports whether a value that is n times among all others is one of damage, unless others vouch for it.
func isStray(n, all int) bool {
	const fewest = 20
	return all >= fewest && n <= max(1, all/100)
}

// form is what a value looks like, whatever it means.
type form uint8

const (
	ofLetters form = iota
	ofNumber
	ofDigits // and signs, such as dates and times
	ofSigns
)

func (v cell) form() form {
	if v.number {
		return ofNumber
	}
	digits := false
	for _, r := range v.text {
		if unicode.IsLetter(r) {
			return ofLetters
		}
		digits = digits || unicode.IsDigit(r)
	}
	if _, ok := number(v.text); ok {
		return ofNumber
	}
	if digits {
		return ofDigits
	}
	return ofSigns
}

// dropStrays takes values out of a column whose form hardly any other value of it has.
func (c *column) dropStrays() {
	n := map[form]int{}
	for _, v := range c.cells {
		n[v.form()]++
	}
	stray, left := map[form]bool{}, few(len(c.cells))
	for _, f := range slices.SortedFunc(maps.Keys(n), func(a, b form) int { return cmp.Or(n[a]-n[b], int(a-b)) }) { // the rarest first
		if n[f] > left {
			break
		}
		left -= n[f]
		stray[f] = true
	}
	if len(stray) == 0 {
		return
	}
	var kept []cell
	for _, v := range c.cells {
		if !stray[v.form()] {
			kept = append(kept, v)
		}
	}
	c.cells = kept
}

// usual returns how often each text is among the values of a column, but for strays in one of few labels, and
// the most frequent text.
func (c *column) usual() (seen map[string]int, most string) {
	if c.usually == nil {
		c.usually, c.most = c.findUsual()
	}
	return c.usually, c.most
}

func (c *column) findUsual() (seen map[string]int, most string) {
	seen = map[string]int{}
	for _, v := range c.cells {
		seen[v.text]++
	}
	for text, n := range seen {
		if n > seen[most] || n == seen[most] && text < most {
			most = text
		}
	}
	if 3*len(seen) > len(c.cells) {
		return seen, most
	}
	all, strays := len(c.cells), 0
	for _, n := range seen {
		if isStray(n, all) {
			strays += n
		}
	}
	if strays <= few(all) {
		for text, n := range seen {
			if isStray(n, all) {
				delete(seen, text)
			}
		}
	}
	return seen, most
}
