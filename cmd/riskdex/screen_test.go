package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/sanitize"
	"riskdex/report"
)

const hostileText = "a\x1b[31mb\u009b2Jc\rd\x00e\x7ff\u202eg\ufeffh\xffi\n\tj"

func TestForeignTextCannotControlATerminal(t *testing.T) {
	table := newTable("ID", "REASON")
	table.add(hostileText, hostileText)
	var out bytes.Buffer
	table.print(&out)
	printFacts(&out, "reason", hostileText)
	for _, r := range out.String() {
		if sanitize.Unsafe(r) && r != '\n' {
			t.Errorf("%q in %q", r, out.String())
		}
	}
}

func TestTableIsAligned(t *testing.T) {
	table := newTable("ID", "SIZE", "REASON")
	table.add("é", "1 B", "one\nline")
	table.add(strings.Repeat("x", 100), "10 KiB", strings.Repeat("long ", 100))
	var out bytes.Buffer
	table.print(&out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %q", len(lines), out.String())
	}
	column := func(line, text string) int { return slices.Index([]rune(line), []rune(text)[0]) }
	if column(lines[0], "R") != column(lines[1], "o") || !strings.HasSuffix(lines[1], "one line") {
		t.Errorf("not aligned:\n%s", out.String())
	}
	if !strings.Contains(lines[2], "x…") || !strings.HasSuffix(lines[2], "long") {
		t.Errorf("a long id must be clipped, and the last column must not: %s", lines[2])
	}
}

func TestProgressTellsWhatIsLeft(t *testing.T) {
	for want, r := range map[string]report.Rebuild{
		"cities: 500 of 2,000 documents (25%), about 90 seconds left": {Phase: "filling", Total: 2000, Remaining: 1500, SecondsLeft: 89.9},
		"cities: 500 of 2,000 documents (25%), about 3 minutes left":  {Phase: "filling", Total: 2000, Remaining: 1500, SecondsLeft: 170},
		"cities: 0 of 0 documents":                                    {Phase: "filling"},
		"cities: filling":                                             {Phase: "filling", Remaining: -1},
		"cities: swapping":                                            {Phase: "swapping", Total: 5},
	} {
		r.Kind = report.Cities
		if got := rebuildLine(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, d := range map[string]time.Duration{
		"about 1 second": time.Millisecond, "about 89 seconds": 89 * time.Second, "about 2 minutes": 100 * time.Second, "about 2 hours": 100 * time.Minute,
	} {
		if got := roughly(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
