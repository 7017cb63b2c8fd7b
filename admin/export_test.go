package admin

import (
	"maps"
	"slices"
)

// HeldReasons returns for which reasons an index is held, and Held what is told of one.
func HeldReasons() []string { return slices.Sorted(maps.Keys(held)) }

func Held(reason string) (is, remedy string) { return held[reason].is, held[reason].remedy }
