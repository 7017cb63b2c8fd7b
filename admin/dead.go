package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"riskdex/report"
)

// deadLetters answers the calls on dead letters.
type deadLetters struct {
	journal  DeadLetters
	receiver Receiver
	edits    readLimit
}

func (d *deadLetters) calls() []call {
	const oneOrAll = "kind id version all type"
	return []call{
		{http.MethodGet, "/api/dead", "kind type after limit", d.list},
		{http.MethodGet, "/api/dead/letter", "kind id", d.show},
		{http.MethodPut, "/api/dead/letter", "kind id version", d.replace},
		{http.MethodPost, "/api/dead/retry", oneOrAll, func(r *request) (any, error) { return d.end(r, d.journal.RetryDead) }},
		{http.MethodPost, "/api/dead/drop", oneOrAll, func(r *request) (any, error) { return d.end(r, d.journal.DropDead) }},
	}
}

// list returns a page of one kind. With a type in the query, the page may be short although
// there are more.
func (d *deadLetters) list(r *request) (any, error) {
	kind, limit, err := r.page()
	if err != nil {
		return nil, err
	}
	letters, err := d.journal.DeadLetters(r.Context(), kind, report.ID(r.text("after")), limit)
	if err != nil {
		return nil, err
	}
	page := Page[DeadLetter]{Items: []DeadLetter{}}
	for _, l := range letters {
		if ofType(r, l) {
			page.Items = append(page.Items, letterOf(l))
		}
	}
	if len(letters) == limit {
		page.Next = string(letters[limit-1].ID)
	}
	return page, nil
}

func ofType(r *request, l report.DeadLetter) bool {
	return r.text("type") == "" || r.text("type") == l.ErrorType
}

func (d *deadLetters) show(r *request) (any, error) {
	l, err := d.one(r)
	if err != nil {
		return nil, err
	}
	return letterOf(l), nil
}

// one returns the dead letter that the query names. If the query has a version, the dead
// letter must still have it.
func (d *deadLetters) one(r *request) (report.DeadLetter, error) {
	var l report.DeadLetter
	key, err := r.key()
	if err != nil {
		return l, err
	}
	seen, err := r.number("version")
	if err != nil {
		return l, err
	}
	if l, err = d.journal.DeadLetter(r.Context(), key); err != nil {
		return l, err
	}
	if seen != 0 && l.Version != report.Version(seen) {
		return l, &Problem{Status: http.StatusConflict, Detail: fmt.Sprintf(
			"A newer delivery of %s %q came after version %d, and was refused as well: now it is version %d. Look at that one.", key.Kind, key.ID, seen, l.Version)}
	}
	return l, nil
}

// replace accepts an edited body in place of a dead letter.
func (d *deadLetters) replace(r *request) (any, error) {
	l, err := d.one(r)
	if err != nil {
		return nil, err
	}
	body, err := r.editedBody(d.edits)
	if err != nil {
		return nil, err
	}
	change, err := d.receiver.Replacement(r.Context(), l.Key, body)
	if err != nil {
		return nil, err
	}
	stamp, err := d.journal.ReplaceDead(r.Context(), stampOf(l), change)
	if err != nil {
		return nil, err
	}
	return Replaced{stamp.Version}, nil
}

// end ends one dead letter, or all that the query selects.
func (d *deadLetters) end(r *request, end func(context.Context, []report.Stamp) (int, error)) (any, error) {
	all, err := r.all("id", "version")
	if err != nil {
		return nil, err
	}
	if all {
		return d.endAll(r, end)
	}
	l, err := d.one(r)
	if err != nil {
		return nil, err
	}
	n, err := end(r.Context(), []report.Stamp{stampOf(l)})
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, &Problem{Status: http.StatusConflict, Detail: "Its record is damaged, or a newer delivery came in just now. " +
			"If it is still there, retry it with an edited body, ask the publisher to deliver it again, or drop it."}
	}
	return Ended{Done: n}, nil
}

func (d *deadLetters) endAll(r *request, end func(context.Context, []report.Stamp) (int, error)) (any, error) {
	kinds, err := r.kinds()
	if err != nil {
		return nil, err
	}
	var ended Ended
	for _, kind := range kinds {
		for after, more := report.ID(""), true; more; {
			letters, err := d.journal.DeadLetters(r.Context(), kind, after, longestPage)
			if err != nil {
				return nil, err
			}
			if more = len(letters) == longestPage; more {
				after = letters[len(letters)-1].ID
			}
			letters = slices.DeleteFunc(letters, func(l report.DeadLetter) bool { return !ofType(r, l) })
			for len(letters) > 0 {
				stamps, bytes := together(letters)
				letters = letters[len(stamps):]
				n := 0
				if err = report.AwaitMemory(r.Context(), bytes); err == nil {
					n, err = end(r.Context(), stamps)
				}
				if err != nil {
					return nil, fmt.Errorf("after %d were done: %w", ended.Done, err)
				}
				ended.Done += n
				ended.Skipped += len(stamps) - n
			}
		}
	}
	return ended, nil
}

// endTogether bounds the bodies of dead letters that are ended together, in bytes.
const endTogether = 1 << 20

// together returns the stamps of the first of some letters, and the bytes of their bodies: as many as
// are ended together, and one at least.
func together(letters []report.DeadLetter) (stamps []report.Stamp, bytes int64) {
	for _, l := range letters {
		if bytes += int64(l.Bytes); len(stamps) > 0 && bytes > endTogether {
			return stamps, bytes - int64(l.Bytes)
		}
		stamps = append(stamps, stampOf(l))
	}
	return stamps, bytes
}

func stampOf(l report.DeadLetter) report.Stamp { return report.Stamp{Key: l.Key, Version: l.Version} }
