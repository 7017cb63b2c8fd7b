package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"riskdex/internal/push"
	"riskdex/internal/reconcile"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

// removalSettings say what may be removed.
type removalSettings struct {
	AtMost share  `name:"at-most" default:"5%" placeholder:"SHARE|N" help:"Remove nothing where more would be removed: a share of the kind's documents, such as 5%, or a number."`
	AsOf   moment `name:"as-of" placeholder:"TIME" help:"When the publisher made the list, such as 2026-11-23T10:00Z: what was delivered later is left alone. By default when the file, or the newest in the folder, was modified; with standard input, the start of the command."`
	Yes    bool   `name:"yes" help:"Do not ask before a removal."`
}

// canAsk returns an error if a confirmation is needed but cannot be asked for. used says that
// standard input is taken for something else.
func (s removalSettings) canAsk(in input, used bool) error {
	if f, ok := in.Reader.(*os.File); s.Yes || ok && !used && term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return errors.New("nobody can be asked here, and a removal cannot be undone: add --yes")
}

// share is a percentage of documents, or a number of them.
type share struct {
	percent float64
	number  int // -1 for a share
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *share) UnmarshalText(text []byte) (err error) {
	if percent, ok := strings.CutSuffix(string(text), "%"); ok {
		s.number = -1
		if s.percent, err = strconv.ParseFloat(percent, 64); err == nil && s.percent >= 0 && s.percent <= 100 {
			return nil
		}
	} else if s.number, err = strconv.Atoi(string(text)); err == nil && s.number >= 0 {
		return nil
	}
	return fmt.Errorf("%q is neither a share, such as 5%%, nor a number", text)
}

// of returns the number of documents that it means, of all.
func (s share) of(all int) int {
	if s.number >= 0 {
		return s.number
	}
	return int(math.Floor(float64(all) * s.percent / 100))
}

func (s share) String() string {
	if s.number >= 0 {
		return humanize.Comma(int64(s.number))
	}
	return strconv.FormatFloat(s.percent, 'f', -1, 64) + "%"
}

// whenForms are how a time may be written. Without a zone it is UTC, as everything is that
// riskdex prints.
var whenForms = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}

func parseWhen(text string) (time.Time, error) {
	for _, form := range whenForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write it like 2026-11-20T10:00Z", text)
}

// moment is a time in the past.
type moment time.Time

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *moment) UnmarshalText(text []byte) error {
	at, err := parseWhen(string(text))
	if err != nil {
		return err
	}
	if at.After(time.Now()) {
		return fmt.Errorf("%q is in the future", text)
	}
	*m = moment(at)
	return nil
}

// removed counts what became of a surplus.
type removed struct{ removed, gone, outdated, failed int }

// absent returns how many documents are gone. It counts those that were gone before only if one
// was removed: that shows that the receiver belongs to the riskdex that was compared, since no
// other has its versions.
func (r removed) absent() int {
	if r.removed == 0 {
		return 0
	}
	return r.removed + r.gone
}

// mayRemove returns an error that says why nothing of a kind may be removed, or nil.
func (s removalSettings) mayRemove(k *reconciled) error {
	surplus, most := k.Count(reconcile.Surplus), s.AtMost.of(k.Here)
	if surplus == 0 {
		return nil
	}
	listed, here, respelled := k.Respelled()
	switch {
	case k.list.Unread > 0:
		return fmt.Errorf("nothing was removed: it is not known which documents the %s in the list without an id are", count(k.list.Unread, "entry", "entries"))
	case k.list.Part != "":
		return fmt.Errorf("nothing was removed: the list is a part: %s", sanitize.OneLine(k.list.Part))
	case k.list.Cut:
		return errors.New("nothing was removed: the last line of the list has no end, so the list may be cut. If it is whole, add a line break")
	case k.NoCity > 0 && k.Matched > 0:
		return fmt.Errorf("nothing was removed: no city here has %s of the list, and a city that would be removed may have got it. Have them delivered first, or give a list of ids", count(k.NoCity, "code", "codes"))
	case k.Matched == 0:
		return fmt.Errorf("nothing was removed: not one of the %s here is in the list, so it is hardly a list of them", k.list.Kind)
	case k.list.Records && 2*k.Count(reconcile.Differs) > k.Matched:
		return fmt.Errorf("nothing was removed: of the %s %s in the list, %s have another content here, so it may be an old list, or one of something else. Have them delivered first, or compare ids alone: --ids-only",
			humanize.Comma(int64(k.Matched)), k.list.Kind, humanize.Comma(int64(k.Count(reconcile.Differs))))
	case respelled:
		return fmt.Errorf("nothing was removed: the list has %s, which is not here, and would have %s removed, which may be the same. Write the ids of the list as riskdex export does, or deliver the missing one first",
			sanitize.ShellWord(string(listed)), sanitize.ShellWord(string(here)))
	case surplus > most:
		return fmt.Errorf("nothing was removed: %s of %s %s would be, and --at-most %s allows %s. If the list is right, say --at-most %d",
			humanize.Comma(int64(surplus)), humanize.Comma(int64(k.Here)), k.list.Kind, s.AtMost, humanize.Comma(int64(most)), surplus)
	}
	return nil
}

