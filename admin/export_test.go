package admin

import (
	"maps"
	"slices"
)

// HeldReasons returns the reasons for which an index may be held.
func HeldReasons() []string { return slices.Sorted(maps.Keys(held)) }

// Held returns what the status says for such a reason.
func Held(reason string) (is, remedy string) { return held[reason].is, held[reason].remedy }

// The longest times for the tests.
const (
	LookEvery       = lookEvery
	UnknownCallsEnd = unknownCallsEnd
)

// MostSearches is how many searches from the page run at once.
const MostSearches = mostSearches
