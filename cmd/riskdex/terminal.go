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

// useColour tells whether w may have colours: on a terminal, unless NO_COLOR is
// set (https://no-color.org).
func useColour(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == ""
}
