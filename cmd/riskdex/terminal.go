package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal tells whether people read w as it is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns how many characters a line has on a terminal, and 0 where
// w is none.
func terminalWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	const usual = 80
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil || width <= 0 {
		return usual
	}
	return width
}

// useColour tells whether w may have colours: on a terminal, unless NO_COLOR is
// set (https://no-color.org).
func useColour(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == ""
}
