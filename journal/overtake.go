package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"riskdex/report"
)

// A request is large, and small ones overtake it, from so many documents or bytes on.
const (
	largeRequest = 512
	largeBytes   = 4 << 20
)

func (r *request) isLarge() bool { return r.size >= largeRequest || r.bytes >= largeBytes }

// turn is what a delivery names. Of two deliveries for one document the later one is the
// newer, so one overtakes only what has no document in common with it.
type turn struct {
	changes  []report.Change
	refusals []report.Refusal
	names    map[name]struct{} // made once it is asked for
}

// name is an id or a code, which a path may be either of.
type name struct {
	kind report.Kind
	text string
}

func nameOf(kind report.Kind, text string) name {
	if kind == report.Cities {
		text = strings.ToUpper(text) // as codes are
	}
	return name{kind, text}
}

func newTurn(d report.Delivery) *turn {
	t := &turn{changes: d.Changes, refusals: d.Refusals}
	if len(t.changes) >= largeRequest {
		t.list() // by who delivers, and not by the writer
	}
	return t
}

func (t *turn) list() {
	t.names = make(map[name]struct{}, len(t.changes)+len(t.refusals))
	for _, c := range t.changes {
		for _, text := range []string{string(c.ID), string(c.OwnID), c.Code} {
			if text != "" {
				t.names[nameOf(c.Kind, text)] = struct{}{}
			}
		}
	}
	for _, r := range t.refusals {
		t.names[nameOf(r.Kind, r.ID)] = struct{}{}
	}
}

func (t *turn) has(kind report.Kind, texts ...string) bool {
	if t == nil {
		return false // it is no delivery, and goes by versions
	}
	if t.names == nil {
		t.list()
	}
	for _, text := range texts {
		if _, ok := t.names[nameOf(kind, text)]; ok && text != "" {
			return true
		}
	}
	return false
}

// names tells whether a request names a document that a delivery names, too.
func (r *request) names(t *turn) bool {
	if r.turn == nil {
		return slices.ContainsFunc(r.keys, func(k report.Key) bool { return t.has(k.Kind, string(k.ID)) })
	}
	return slices.ContainsFunc(r.turn.changes, func(c report.Change) bool {
		return t.has(c.Kind, string(c.ID), string(c.OwnID), c.Code)
	})
}

// mayOvertake tells whether a request has no document in common with those that it
// overtakes. A city has one in common also where the one names its id and the other its
// code, which only the journal knows.
func (tx *transaction) mayOvertake(r *request) (bool, error) {
	if r.turn == nil || len(r.ahead) == 0 {
		return true, nil
	}
	for _, c := range r.turn.changes {
		texts := []string{string(c.ID), string(c.OwnID), c.Code}
		if c.Kind == report.Cities {
			key, old, err := tx.resolve(c)
			if err != nil && !errors.Is(err, report.ErrAmbiguous) {
				return false, fmt.Errorf("see which document %s %q is: %w", c.Kind, c.ID, err)
			}
			if texts = append(texts, string(key.ID)); old != nil {
				texts = append(texts, old.code)
			}
		}
		for _, a := range r.ahead {
			if a.turn.has(c.Kind, texts...) {
				return false, nil
			}
		}
	}
	return true, nil
}
