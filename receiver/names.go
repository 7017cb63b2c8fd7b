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

// Names returns the names in one record without an envelope. The error says what is wrong with
// cfg or with the record.
func (cfg Config) Names(kind report.Kind, body []byte) (Names, error) {
	parser, err := newBodyParser(cfg)
	if err != nil {
		return Names{}, err
	}
	if err := jsonscan.Check(body); err != nil {
		return Names{}, err
	}
	s, r, n := parser[kind], recordOf(jsonscan.TrimSpace(body)), Names{}
	if s == nil {
		return n, fmt.Errorf("no kind is called %q", kind)
	}
	for _, p := range s.ids {
		if text, ok := first(r.members, []jsontext.Pointer{p}, scalarText); ok {
			n.ID, n.IDAt = text, p
			break
		}
	}
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
