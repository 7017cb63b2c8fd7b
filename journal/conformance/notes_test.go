package conformance

import (
	"maps"
	"strings"
	"testing"
)

var noteTests = []test{
	{"a note is kept until it is replaced", testNotes},
}

func testNotes(t *testing.T, h *harness) {
	wants := func(want map[string]string) {
		t.Helper()
		if stats, err := h.Stats(t.Context()); err != nil || !maps.Equal(stats.Notes, want) {
			t.Errorf("the notes are %q, %v, want %q", stats.Notes, err, want)
		}
	}
	note := func(name, value string) {
		t.Helper()
		if err := h.Note(t.Context(), name, value); err != nil {
			t.Fatal(err)
		}
	}
	wants(nil)
	line := h.Lineage()
	long := strings.Repeat("ä", 1000)
	note("line", "of its own")
	note("verified:cities", "12 3")
	note("verified:cities", long)
	want := map[string]string{"line": "of its own", "verified:cities": long}
	wants(want)
	h.reopen(t)
	wants(want)
	if h.Lineage() != line {
		t.Error("a note of that name has changed the line")
	}
	note("verified:cities", "")
	wants(map[string]string{"line": "of its own", "verified:cities": ""})
}