// remove removes the surplus of all kinds, after a confirmation. Each DELETE is for the version
// that was compared, so a document that was delivered again since stays.
func (r *reconciliation) remove(ctx context.Context, in input, to deliverySettings) error {
	total, question := 0, "Remove"
	for _, k := range r.kinds {
		if err := r.mayRemove(k); err != nil {
			return err
		}
		if n := k.Count(reconcile.Surplus); n > 0 {
			if total > 0 {
				question += ","
			}
			total += n
			question += fmt.Sprintf(" %s of %s %s", humanize.Comma(int64(n)), humanize.Comma(int64(k.Here)), k.list.Kind)
		}
	}
	if total == 0 {
		return nil
	}
	if err := confirm(ctx, r.io, in, r.Yes, question+", which are not in the list?"); err != nil {
		return err
	}
	pusher, err := to.pusher()
	if err != nil {
		return err
	}
	lines := json.NewEncoder(r.io.out)
	pusher.Answered = func(req push.Request, status int, detail string, unknown bool) {
		r.answered(lines, req, status, detail, unknown)
	}
	pusher.Progress = func(done, total int, _ int64) {
		r.progress.show(fmt.Sprintf("removing: %s of %s", humanize.Comma(int64(done)), humanize.Comma(int64(total))))
	}
	pusher.Waiting = r.progress.waiting
	sum, err := pusher.RunSeq(ctx, total, r.surplus())
	r.progress.clear()
	var all removed
	for _, k := range r.kinds {
		all = removed{all.removed + k.done.removed, all.gone + k.done.gone, all.outdated + k.done.outdated, all.failed + k.done.failed}
	}
	if !r.json {
		fmt.Fprintf(r.io.out, "%s of %s removed", humanize.Comma(int64(all.removed)), humanize.Comma(int64(total)))
		if all.gone > 0 {
			fmt.Fprintf(r.io.out, ", %s gone already", humanize.Comma(int64(all.gone)))
		}
		if all.outdated > 0 {
			fmt.Fprintf(r.io.out, ", %s left alone, which came again meanwhile", humanize.Comma(int64(all.outdated)))
		}
		fmt.Fprintln(r.io.out)
	}
	if denied, ok := errors.AsType[*push.DeniedError](err); ok {
		tellDenied(r.io, denied, err)
		return nil // the surplus that remains makes the result negative
	}
	if all.removed == 0 && all.gone+all.outdated > 0 {
		// If one was removed, the receiver has the versions that were compared.
		fmt.Fprintf(r.io.err, "Not one was as it was compared: does %s deliver to the riskdex that was asked?\n", to.To)
	}
	if err != nil {
		return fmt.Errorf("stopped after %d of %d; the one after may be removed, and the others are as they were. Run it again for the rest: %w", sum.Sent, total, err)
	}
	return nil
}

// surplus yields the DELETEs of all kinds.
func (r *reconciliation) surplus() iter.Seq2[push.Request, error] {
	return func(yield func(push.Request, error) bool) {
		for _, k := range r.kinds {
			for _, f := range k.With(reconcile.Surplus) {
				if !yield(push.Request{Method: http.MethodDelete, Path: push.Path(f.Kind, f.ID), IfVersion: f.Version, What: string(f.ID)}, nil) {
					return
				}
			}
		}
	}
}

// answered counts and prints the outcome of one DELETE.
func (r *reconciliation) answered(lines *json.Encoder, req push.Request, status int, detail string, unknown bool) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(req.Path, "/"), "/")
	result := "removed"
	for _, k := range r.kinds {
		switch {
		case string(k.list.Kind) != kind:
		case status >= 200 && status < 300 && unknown:
			k.done.gone++
			result = "gone"
		case status >= 200 && status < 300:
			k.done.removed++
		case status == http.StatusPreconditionFailed:
			k.done.outdated++
			result = "outdated"
		default:
			k.done.failed++
			result = "failed"
		}
	}
	if r.json {
		_ = lines.Encode(struct {
			Kind   report.Kind `json:"kind"`
			ID     string      `json:"id"`
			Result string      `json:"result"`
			Detail string      `json:"detail,omitempty"`
		}{report.Kind(kind), req.What, result, detail})
		return
	}
	if result == "outdated" || result == "failed" {
		r.progress.clear()
		fmt.Fprintf(r.io.out, "%-9s %s %s: %d %s\n", result, kind, sanitize.ShellWord(req.What), status, sanitize.OneLine(detail))
	}
}
