package admin

import (
	"errors"
	"net/http"
	"strconv"

	"riskdex/report"
)

// refusals answers the calls on refused deliveries.
type refusals struct {
	journal  Refusals
	receiver Receiver
	edits    readLimit
}

func (f *refusals) calls() []call {
	const oneOrAll = "number all kind reason"
	return []call{
		{http.MethodGet, "/api/refused", "kind reason before limit", f.list},
		{http.MethodGet, "/api/refused/delivery", "number", f.show},
		{http.MethodPut, "/api/refused/delivery", "number", f.replace},
		{http.MethodPost, "/api/refused/retry", oneOrAll, f.retry},
		{http.MethodPost, "/api/refused/drop", oneOrAll, f.drop},
	}
}

// list returns a page, newest first. With a kind or a reason in the query, the page may be
// short although there are more.
func (f *refusals) list(r *request) (any, error) {
	if _, err := r.kinds(); err != nil {
		return nil, err
	}
	limit, err := r.limit()
	if err != nil {
		return nil, err
	}
	before, err := r.number("before")
	if err != nil {
		return nil, err
	}
	list, err := f.journal.Refusals(r.Context(), before, limit)
	if err != nil {
		return nil, err
	}
	page := Page[Refusal]{Items: []Refusal{}}
	for _, one := range list {
		if selected(r, one) {
			page.Items = append(page.Items, refusalOf(one, f.receiver))
		}
	}
	if len(list) == limit {
		page.Next = strconv.FormatInt(list[limit-1].Seq, 10)
	}
	return page, nil
}

func selected(r *request, one report.Refusal) bool {
	kind, reason := r.text("kind"), r.text("reason")
	return (kind == "" || kind == string(one.Kind)) && (reason == "" || reason == one.Reason)
}

func (f *refusals) one(r *request) (report.Refusal, error) {
	number, err := r.number("number")
	if err != nil {
		return report.Refusal{}, err
	}
	if number == 0 {
		return report.Refusal{}, badRequest("Say in the query which one: number=N, as the list shows it.")
	}
	return f.journal.Refusal(r.Context(), number)
}

func (f *refusals) show(r *request) (any, error) {
	one, err := f.one(r)
	if err != nil {
		return nil, err
	}
	return refusalOf(one, f.receiver), nil
}

func (f *refusals) replace(r *request) (any, error) {
	one, err := f.one(r)
	if err != nil {
		return nil, err
	}
	body, err := r.editedBody(f.edits)
	if err != nil {
		return nil, err
	}
	return f.redeliver(r, one, body)
}

func (f *refusals) redeliver(r *request, one report.Refusal, edited []byte) (any, error) {
	stamps, err := f.receiver.Redeliver(r.Context(), one, edited)
	if err != nil {
		return nil, err
	}
	var done Redelivered
	done.add(stamps)
	return done, nil
}

func (f *refusals) retry(r *request) (any, error) {
	all, err := r.all("number")
	if err != nil {
		return nil, err
	}
	if !all {
		one, err := f.one(r)
		if err != nil {
			return nil, err
		}
		return f.redeliver(r, one, nil)
	}
	var done Redelivered
	// Newest first, so that the newest of several for one document wins.
	err = f.each(r, func(seqs []int64) error {
		for _, seq := range seqs {
			one, err := f.journal.Refusal(r.Context(), seq)
			var stamps []report.Stamp
			if err == nil {
				stamps, err = f.receiver.Redeliver(r.Context(), one, nil)
			}
			var refused interface {
				Refused() (reason, detail string)
			}
			switch {
			case err == nil:
				done.add(stamps)
			case errors.As(err, &refused):
				done.Refused++
			case errors.Is(err, report.ErrNotFound): // a newer delivery cleared it meanwhile
			default:
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

func (f *refusals) drop(r *request) (any, error) {
	all, err := r.all("number")
	if err != nil {
		return nil, err
	}
	if !all {
		one, err := f.one(r)
		if err != nil {
			return nil, err
		}
		n, err := f.journal.DropRefusals(r.Context(), []int64{one.Seq})
		return Ended{Done: n}, err
	}
	var ended Ended
	err = f.each(r, func(seqs []int64) error {
		n, err := f.journal.DropRefusals(r.Context(), seqs)
		ended.Done += n
		return err
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

// each calls do with the numbers of all refusals that the query selects, newest first,
// without those that come meanwhile.
func (f *refusals) each(r *request, do func(seqs []int64) error) error {
	if _, err := r.kinds(); err != nil {
		return err
	}
	for before := int64(0); ; {
		list, err := f.journal.Refusals(r.Context(), before, longestPage)
		if err != nil {
			return err
		}
		var seqs []int64
		for _, one := range list {
			before = one.Seq
			if selected(r, one) {
				seqs = append(seqs, one.Seq)
			}
		}
		if err := do(seqs); err != nil {
			return err
		}
		if len(list) < longestPage {
			return nil
		}
	}
}
