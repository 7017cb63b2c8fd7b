package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"riskdex/admin"
)

// deadSelection selects one dead letter or many.
type deadSelection struct {
	Of   string `arg:"" optional:"" name:"kind" enum:",cities,advisories,special-reports" default:"" help:"Its kind: cities, advisories or special-reports."`
	ID   string `arg:"" optional:"" help:"Its id."`
	All  bool   `name:"all" help:"All dead letters, or all that --kind and --type select."`
	Kind string `name:"kind" enum:",cities,advisories,special-reports" default:"" placeholder:"KIND" help:"With --all: only this kind."`
	Type string `name:"type" placeholder:"TYPE" help:"With --all: only those with this error type."`
}

func (s deadSelection) query() (url.Values, error) {
	switch {
	case s.All && s.Of != "":
		return nil, errors.New("--all cannot be combined with a document: leave one of them out")
	case s.All:
		return query("all", "true", "kind", s.Kind, "type", s.Type), nil
	case s.Kind != "" || s.Type != "":
		return nil, errors.New("--kind and --type select among all: add --all")
	case s.Of == "" || s.ID == "":
		return nil, errors.New("name a kind and an id, or --all")
	}
	return query("kind", s.Of, "id", s.ID), nil
}

// refusedSelection selects one refusal or many.
type refusedSelection struct {
	Numbers []int64 `arg:"" optional:"" name:"number" help:"Their numbers, as the list shows them."`
	All     bool    `name:"all" help:"All refusals, or all that --kind and --reason select."`
	Kind    string  `name:"kind" enum:",cities,advisories,special-reports" default:"" placeholder:"KIND" help:"With --all: only this kind."`
	Reason  string  `name:"reason" placeholder:"REASON" help:"With --all: only those refused for this reason."`
}

// each calls f with the query for each number, or once for all. The error is errNegative if one call
// has that, after the others.
func (s refusedSelection) each(f func(url.Values) error) error {
	var selected []url.Values
	switch {
	case s.All && len(s.Numbers) > 0:
		return errors.New("--all cannot be combined with a number: leave one of them out")
	case s.All:
		selected = []url.Values{query("all", "true", "kind", s.Kind, "reason", s.Reason)}
	case s.Kind != "" || s.Reason != "":
		return errors.New("--kind and --reason select among all: add --all")
	case len(s.Numbers) == 0 || slices.Min(s.Numbers) <= 0:
		return errors.New("give the numbers of refusals from the list, or --all")
	}
	for _, number := range s.Numbers {
		selected = append(selected, query("number", strconv.FormatInt(number, 10)))
	}
	var ended error
	for _, q := range selected {
		if err := f(q); errors.Is(err, errNegative) {
			ended = err
		} else if err != nil {
			return err
		}
	}
	return ended
}

// end retries or drops by a call of path, and prints the result. The error is errNegative if
// there was nothing to do.
func (c *adminClient) end(ctx context.Context, path string, q url.Values, done, skipped string) error {
	var ended admin.Ended
	if err := c.call(ctx, http.MethodPost, path, q, nil, &ended); err != nil {
		return err
	}
	if ended.Skipped > 0 {
		fmt.Fprintf(c.io.err, "%d left as they are: %s\n", ended.Skipped, skipped)
	}
	if ended.Done == 0 {
		fmt.Fprintln(c.io.err, "nothing to do")
		return errNegative
	}
	fmt.Fprintf(c.io.out, "%d %s at %s\n", ended.Done, done, redacted(c.base))
	return nil
}
