package admin

import (
	"maps"
	"slices"
)

// HeldReasons returns the reasons why an index may be held, and Held what the status says
// for one.
func HeldReasons() []string { return slices.Sorted(maps.Keys(held)) }

func Held(reason string) (is, remedy string) { return held[reason].is, held[reason].remedy }
