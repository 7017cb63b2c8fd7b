package main

import (
	"fmt"
	"io"
	"time"
)

// progress shows how far something is: on a terminal as one line that changes, elsewhere,
// such as in a log, as a new line now and then. It is for one goroutine.
type progress struct {
	out   io.Writer
	live  bool
	last  string
	shown time.Time
}

// plainEvery is the shortest time between two lines that are not on a terminal.
const plainEvery = 5 * time.Second

func newProgress(out io.Writer) *progress {
	return &progress{out: out, live: isTerminal(out), shown: time.Now()}
}

// show shows a line in place of the previous one.
func (p *progress) show(line string) {
	if p.live {
		p.last = clipped(line, max(terminalWidth(p.out)-1, 1))
		fmt.Fprint(p.out, clearLine, p.last)
		return
	}
	if time.Since(p.shown) >= plainEvery && line != p.last {
		p.last, p.shown = line, time.Now()
		fmt.Fprintln(p.out, line)
	}
}

// clear removes the line, before something else is written or at the end.
func (p *progress) clear() {
	if p.live && p.last != "" {
		fmt.Fprint(p.out, clearLine)
		p.last = ""
	}
}

const clearLine = "\r\x1b[K"

// percent returns done as a share of total in brackets, or an empty string if total is not
// known.
func percent(done, total int64) string {
	if total <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d%%)", min(100, 100*done/total))
}
