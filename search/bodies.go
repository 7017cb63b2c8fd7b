package search

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxCharacters is how much of what somebody types is searched for. Every word is looked up in
// many fields, and where no spaces are written, every sign is a word. Elasticsearch with 1 GiB
// refuses a search for 200 of them, and one with less memory for each processor does so earlier.
const maxCharacters = 100

// ErrNoWords is returned where there is nothing to search for.
var ErrNoWords error = &Mistake{"there is nothing to search for: give at least one word"}

// Bodies makes the bodies of searches.
type Bodies struct {
	// Search and Complete are search.json and complete.json with their placeholders still in them:
	// the strings "{{words}}", "{{filter}}", "{{size}}" and "{{from}}".
	Search, Complete []byte
	Threats          []string // their names
	Witness          Witness  // knows places and threats by their names; nil knows none
}

// Body returns the body of a _search request to [Path]. The error is a *Mistake that says what in the
// query is wrong.
func (b Bodies) Body(q Query) ([]byte, error) {
	body, _, err := b.understood(q)
	return body, err
}

// understood returns the body and what of the words was understood for it.
func (b Bodies) understood(q Query) ([]byte, Understood, error) {
	var u Understood
	for _, name := range q.Threats {
		if !slices.Contains(b.Threats, name) {
			return nil, u, mistake("%q is not a threat of threats.json, which has %s", name, strings.Join(b.Threats, ", "))
		}
	}
	file, usual := b.Search, 10
	if q.Complete {
		file, usual = b.Complete, 8
	}
	if q.Size == 0 {
		q.Size = usual
	}
	q.Words = beginning(strings.Join(strings.Fields(strings.ToValidUTF8(q.Words, " ")), " "))
	if q.Words == "" && (q.Complete || q.Scored()) {
		return nil, u, ErrNoWords
	}
	if q.Near != nil && q.Fields == nil {
		q.Fields = List()
	}
	filters, choices, err := q.filters()
	if err != nil {
		return nil, u, err
	}
	apart := q.Facets && len(choices) > 0
	if !apart {
		filters = append(without(choices, ""), filters...)
	}
	typed := q.Words
	isUnderstood := typed != "" && !q.Complete && !q.asFile
	if isUnderstood {
		u = Understand(typed, b.Witness)
		q.Words = u.Words
	}
	body, err := filled(file, q, filters)
	u.Begun = b.begun(q)
	places, begun := u.named(), u.Begun
	if err != nil || (q.Complete || q.asFile) && q.Scored() && q.Fields == nil && !apart && len(begun) == 0 {
		return body, u, err
	}
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, u, err
	}
	if isUnderstood {
		u.request(members, typed)
	}
	if q.Words == "" && typed != "" {
		delete(members, "highlight")
		delete(members, "suggest")
	}
	if typed == "" {
		members["query"] = clause{"bool": clause{"filter": filters}}
		delete(members, "highlight")
		delete(members, "suggest")
	}
	if isPeriod := u.When != nil && !u.When.Latest; !q.Scored() && !(isPeriod && q.Words == "" && q.Sort == "") {
		if err := q.ordered(members); err != nil {
			return nil, u, err
		}
	}
	if q.Fields != nil {
		members["_source"] = q.Fields
	}
	if shown, ok := members["highlight"].(map[string]any); ok && shown["highlight_query"] != nil {
		shown["highlight_query"] = clause{"bool": clause{"should": append(phrases(u.otherNames()), shown["highlight_query"])}}
	}
	if apart {
		members["post_filter"] = all(choices, "")
		facets, _ := members["aggs"].(map[string]any)
		for field, facet := range facets {
			facets[field] = clause{"filter": all(choices, field), "aggs": clause{"apart": facet}}
		}
	}
	if len(places)+len(begun) > 0 {
		facets, _ := members["aggs"].(map[string]any)
		if facets == nil {
			facets = clause{}
			members["aggs"] = facets
		}
		count := counted(places)
		if len(begun) > 0 {
			count = countedBegun(begun)
		}
		// Whether there is a report on a place does not depend on the other words, nor on what was narrowed.
		facets["places"] = clause{"global": clause{}, "aggs": clause{"apart": count}}
	}
	if q.unnamed {
		withoutNames(members)
	}
	body, err = json.Marshal(members, json.Deterministic(true))
	return body, u, err
}

// FileBody returns the body as apps make it that fill the placeholders of the file themselves: nothing in the
// words is understood.
func (b Bodies) FileBody(q Query) ([]byte, error) {
	q.asFile = true
	return b.Body(q)
}

// all returns a filter that all choices match but that of a field.
func all(choices map[string]any, field string) clause {
	return clause{"bool": clause{"filter": without(choices, field)}}
}

func without(choices map[string]any, field string) []any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		if name != field {
			list = append(list, choices[name])
		}
	}
	return list
}

// filled replaces the placeholders of a body.
func filled(file []byte, q Query, filters []any) ([]byte, error) {
	words, err := jsontext.AppendQuote(nil, q.Words)
	if err != nil {
		return nil, err
	}
	filter, err := json.Marshal(filters, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return []byte(strings.NewReplacer(
		`"{{words}}"`, string(words),
		`"{{filter}}"`, string(filter),
		`"{{size}}"`, strconv.Itoa(q.Size),
		`"{{from}}"`, strconv.Itoa(q.From),
	).Replace(string(file))), nil
}

// beginning returns the part of words that is searched for.
func beginning(words string) string {
	n := 0
	for i := range words {
		if n++; n > maxCharacters {
			return words[:i]
		}
	}
	return words
}
