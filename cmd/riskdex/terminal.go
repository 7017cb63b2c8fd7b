package main

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// frame is a buffer for text that will be shown on another writer at once. Text is formatted
// for that writer.
type frame struct {
	bytes.Buffer
	on io.Writer
}

// terminalOf returns the terminal that w is or will be shown on, or nil if it is none.
func terminalOf(w io.Writer) *os.File {
	if f, ok := w.(*frame); ok {
		w = f.on
	}
	if o, ok := w.(*outStream); ok {
		w = o.to
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// isTerminal reports whether w is or will be shown on a terminal.
func isTerminal(w io.Writer) bool { return terminalOf(w) != nil }

// terminalSize returns the width and height of a terminal in characters, or 0 if w is none.
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

// useColour reports whether w may have colours: it is a terminal, and NO_COLOR is not set
// (https://no-color.org).
func useColour(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == ""
}
