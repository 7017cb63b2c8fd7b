package receiver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"riskdex/internal/vocabulary"
	"riskdex/report"
)

// Feed is what a payload of a POST holds, and where its records seem to state their ids.
type Feed struct {
	Records   [][]byte
	RecordsAt string // where they are, where that has to be stated
	IDs       []IDPlace
	IDAt      string // where riskdex takes the id from; empty where it does not know
}

// IDPlace is a place that looks like that of the ids.
type IDPlace struct {
	At       string
	Example  string
	Records  int
	Distinct int
	Known    bool // it is stated, or one of the usual ones
}

// Feed takes a payload apart as a POST of it is. Where that finds one record without an id
// around a list of objects, these are taken.
func (cfg Config) Feed(kind report.Kind, body []byte) (Feed, error) {
	splitters, err := newSplitters(cfg)
	if err != nil {
		return Feed{}, err
	}
	if err := checkJSON(body); err != nil {
		return Feed{}, err
	}
	s := splitters[kind]
	if s == nil {
		return Feed{}, fmt.Errorf("no kind is called %q", kind)
	}
	body = trimSpace(body)
	var f Feed
	for r := range s.list(body) {
		f.Records = append(f.Records, r.raw)
	}
	if len(f.Records) == 1 && !s.hasID(recordOf(f.Records[0])) && !s.statesLikely(members(f.Records[0])) {
		if path, n := longestList(body, maxEnvelopes); n > 1 {
			stated, err := parsePointers([]string{path})
			if err != nil {
				return Feed{}, err
			}
			s.records, f.RecordsAt, f.Records = stated, path, nil
			for r := range s.list(body) {
				f.Records = append(f.Records, r.raw)
			}
		}
	}
	f.ids(s)
	return f, nil
}

// fewRecords are so few that values may all be different by chance.
const fewRecords = 10

// allDifferent notes the members that all records have, each with another value that is no
// sentence, and returns their pointers.
func (f *Feed) allDifferent(note func(at, text string, known bool)) []string {
	if len(f.Records) < fewRecords {
		return nil
	}
	var all []string
	for _, m := range members(f.Records[0]) {
		values := map[string]bool{}
		for _, raw := range f.Records {
			text, ok := scalarText(valueOf(members(raw), m.name))
			if !ok || len(text) > 64 || strings.Contains(text, "://") {
				break
			}
			values[text] = true
		}
		if len(values) == len(f.Records) {
			at := pointer{m.name}.text()
			for text := range values {
				note(at, text, false)
			}
			all = append(all, at)
		}
	}
	return all
}

// ids looks for ids in all records: at the known pointers, and at what looks like one.
func (f *Feed) ids(s *splitter) {
	byPlace, values := map[string]*IDPlace{}, map[string]map[string]bool{}
	note := func(at, text string, known bool) {
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
	guess := s.guess
	if guess == nil {
		guess = newGuesser(vocabulary.New(), s.kind)
	}
	known := 0
	for _, raw := range f.Records {
		r := recordOf(raw)
		for _, p := range s.ids {
			if text, ok := first(r.members, []pointer{p}, scalarText); ok {
				note(p.text(), text, true)
				known++
				break
			}
		}
		for _, l := range guess.likely(r) {
			if p := byPlace[l.at]; p == nil || !p.Known {
				note(l.at, l.text, false)
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(byPlace), func(a, b string) int {
		return cmp.Or(byPlace[b].Records-byPlace[a].Records, byPlace[b].Distinct-byPlace[a].Distinct, strings.Compare(a, b))
	})
	if len(order) == 0 {
		order = f.allDifferent(note)
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
		f.IDAt = s.surveyOf(func(yield func(record) bool) {
			for _, raw := range f.Records {
				if !yield(recordOf(raw)) {
					return
				}
			}
		}).at
	}
}
