package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"riskdex/internal/sanitize"

	"github.com/dustin/go-humanize"
)

// table is written in aligned columns. The last column takes what room is left
// on a terminal, or a line of its own where that is little, and all that it needs
// elsewhere.
type table struct {
	rows [][]string // the first is the heading
}

// The most that any but the last column takes, and the least that is of use to the
// last, in characters.
const widestCell, narrowestLast = 48, 50

func newTable(heading ...string) *table { return &table{rows: [][]string{heading}} }

// add adds a row. Cells come from outside and are made safe here.
func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = sanitize.OneLine(cells[i])
	}
	t.rows = append(t.rows, cells)
}

func (t *table) print(w io.Writer) {
	last := len(t.rows[0]) - 1
	widths := t.widths(last)
	width := terminalWidth(w)
	room := width
	for _, taken := range widths {
		room -= taken + 2
	}
	ownLine := width > 0 && room < narrowestLast
	paint := painter(useColour(w))
	for n, row := range t.rows {
		var line strings.Builder
		for i, width := range widths {
			line.WriteString(row[i] + strings.Repeat(" ", width+2-utf8.RuneCountInString(row[i])))
		}
		if !ownLine {
			line.WriteString(fitting(row[last], room, width))
		}
		text := strings.TrimRight(line.String(), " ")
		if n == 0 {
			text = paint.text(bold, text)
		}
		fmt.Fprintln(w, text)
		if ownLine && n > 0 {
			fmt.Fprintf(w, "    %s\n", paint.text(dim, fitting(row[last], width-4, width)))
		}
	}
}

// widths returns those of the first columns, and clips what is too long for them.
func (t *table) widths(columns int) []int {
	widths := make([]int, columns)
	for _, row := range t.rows {
		for i := range widths {
			row[i] = clipped(row[i], widestCell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	return widths
}

// fitting clips a line to the room on a terminal; width is 0 where there is none.
func fitting(line string, room, width int) string {
	if width == 0 {
		return line
	}
	return clipped(line, room)
}

// printFacts writes names and values, one pair a line.
func printFacts(w io.Writer, pairs ...string) {
	paint := painter(useColour(w))
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(w, "  %s  %s\n", paint.text(dim, fmt.Sprintf("%-10s", pairs[i])), sanitize.OneLine(pairs[i+1])) // #nosec G602 -- they come in pairs
	}
}

// clipped returns at most so many characters of a line.
func clipped(line string, most int) string {
	letters := []rune(line)
	if len(letters) <= most {
		return line
	}
	return string(letters[:max(most-1, 0)]) + "…"
}

// ago tells a time as people do.
func ago(at time.Time) string { return humanize.RelTime(at, time.Now(), "ago", "from now") }

// agoAndAt tells it exactly as well.
func agoAndAt(at time.Time) string {
	return fmt.Sprintf("%s (%s)", ago(at), at.UTC().Format(time.RFC3339))
}

func bytesText(n int) string { return humanize.IBytes(uint64(max(n, 0))) }

// count tells a number of things: 1 dead letter, 2,345 dead letters.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(int64(n)) + " " + many
}
