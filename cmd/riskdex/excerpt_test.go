package main

import "testing"

// TestExcerpt: a label beside a match does not run into it.
func TestExcerpt(t *testing.T) {
	for highlight, want := range map[string]string{
		"São <em>Paulo</em>\n\nModerate\n\nReport on <em>Paulo</em> &amp; its port.": "São [Paulo] … Report on [Paulo] & its port.",
		"Buses to\nthe <em>port</em>": "Buses to the [port]",
	} {
		if got := excerpt(highlight, "[", "]"); got != want {
			t.Errorf("%q becomes %q, want %q", highlight, got, want)
		}
	}
}
