package main

import (
	"fmt"
	"io"
	"time"

	"riskdex/internal/push"
	"riskdex/internal/sanitize"
)

// progress shows how far something is: on a terminal as one line that changes, elsewhere,
// such as in a log, as a new line now and then. It is for one goroutine.
type progress struct {
	out   io.Writer
	live  bool
	now   func() time.Time
	last  string
	shown time.Time
}

// plainEvery is the shortest time between two lines that are not on a terminal.
const plainEvery = 5 * time.Second

func newProgress(out io.Writer) *progress {
	return &progress{out: out, live: isTerminal(out), now: time.Now, shown: time.Now()}
}

// show shows a line in place of the previous one.
func (p *progress) show(line string) {
	if p.live {
		p.last = clipped(line, max(terminalWidth(p.out)-1, 1))
		fmt.Fprint(p.out, clearLine, p.last)
		return
	}
	if now := p.now(); now.Sub(p.shown) >= plainEvery && line != p.last {
		p.last, p.shown = line, now
		fmt.Fprintln(p.out, line)
	}
}

// waiting keeps a line that says why a request is sent again, and when. It can be used as
// [push.Pusher.Waiting].
func (p *progress) waiting(r push.Request, err error, wait time.Duration) {
	p.clear()
	fmt.Fprintf(p.out, "%s %s: %s; trying again in %s\n", r.Method, r.Path, sanitize.OneLine(err.Error()), wait.Round(100*time.Millisecond))
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
