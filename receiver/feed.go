package receiver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// Feed has the records of a payload, and the places where their ids may be.
type Feed struct {
	Records   [][]byte
	RecordsAt jsontext.Pointer // where they are; empty unless Config.Records has to say so
	IDs       []IDPlace
	IDAt      jsontext.Pointer // the place that riskdex uses; empty if that is not certain
}

// IDPlace is a place in records where ids may be.
type IDPlace struct {
	At       jsontext.Pointer
	Example  string // an id there
	Records  int    // records that have one
	Distinct int    // different ones
	Known    bool   // one of Config.IDs, or a usual place
}

// Feed parses body like that of a POST. If it then has a single record without an id that contains
// a list of objects, those objects are the records. The error says what is wrong with cfg or body.
func (cfg Config) Feed(kind report.Kind, body []byte) (Feed, error) {
	parser, err := newBodyParser(cfg)
	if err != nil {
		return Feed{}, err
	}
	if err := jsonscan.Check(body); err != nil {
		return Feed{}, err
	}
	s := parser[kind]
	if s == nil {
		return Feed{}, fmt.Errorf("no kind is called %q", kind)
	}
	body = jsonscan.TrimSpace(body)
	var f Feed
	records := slices.Collect(s.list(body))
	if len(records) == 1 && !s.hasID(records[0]) && !s.statesLikely(records[0].members) {
		if path, n := longestList(body, maxHintDepth); n > 1 {
			s.records, f.RecordsAt = []jsontext.Pointer{path}, path
			records = slices.Collect(s.list(body))
		}
	}
	for _, r := range records {
		f.Records = append(f.Records, r.kept())
	}
	f.ids(s, records)
	return f, nil
}

// allDifferent notes the members whose value differs in every record and is not a sentence, and
// returns their pointers.
func allDifferent(records []record, note func(at jsontext.Pointer, text string, known bool)) []jsontext.Pointer {
	if len(records) < manyRecords {
		return nil
	}
	var all []jsontext.Pointer
	for _, m := range records[0].members {
		values := map[string]bool{}
		for _, r := range records {
			text, ok := scalarText(jsonscan.Value(r.members, m.Name))
			if !ok || len(text) > 64 || strings.Contains(text, "://") {
				break
			}
			values[text] = true
		}
		if len(values) == len(records) {
			at := jsontext.Pointer("").AppendToken(m.Name)
			for text := range values {
				note(at, text, false)
			}
			all = append(all, at)
		}
	}
	return all
}

// ids finds the places of ids: known pointers, and members that look like ids.
func (f *Feed) ids(s *splitter, records []record) {
	byPlace, values := map[jsontext.Pointer]*IDPlace{}, map[jsontext.Pointer]map[string]bool{}
	note := func(at jsontext.Pointer, text string, known bool) {
		p := byPlace[at]
		if p == nil {
			p = &IDPlace{At: at, Example: text, Known: known}
			byPlace[at], values[at] = p, map[string]bool{}
		}
		p.Records++
		if !values[at][text] {
			values[at][text] = true
			p.Distinct++
		}
	}
	known := 0
	for _, r := range records {
		if text, at := s.statedID(r.members); at != "" {
			note(at, text, true)
			known++
		}
		for _, l := range s.words.likely(r) {
			if p := byPlace[l.at]; p == nil || !p.Known {
				note(l.at, l.text, false)
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(byPlace), func(a, b jsontext.Pointer) int {
		return cmp.Or(byPlace[b].Records-byPlace[a].Records, byPlace[b].Distinct-byPlace[a].Distinct, cmp.Compare(a, b))
	})
	if len(order) == 0 {
		order = allDifferent(records, note)
	}
	for _, at := range order {
		f.IDs = append(f.IDs, *byPlace[at])
	}
	if known > 0 {
		for _, p := range f.IDs {
			if p.Known {
				f.IDAt = p.At
				break
			}
		}
		return
	}
	if s.guess != nil {
		f.IDAt = s.surveyOf(slices.Values(records)).at
	}
}
