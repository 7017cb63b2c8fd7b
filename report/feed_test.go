package report

import (
	"slices"
	"testing"
)

// TestCursorsTellKindsApart reads back the cursors of every choice of kinds.
func TestCursorsTellKindsApart(t *testing.T) {
	all := Kinds()
	for choice := 1; choice < 1<<len(all); choice++ {
		want := Cursor{Version: 7, Began: 5, Feed: "f"}
		for i, k := range all {
			if choice>>i&1 == 1 {
				want.Kinds = append(want.Kinds, k)
			}
		}
		got, err := ParseCursor(want.String())
		if err != nil || !slices.Equal(got.Kinds, want.Kinds) || got.Version != want.Version || got.Began != want.Began || got.Feed != want.Feed {
			t.Errorf("%v becomes %q, and that %v, %v", want, want, got, err)
		}
	}
}
