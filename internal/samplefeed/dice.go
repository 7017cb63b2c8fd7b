package samplefeed

import (
	"hash/fnv"
	"strings"
)

// dice makes choices that depend on nothing but the seed. The algorithm (splitmix64) is
// implemented here so that no release of Go can change the feed.
type dice struct{ state uint64 }

func newDice(seed ...string) *dice {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(seed, "\x00"))) // a hash.Hash never fails
	return &dice{state: h.Sum64()}
}

// n returns a number from 0 to limit-1.
func (d *dice) n(limit int) int {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return int(z % uint64(limit))
}

func (d *dice) pick(list []string) string { return list[d.n(len(list))] }

// sample returns up to k members of list in a new order, none of them twice.
func (d *dice) sample(k int, list []string) []string {
	drawn := append([]string(nil), list...)
	for i := len(drawn) - 1; i > 0; i-- {
		j := d.n(i + 1)
		drawn[i], drawn[j] = drawn[j], drawn[i]
	}
	return drawn[:min(k, len(drawn))]
}

// mark returns an invented word for one edition of one document, which occurs nowhere else.
// It ends in x, which no English stemmer touches.
func mark(kind, id string, edition int) string {
	d := newDice("mark", kind, id, string(rune('0'+edition)))
	var b strings.Builder
	for range 6 {
		b.WriteByte("bdfglmnprtvz"[d.n(12)])
		b.WriteByte("aeiou"[d.n(5)])
	}
	return b.String() + "x"
}
