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

// table is written in aligned columns. On a terminal, the last column takes the width that is
// left, or a line of its own if little is left. Elsewhere it takes all that it needs.
type table struct {
	rows [][]string // the first is the heading
}

// widestCell is the largest width of all columns but the last, and narrowestLast the smallest
// useful width of the last one, in characters.
const widestCell, narrowestLast = 48, 50

func newTable(heading ...string) *table { return &table{rows: [][]string{heading}} }

// add adds a row. It makes the cells safe, which may come from outside.
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

// widths returns the widths of the first columns, and clips the cells that are too long.
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

// fitting clips a line to the room on a terminal. width is 0 if there is no terminal.
func fitting(line string, room, width int) string {
	if width == 0 {
		return line
	}
	return clipped(line, room)
}

// printFacts writes pairs of a name and a value, one per line.
func printFacts(w io.Writer, pairs ...string) {
	paint := painter(useColour(w))
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(w, "  %s  %s\n", paint.text(dim, fmt.Sprintf("%-10s", pairs[i])), sanitize.OneLine(pairs[i+1])) // #nosec G602 -- they come in pairs
	}
}

// clipped returns at most most characters of a line, the last one an ellipsis if it is cut.
func clipped(line string, most int) string {
	letters := []rune(line)
	if len(letters) <= most {
		return line
	}
	return string(letters[:max(most-1, 0)]) + "…"
}

// ago returns a time relative to now, such as "3 minutes ago".
func ago(at time.Time) string { return humanize.RelTime(at, time.Now(), "ago", "from now") }

// agoAndAt returns a time relative to now, and exactly.
func agoAndAt(at time.Time) string {
	return fmt.Sprintf("%s (%s)", ago(at), at.UTC().Format(time.RFC3339))
}

func bytesText(n int) string { return humanize.IBytes(uint64(max(n, 0))) }

// count returns a number with its noun: 1 dead letter, 2,345 dead letters.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(int64(n)) + " " + many
}
