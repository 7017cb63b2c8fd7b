package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"riskdex/internal/push"
	"riskdex/internal/reconcile"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

// removalSettings say what may be removed.
type removalSettings struct {
	AtMost share    `name:"at-most" default:"5%" placeholder:"SHARE|N" help:"Remove nothing where more would be removed: a share of the kind's documents, such as 5%, or a number."`
	Since  string   `name:"since" placeholder:"CURSOR" help:"What riskdex changes --now printed before the publisher made the list: what came after that is left alone. Without it, nothing is removed."`
	Expect expected `name:"expect" placeholder:"N" help:"How many documents the publisher has, by its own count; of a folder with several kinds cities=293,advisories=20. Nothing is removed if the list has another number. Without it, somebody has to confirm on a terminal."`
}

// expected is how many documents the publisher has of each kind, or of the only one: the kind "".
type expected map[report.Kind]int

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *expected) UnmarshalText(text []byte) error {
	*e = expected{}
	for part := range strings.SplitSeq(string(text), ",") {
		name, number, several := strings.Cut(part, "=")
		if !several {
			name, number = "", part
		}
		kind, wrong := report.ParseKind(name)
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || several && wrong != nil {
			return fmt.Errorf("%q is not a number of documents, such as 293 or cities=293,advisories=20", text)
		}
		(*e)[kind] = n
	}
	return nil
}

// doubts returns why nothing may be removed by these lists, whatever is here.
func (s removalSettings) doubts(lists []*reconcile.List, canAsk bool) (all []string) {
	if s.Since == "" {
		all = append(all, "it is not known what came after the list was made: run riskdex changes --now,"+
			" then ask the publisher to make the list, and give that cursor as --since")
	}
	for _, l := range lists {
		n, told := s.Expect[l.Kind]
		if _, one := s.Expect[""]; one && len(lists) == 1 {
			n, told = s.Expect[""], true
		}
		switch {
		case told && n != l.Len():
			all = append(all, fmt.Sprintf("the list has %s %s, and the publisher %s, as --expect says: the list is a part, or old",
				humanize.Comma(int64(l.Len())), l.Kind, humanize.Comma(int64(n))))
		case !told && (s.Expect != nil || !canAsk):
			all = append(all, fmt.Sprintf("a list does not tell that it is whole: say how many %s the publisher has,"+
				" by its own count and not by this list's, as --expect %s=N", l.Kind, l.Kind))
		}
	}
	return all
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

// inTheWay returns why nothing may be removed.
func (r *reconciliation) inTheWay(canAsk bool) (all []string) {
	var lists []*reconcile.List
	for _, k := range r.kinds {
		lists = append(lists, k.list)
		all = append(all, k.Doubts(r.delivered)...)
		if surplus, most := k.Count(reconcile.Surplus), r.AtMost.of(k.Here); surplus > most {
			all = append(all, fmt.Sprintf("%s of %s %s would be removed, and --at-most %s allows %s:"+
				" if the list is right, say --at-most %d", humanize.Comma(int64(surplus)), humanize.Comma(int64(k.Here)),
				k.list.Kind, r.AtMost, humanize.Comma(int64(most)), surplus))
		}
	}
	return append(all, r.doubts(lists, canAsk)...)
}

// tellWhy prints what is in the way, and returns err.
func tellWhy(io streams, why []string, err error) error {
	for _, w := range why {
		fmt.Fprintf(io.err, "in the way: %s\n", sanitize.OneLine(w))
	}
	return err
}

// remove removes the surplus of all kinds, after a confirmation. Each DELETE is for the version
// that was compared, so a document that was delivered again since stays.
func (r *reconciliation) remove(ctx context.Context, in input, canAsk bool, to deliverySettings) error {
	total, question := 0, ""
	for _, k := range r.kinds {
		if n := k.Count(reconcile.Surplus); n > 0 {
			total += n
			question += fmt.Sprintf("The list has %s %s: does the publisher have as many, by its own count?"+
				" Then %s of %s here would be removed, as named above.\n", humanize.Comma(int64(k.list.Len())), k.list.Kind,
				humanize.Comma(int64(n)), humanize.Comma(int64(k.Here)))
		}
	}
	if total == 0 {
		return nil
	}
	if r.why = r.inTheWay(canAsk); len(r.why) > 0 {
		return tellWhy(r.io, r.why, errors.New("nothing was removed"))
	}
	if err := confirm(ctx, r.io, in, r.Expect != nil, question+"Remove them?"); err != nil {
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
		return fmt.Errorf("stopped after %d of %d; the one after may be removed, and the others are as they were. Run it again for the rest: %w", sum.Sent, total, to.elsewhere(err))
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
