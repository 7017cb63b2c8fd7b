package main

import "testing"

// TestExcerpt writes an excerpt on a terminal.
func TestExcerpt(t *testing.T) {
	for highlight, want := range map[string]string{
		"São <em>Paulo</em> … Report on <em>Paulo</em> &amp; its port.": "São [Paulo] … Report on [Paulo] & its port.",
		"Buses to\nthe <em>port</em>":                                   "Buses to the [port]",
	} {
		if got := excerpt(highlight, "[", "]"); got != want {
			t.Errorf("%q becomes %q, want %q", highlight, got, want)
		}
	}
}
