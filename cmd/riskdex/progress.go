package main

import (
	"fmt"
	"io"
	"time"

	"riskdex/elastic"
	"riskdex/internal/push"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

// progress shows how far something is: on a terminal as one line that changes, elsewhere,
// such as in a log, as a new line now and then. It is for one goroutine.
type progress struct {
	out   io.Writer
	live  bool
	now   func() time.Time
	last  string
	shown time.Time

	awaited *report.Waiting // nil if nothing is
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

// awaits keeps a line that says what is waited for, and one once that has ended. Between these,
// the caller shows with other progress how long it has lasted.
func (p *progress) awaits(w *report.Waiting) {
	before := p.awaited
	p.awaited = w
	switch {
	case w != nil && (before == nil || before.Reason != w.Reason):
		p.clear()
		fmt.Fprintf(p.out, "%s: %s\n", unanswered(w), sanitize.OneLine(w.Detail))
	case w == nil && before != nil:
		p.clear()
		fmt.Fprintf(p.out, "%s again after %s: going on\n", answering(before), lasted(before))
	}
}

// unanswered says what a waiting means, and answering that it has ended.
func unanswered(w *report.Waiting) string {
	switch w.Reason {
	case elastic.ReasonUnreachable:
		return "Elasticsearch does not answer"
	case report.WaitsForJournal:
		return "the journal does not answer"
	}
	return fmt.Sprintf("%s waits for Elasticsearch (%s)", w.Kind, w.Reason)
}

func answering(w *report.Waiting) string {
	if w.Reason == report.WaitsForJournal {
		return "the journal answers"
	}
	return "Elasticsearch answers"
}

func lasted(w *report.Waiting) string {
	until := w.EndedAt
	if until.IsZero() {
		until = time.Now()
	}
	return max(0, until.Sub(w.Since)).Round(time.Second).String()
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
