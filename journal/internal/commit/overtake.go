package commit

import (
	"errors"
	"fmt"
	"slices"

	"riskdex/report"
)

// A request with at least so many documents or bytes is large, and small ones overtake it.
const (
	LargeRequest = 512
	largeBytes   = 4 << 20
)

func (r *Request) isLarge() bool { return r.Size >= LargeRequest || r.Bytes >= largeBytes }

// Scope has the documents that a delivery names. Of two deliveries for one document the later one
// is newer, so a delivery may overtake only others that have no document in common with it.
type Scope struct {
	Changes  []report.Change
	refusals []report.Refusal
	names    map[name]struct{} // made when first needed
}

// name is an id or a code; a path may be either.
type name struct {
	kind report.Kind
	text string
}

func nameOf(kind report.Kind, text string) name {
	if code := report.CodeOf(text); kind == report.Cities && code != "" {
		text = code
	}
	return name{kind, text}
}

// NewScope returns the scope of a delivery.
func NewScope(d report.Delivery) *Scope {
	t := &Scope{Changes: d.Changes, refusals: d.Refusals}
	if len(t.Changes) >= LargeRequest {
		t.list() // in the caller's goroutine and not in the writer's
	}
	return t
}

func (t *Scope) list() {
	t.names = make(map[name]struct{}, len(t.Changes)+len(t.refusals))
	for _, c := range t.Changes {
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

func (t *Scope) has(kind report.Kind, texts ...string) bool {
	if t == nil {
		return false // a request that is no delivery goes by versions
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

// names reports whether a request names a document that a delivery names, too.
func (r *Request) names(t *Scope) bool {
	if r.Scope == nil {
		return slices.ContainsFunc(r.Keys, func(k report.Key) bool { return t.has(k.Kind, string(k.ID)) })
	}
	return slices.ContainsFunc(r.Scope.Changes, func(c report.Change) bool {
		return t.has(c.Kind, string(c.ID), string(c.OwnID), c.Code)
	})
}

// mayGoFirst reports whether a request has no document in common with those that it
// overtakes. Only the journal knows that one names the id of a city and another its code.
func (tx *Transaction) mayGoFirst(r *Request) (bool, error) {
	if r.Scope == nil || len(r.ahead) == 0 {
		return true, nil
	}
	for _, c := range r.Scope.Changes {
		texts := []string{string(c.ID), string(c.OwnID), c.Code}
		if c.Kind == report.Cities {
			key, old, err := tx.resolve(c)
			if err != nil && !errors.Is(err, report.ErrAmbiguous) {
				return false, fmt.Errorf("see which document %s %q is: %w", c.Kind, c.ID, err)
			}
			if texts = append(texts, string(key.ID)); old != nil {
				texts = append(texts, old.Code)
			}
		}
		for _, a := range r.ahead {
			if a.Scope.has(c.Kind, texts...) {
				return false, nil
			}
		}
	}
	return true, nil
}
