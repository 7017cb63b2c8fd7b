package main

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// frame is what is to be shown at once, in the form of where it will be shown.
type frame struct {
	bytes.Buffer
	on io.Writer
}

// terminalOf returns the terminal that w is, or will be shown on, and nil where there is
// none.
func terminalOf(w io.Writer) *os.File {
	if f, ok := w.(*frame); ok {
		w = f.on
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// isTerminal tells whether people read w as it is written.
func isTerminal(w io.Writer) bool { return terminalOf(w) != nil }

// terminalSize returns how many characters a line has on a terminal, and how many lines
// there are; 0 where w is none.
func terminalSize(w io.Writer) (width, height int) {
	t := terminalOf(w)
	if t == nil {
		return 0, 0
	}
	const usualWidth, usualHeight = 80, 24
	width, height, err := term.GetSize(int(t.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return usualWidth, usualHeight
	}
	return width, height
}

func terminalWidth(w io.Writer) int {
	width, _ := terminalSize(w)
	return width
}

// useColour tells whether w may have colours: on a terminal, unless NO_COLOR is
// set (https://no-color.org).
func useColour(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == ""
}
