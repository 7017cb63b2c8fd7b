package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

// rebuildWatch shows the progress of rebuilds until they end.
type rebuildWatch struct {
	client   *adminClient
	progress *progress
	lines    *json.Encoder             // nil for text
	started  map[report.Kind]time.Time // the watched rebuilds that have not ended
	failed   bool
	stopped  bool // one was stopped, was not started, or began again after a restart
}

func (w *rebuildWatch) run(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		var list admin.Page[report.Rebuild]
		err := w.client.ask(ctx, http.MethodGet, "/api/rebuild", query(), nil, &list)
		if err != nil {
			w.progress.clear()
			return err
		}
		if err := w.look(list.Items); err != nil {
			return err
		}
		if len(w.started) == 0 {
			w.progress.clear()
			return w.verdict()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (w *rebuildWatch) verdict() error {
	switch {
	case w.failed:
		return errors.New("apps go on searching the old index, which stays up to date; fix the cause and rebuild again")
	case w.stopped:
		return errNegative
	}
	return nil
}

// look shows all rebuilds that are under way on one line, and each that has ended on a line
// of its own.
func (w *rebuildWatch) look(list []report.Rebuild) error {
	known := map[report.Kind]report.Rebuild{}
	for _, r := range list {
		known[r.Kind] = r
	}
	var lines []string
	var waiting *report.Waiting
	for _, kind := range report.Kinds() {
		started, watched := w.started[kind]
		r, there := known[kind]
		switch {
		case !watched:
		case there && r.Active && r.StartedAt.Equal(started):
			lines = append(lines, rebuildLine(r))
			if waiting == nil {
				waiting = r.Waiting
			}
		default:
			delete(w.started, kind)
			w.progress.clear()
			if there && r.Done {
				w.progress.awaits(nil)
			}
			if err := w.ended(kind, r, there && r.StartedAt.Equal(started)); err != nil {
				return err
			}
		}
	}
	if len(lines) > 0 {
		w.progress.awaits(waiting)
		w.progress.show(strings.Join(lines, "; "))
	}
	return nil
}

// ended prints the result of a rebuild. known says that r is that rebuild, and not a later
// one or none.
func (w *rebuildWatch) ended(kind report.Kind, r report.Rebuild, known bool) error {
	if known && w.lines != nil {
		if err := w.lines.Encode(r); err != nil {
			return err
		}
	}
	switch {
	case known && r.Done && w.lines != nil:
	case known && r.Done:
		fmt.Fprintf(w.client.io.out, "%s: %s sent in %s; apps search %s\n", kind,
			count(r.Total, "document", "documents"), r.EndedAt.Sub(r.StartedAt).Round(100*time.Millisecond), r.NewIndex)
	case known && r.Phase == "stopped":
		w.stopped = true
		fmt.Fprintf(w.client.io.err, "%s: stopped%s\n", kind, because(r.Reason))
	case known:
		w.failed = true
		fmt.Fprintf(w.client.io.err, "%s: %s: %s\n", kind, r.Phase, sanitize.OneLine(r.Reason))
	default:
		w.stopped = true
		fmt.Fprintf(w.client.io.err, "%s: riskdex was restarted and begins the rebuild again; to see how far it is: riskdex status\n", kind)
	}
	return nil
}

// because returns the reason as the end of a sentence, or an empty string if there is none.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + sanitize.OneLine(reason)
}

func rebuildLine(r report.Rebuild) string {
	waits := ""
	if r.Waiting != nil {
		waits = ", has waited for " + lasted(r.Waiting)
	}
	if r.Phase != "filling" || r.Remaining < 0 {
		return fmt.Sprintf("%s: %s%s", r.Kind, r.Phase, waits)
	}
	done := r.Total - r.Remaining
	line := fmt.Sprintf("%s: %s of %s documents%s", r.Kind, humanize.Comma(int64(done)), humanize.Comma(int64(r.Total)), percent(int64(done), int64(r.Total)))
	if r.Waiting != nil {
		return line + waits
	}
	if r.SecondsLeft > 0 {
		line += ", " + roughly(time.Duration(r.SecondsLeft*float64(time.Second))) + " left"
	}
	return line
}

// roughly returns a duration rounded to seconds, minutes or hours.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return "about " + count(max(1, int(d.Round(time.Second).Seconds())), "second", "seconds")
	case d < 90*time.Minute:
		return "about " + count(int(d.Round(time.Minute).Minutes()), "minute", "minutes")
	}
	return "about " + count(int(d.Round(time.Hour).Hours()), "hour", "hours")
}
