package receiver

import (
	"fmt"

	"riskdex/receiver/jsonscan"
	"riskdex/report"

	"github.com/go-json-experiment/json/jsontext"
)

// Names are the id and the code that a record states, and where; empty where it states none.
type Names struct {
	ID     string
	IDAt   jsontext.Pointer
	Code   string
	CodeAt jsontext.Pointer
}

// Names returns the names in one record without an envelope, or with one that is kept with it. The error says what is wrong with
// cfg or with the record.
func (cfg Config) Names(kind report.Kind, body []byte) (n Names, err error) {
	parser, err := newBodyParser(cfg)
	if err != nil {
		return Names{}, err
	}
	if err := jsonscan.Check(body); err != nil {
		return Names{}, err
	}
	s := parser[kind]
	if s == nil {
		return n, fmt.Errorf("no kind is called %q", kind)
	}
	body = jsonscan.TrimSpace(body)
	r, _ := s.one(body)
	within := jsontext.Pointer("")
	if r.around == nil {
		r = recordOf(body)
	}
	for a := r.around; a != nil; a = a.outer {
		within = jsontext.Pointer("").AppendToken(a.name) + within
	}
	defer func() { n.IDAt, n.CodeAt = from(within, n.IDAt), from(within, n.CodeAt) }()
	n.ID, n.IDAt = s.statedID(r.members)
	if n.ID == "" {
		if n.ID = s.likelyID(r); n.ID != "" {
			for _, l := range s.guess.likely(r) {
				if l.sure {
					n.IDAt = l.at
					break
				}
			}
		}
	}
	for _, p := range s.codes {
		if text, ok := first(r.members, []jsontext.Pointer{p}, quotedText); ok {
			n.Code, n.CodeAt = text, p
			break
		}
	}
	return n, nil
}

// from returns a pointer from a record as one from what is kept of it; empty where it is.
func from(within, at jsontext.Pointer) jsontext.Pointer {
	if at == "" {
		return ""
	}
	return within + at
}
