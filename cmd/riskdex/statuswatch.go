package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"riskdex/admin"
	"riskdex/internal/sanitize"
)

// watch shows the status repeatedly until ctx is done. A failure to get it ends the watch only
// the first time. Later ones are shown, because riskdex may be restarting.
func (c *statusCommand) watch(ctx context.Context, client *adminClient) error {
	if c.Interval <= 0 {
		return errors.New("--interval must be more than 0")
	}
	tick := time.NewTicker(c.Interval)
	defer tick.Stop()
	shown := redrawer{out: client.io.out}
	var last error
	for first := true; ; first = false {
		st, err := c.ask(ctx, client)
		switch {
		case ctx.Err() != nil:
			return last
		case err != nil && first:
			return err
		}
		if last = err; err == nil {
			last = verdict(st)
		}
		if err := c.showNext(&shown, st, err); err != nil {
			return fmt.Errorf("show the status: %w", err)
		}
		select {
		case <-ctx.Done():
			return last
		case <-tick.C:
		}
	}
}

// showNext shows a status, or failed if there is none.
func (c *statusCommand) showNext(shown *redrawer, st admin.Status, failed error) error {
	now := time.Now().UTC()
	switch {
	case c.JSON && failed != nil:
		return json.NewEncoder(shown.out).Encode(map[string]any{"at": now, "error": failed.Error()})
	case c.JSON:
		return json.NewEncoder(shown.out).Encode(st)
	case !isTerminal(shown.out):
		_, err := fmt.Fprintf(shown.out, "%s %s\n", now.Format(time.RFC3339), statusLine(st, failed))
		return err
	}
	f := &frame{on: shown.out}
	fmt.Fprintf(f, "%s, every %v; Ctrl-C ends it\n", now.Format(time.DateTime+" UTC"), c.Interval)
	if failed != nil {
		fmt.Fprintln(f, sanitize.OneLine(failed.Error()))
	} else {
		printStatus(f, st)
	}
	return shown.draw(f.String())
}

// statusLine returns a status, or failed, on one line, such as for a log.
func statusLine(st admin.Status, failed error) string {
	if failed != nil {
		return sanitize.OneLine(failed.Error())
	}
	pending, dead, lag := 0, 0, 0.0
	for _, k := range st.Kinds {
		pending, dead, lag = pending+k.Pending+k.Resending, dead+k.DeadLetters, max(lag, k.LagSeconds)
	}
	line := st.Headline()
	if !st.Well {
		line = string(st.Severity) + ": " + sanitize.OneLine(st.Troubles[0].Detail)
		if more := len(st.Troubles) - 1; more > 0 {
			line += fmt.Sprintf(" (and %d more)", more)
		}
	}
	return fmt.Sprintf("%s%s; pending %s, lag %s, dead letters %s", strings.TrimRight(line, "."), lastDelivery(st), humanize.Comma(int64(pending)), lagText(lag), humanize.Comma(int64(dead)))
}

// redrawer shows texts on a terminal, each in place of the previous one.
type redrawer struct {
	out  io.Writer
	rows int // of the previous text
}

// draw writes the text in one piece, so that nothing flickers. It leaves out what does not fit
// on the terminal, because that could not be overwritten.
func (r *redrawer) draw(text string) error {
	width, height := terminalSize(r.out)
	var next strings.Builder
	if r.rows > 0 {
		fmt.Fprintf(&next, "\x1b[%dA\r\x1b[J", r.rows)
	}
	r.rows = 0
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\n")
		if line == "" && i == len(lines)-1 {
			break
		}
		rows := rowsOf(line, width)
		if r.rows+rows > height-2 && i < len(lines)-2 {
			next.WriteString("… the terminal has no room for more\n")
			r.rows++
			break
		}
		next.WriteString(line + "\n")
		r.rows += rows
	}
	_, err := io.WriteString(r.out, next.String())
	return err
}

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// rowsOf returns how many rows of a terminal a line takes.
func rowsOf(line string, width int) int {
	letters := utf8.RuneCountInString(styles.ReplaceAllString(line, ""))
	return max(1, (letters+width-1)/width)
}
